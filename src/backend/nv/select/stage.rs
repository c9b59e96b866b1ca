//! The inputs and outputs of a program: built-in values, attributes, results, and fragment-only operations
//! (NV_vertex_program4, NV_fragment_program4, NV_gpu_program5, NV_shader_thread_group).

use super::Selector;
use super::port::{self, LETTERS};
use crate::backend::nv::interface::parameter;
use crate::backend::nv::machine::{ArrayRef, Kind, Line, Operand};
use crate::backend::nv::mnemonic;
use crate::ir::{self, BuiltIn, MathFn};
use crate::kernel::{Def, Site, Stage, Value};
use crate::lane::WARP;

/// The positions of samples in their pixels.
pub const POSITIONS: &str = "sp";

/// How many positions of samples NVIDIA's drivers provide.
pub const POSITION_COUNT: u32 = 32;

/// The name of an attribute's variable.
pub fn attribute(location: u32) -> String {
    format!("a{location}")
}

/// The name of the variable of a colour's second source.
pub fn second_colour(location: u32) -> String {
    format!("b{location}")
}

/// The name of a colour's variable.
pub fn colour(location: u32) -> String {
    format!("o{location}")
}

impl Selector<'_> {
    /// A component of an attribute; a 64-bit component is in a register.
    pub fn input(&mut self, location: u32, component: u8) -> Operand {
        let named = Operand::Named(format!("{}.{}", attribute(location), LETTERS[usize::from(component) & 3]).into());
        let is_wide = self.kernel.input(location).is_some_and(|input| input.wide);
        if is_wide { self.long("MOV.U64", &[named]) } else { named }
    }

    /// A component of an attribute at another position in the pixel (NV_gpu_program5, `IPAC`, `IPAS`, `IPAO`).
    pub fn interpolate(&mut self, at: ir::InterpolateAt, [location, component]: [u32; 2], args: &[Value]) -> Operand {
        let attribute = self.input(location, component as u8);
        match at {
            ir::InterpolateAt::Centroid => self.word("IPAC.F", &[attribute]),
            ir::InterpolateAt::Sample => {
                let sample = self.arg(args[0], Kind::Sint);
                self.word("IPAS.F", &[attribute, sample])
            }
            ir::InterpolateAt::Offset => {
                let [x, y] = [args[0], args[1]].map(|arg| Some(self.uint(arg)));
                let offset = self.slots(&[x, y, None, None], Kind::Float);
                self.word("IPAO.F", &[attribute, offset])
            }
            ir::InterpolateAt::Vertex => {
                self.refused("the values of single vertices");
                attribute
            }
        }
    }

    pub fn output(&mut self, site: Site, component: u8, value: Value) {
        if self.kernel.values[value].def == Def::Undef {
            return;
        }
        let Some((name, option)) = self.result_name(site, component) else {
            let found = self.kernel.output(site);
            let name = found.map_or("", |output| &output.name);
            self.refused(&format!("the output {name}"));
            return;
        };
        self.needs.options.extend(option);
        let value = self.uint(value);
        self.effect(mnemonic::MOVE, &[Operand::Named(name.into()), value]);
    }

    /// The component of a result, and the option that it needs.
    fn result_name(&self, site: Site, component: u8) -> Option<port::Named> {
        let letter = LETTERS[usize::from(component) & 3];
        let name = match (self.kernel.stage, site) {
            (stage, Site::BuiltIn(built_in)) => return port::result(stage, built_in, component),
            (Stage::Vertex, Site::Location(n)) => format!("result.attrib[{n}].{letter}"),
            (Stage::Fragment, Site::Location(n)) => format!("{}.{letter}", colour(n)),
            (Stage::Fragment, Site::SecondSource(n)) => format!("{}.{letter}", second_colour(n)),
            _ => return None,
        };
        Some((name, None))
    }

    pub fn kill(&mut self) {
        self.lines.push(Line::Kill);
    }

    pub fn derivative(&mut self, function: MathFn, value: Value) -> Operand {
        let name = match function {
            MathFn::DerivX => "DDX.F32",
            MathFn::DerivY => "DDY.F32",
            MathFn::DerivXFine => "DDX.F32.FINE",
            MathFn::DerivYFine => "DDY.F32.FINE",
            MathFn::DerivXCoarse => "DDX.F32.COARSE",
            MathFn::DerivYCoarse => "DDY.F32.COARSE",
            _ => return self.refused("this derivative"),
        };
        if !matches!(function, MathFn::DerivX | MathFn::DerivY) {
            self.needs.options.insert("ARB_derivative_control");
        }
        let value = self.arg(value, Kind::Float);
        self.word(name, &[value])
    }

    /// The name in this stage of a value that NV_shader_thread_group provides.
    pub fn thread(&mut self, name: &str) -> Operand {
        let stage = match self.kernel.stage {
            Stage::Compute => "invocation",
            Stage::Fragment => "fragment",
            Stage::Vertex => "vertex",
        };
        self.group_fact(format!("{stage}.{name}.x"))
    }

    pub fn built_in(&mut self, built_in: BuiltIn, component: u8) -> Operand {
        if let Some((name, option)) = port::input(built_in, component) {
            self.needs.options.extend(option);
            return Operand::Named(name.into());
        }
        let named = |name: &'static str| Operand::Named(name.into());
        match built_in {
            BuiltIn::SubgroupId => {
                self.word("SHR.U", &[named("invocation.localindex.x"), Operand::Constant(5, Kind::Uint)])
            }
            BuiltIn::NumSubgroups => Operand::Constant(self.kernel.invocations().div_ceil(WARP), Kind::Uint),
            BuiltIn::WarpIdNv => self.thread("warpid"),
            BuiltIn::SmIdNv => self.thread("smid"),
            BuiltIn::WarpsPerSmNv => self.group_fact("state.thread.warpspersm.x"),
            BuiltIn::SmCountNv => self.group_fact("state.thread.smcount.x"),
            // One or minus one; the sign is the same for the float and the integer.
            BuiltIn::FrontFacing => self.word("SGT.S", &[named("fragment.facing.x"), Operand::Constant(0, Kind::Sint)]),
            BuiltIn::SamplePosition => self.sample_position(LETTERS[usize::from(component) & 1]),
            BuiltIn::HelperInvocation => self.helper_thread(),
            BuiltIn::InstanceIndex => self.instance_index(),
            BuiltIn::BaseVertex | BuiltIn::BaseInstance | BuiltIn::DrawIndex => self.draw_fact(built_in),
            _ => self.refused("this built-in variable"),
        }
    }

    /// True if the thread is a helper: in a register, because a thread that is killed later may become one.
    fn helper_thread(&mut self) -> Operand {
        let helps = self.thread("helperthread");
        self.word("MOV.U", &[helps])
    }

    /// The position of the fragment's sample in its pixel, from the corner with the smallest coordinates: row 0 is `y`
    /// 0 in what these programs draw, as in Vulkan, so nothing is flipped.
    fn sample_position(&mut self, component: char) -> Operand {
        self.needs.sample_positions = true;
        let sample = self.in_reg(Operand::Named("fragment.sampleid.x".into()));
        let place = ArrayRef { array: POSITIONS.into(), index: Some(sample), offset: 0, component: Some(component) };
        self.word(mnemonic::MOVE, &[Operand::Array(place)])
    }

    /// The instance index relative to the first one of the draw, plus that one, which only the caller knows.
    fn instance_index(&mut self) -> Operand {
        let first = self.draw_fact(BuiltIn::BaseInstance);
        self.word("ADD.U", &[Operand::Named("vertex.instance.x".into()), first])
    }

    /// A fact about a draw that only the caller knows.
    fn draw_fact(&mut self, fact: BuiltIn) -> Operand {
        self.needs.parameters = true;
        Operand::Named(parameter(self.interface.draw_word(fact).unwrap_or_default()).into())
    }
}
