//! Plans as SPIR-V, in the form that the assembler reads: one instruction a step.
//!
//! Opcodes and their operands are the emitter's ([`crate::backend::spirv`]); ids of types and constants say what they are.

use super::{Line, Listing, Unit, Unwritten};
use crate::backend::spirv::lane::{Alu, alu_form, combine_form, compare_op, group_instruction, swizzle_constant};
use crate::ir::Scalar;
use crate::kernel::arith;
use crate::lane::request::ScalarKind;
use crate::lane::{
    AluOp, CompareOp, GroupOp, Known, LaneFact, LaneType, MaskOp, Operand, Plan, Primitive, ReduceOp, Request, Step,
    StepOp,
};
use crate::profile::Profile;

/// The lines of a plan for SPIR-V.
///
/// # Errors
/// When a step has no spelling.
pub fn list(plan: &Plan, request: &Request, _: &Profile) -> Result<Listing, Unwritten> {
    let mut lister = Lister { plan, request, ids: 0, setup: Vec::new(), steps: Vec::new(), lines: Vec::new() };
    lister.run()
}

struct Lister<'a> {
    plan: &'a Plan,
    request: &'a Request<'a>,
    /// Results so far.
    ids: usize,
    setup: Vec<String>,
    steps: Vec<String>,
    lines: Vec<Line>,
}

type Named = Result<String, Unwritten>;

impl Lister<'_> {
    fn run(&mut self) -> Result<Listing, Unwritten> {
        let plan = self.plan;
        for step in &plan.setup {
            let id = self.step(step)?;
            self.setup.push(id);
        }
        let setup = std::mem::take(&mut self.lines);
        for step in &plan.steps {
            let id = self.step(step)?;
            self.steps.push(id);
        }
        let results = [Some(plan.result), plan.second].into_iter().flatten();
        let results = results.filter(|result| *result != Operand::None).map(|result| self.id(result));
        Ok(Listing {
            inputs: (0..self.request.inputs.len()).map(|n| self.input(n)).collect(),
            setup,
            results: results.collect::<Result<_, _>>()?,
            lines: std::mem::take(&mut self.lines),
            wait_states: 0,
        })
    }

    /// `%a`, `%b`, `%c`, or the constant.
    fn input(&self, n: usize) -> String {
        match self.request.inputs[n].known {
            Known::Constant(value) => format!("%uint_{value}"),
            _ => format!("%{}", ["a", "b", "c"].get(n).unwrap_or(&"d")),
        }
    }

    fn id(&self, operand: Operand) -> Named {
        let found = match operand {
            Operand::Input(n) => (usize::from(n) < self.request.inputs.len()).then(|| self.input(n.into())),
            Operand::Setup(n) => self.setup.get(usize::from(n)).cloned(),
            Operand::Step(n) => self.steps.get(usize::from(n)).cloned(),
            Operand::Const(value) => Some(format!("%uint_{value}")),
            Operand::Bool(value) => Some(format!("%{value}")),
            Operand::None => None,
        };
        found.ok_or_else(|| Unwritten("a step has an operand that is not there".into()))
    }

    fn operand_ty(&self, operand: Operand) -> LaneType {
        self.request.ty(self.plan.ty(operand))
    }

    /// Writes `%n = OpName type operands` and gives the new id.
    fn put(&mut self, unit: Unit, op: &str, ty: LaneType, operands: &[String]) -> String {
        self.ids += 1;
        let id = format!("%{}", self.ids);
        let operands: String = operands.iter().map(|operand| format!(" {operand}")).collect();
        self.lines.push(Line { text: format!("{id} = {op} {}{operands}", type_name(ty)), unit });
        id
    }

    fn step(&mut self, step: &Step) -> Named {
        let ty = self.request.ty(step.ty);
        let scalar = Scalar { kind: ty.kind, width: ty.width };
        match step.op {
            StepOp::Prim(Primitive::Group(op)) => self.group(step, op, ty),
            StepOp::Fact(fact) => self.fact(fact, ty),
            StepOp::Alu(op) => self.alu(step, op, ty),
            StepOp::Combine(op) => self.fold(step, op, ty),
            StepOp::Compare(op) => self.compare(step, op),
            StepOp::Select => {
                let ids = self.ids(step)?;
                Ok(self.put(Unit::Arithmetic, "OpSelect", ty, &ids))
            }
            StepOp::Identity(op) => Ok(constant_name(ty, arith::identity(op, scalar))),
            StepOp::Neutral(op) => Ok(constant_name(ty, arith::neutral(op, scalar))),
            StepOp::Zero => Ok(constant_name(ty, 0)),
            StepOp::Prim(_) | StepOp::CombineMoved(..) => Err(Unwritten("an instruction of hardware".into())),
        }
    }

    fn ids(&self, step: &Step) -> Result<Vec<String>, Unwritten> {
        step.operands().iter().map(|operand| self.id(*operand)).collect()
    }

    fn group(&mut self, step: &Step, op: GroupOp, ty: LaneType) -> Named {
        let kind = step.operands().first().map_or(ScalarKind::Uint, |operand| self.operand_ty(*operand).kind);
        let row = group_instruction(op, kind);
        let ids = self.ids(step)?;
        if op == GroupOp::Sync {
            let text = "OpControlBarrier %Subgroup %Subgroup %None".into();
            self.lines.push(Line { text, unit: Unit::Subgroup });
            return Ok(String::new());
        }
        let scope = row.scoped.then(|| "%Subgroup".to_owned());
        let operation = row.operation.map(|operation| format!("{operation:?}"));
        let literal = row.literal.map(|literal| format!("%uint_{literal}"));
        let amd = row.amd.map(|number| format!("%SPV_AMD_shader_ballot {number:?}"));
        let swizzle = swizzle_constant(op).map(|parts| swizzle_name(&parts));
        let before = amd.into_iter().chain(scope).chain(operation);
        let operands: Vec<String> = before.chain(ids).chain(literal).chain(swizzle).collect();
        Ok(self.put(Unit::Subgroup, &format!("Op{:?}", row.op), ty, &operands))
    }

    fn fact(&mut self, fact: LaneFact, ty: LaneType) -> Named {
        let name = match fact {
            LaneFact::Index => "%SubgroupLocalInvocationId",
            LaneFact::Size => "%SubgroupSize",
            LaneFact::Mask(MaskOp::Eq) => "%SubgroupEqMask",
            LaneFact::Mask(MaskOp::Ge) => "%SubgroupGeMask",
            LaneFact::Mask(MaskOp::Gt) => "%SubgroupGtMask",
            LaneFact::Mask(MaskOp::Le) => "%SubgroupLeMask",
            LaneFact::Mask(MaskOp::Lt) => "%SubgroupLtMask",
            LaneFact::InSet(_) => return Err(Unwritten("a set of lanes".into())),
        };
        Ok(self.put(Unit::Arithmetic, "OpLoad", ty, &[name.to_owned()]))
    }

    fn alu(&mut self, step: &Step, op: AluOp, ty: LaneType) -> Named {
        let ids = self.ids(step)?;
        match (alu_form(op), step.args[1]) {
            (Alu::Word, Operand::Const(word)) => {
                Ok(self.put(Unit::Arithmetic, "OpCompositeExtract", ty, &[ids[0].clone(), word.to_string()]))
            }
            (Alu::Word, _) => Ok(self.put(Unit::Arithmetic, "OpVectorExtractDynamic", ty, &ids)),
            (Alu::FromMask, _) => {
                let pair = LaneType { components: 2, ..LaneType::U32 };
                let low = self.put(Unit::Arithmetic, "OpBitcast", pair, &ids);
                let parts = [low, "%uint_0".to_owned(), "%uint_0".to_owned()];
                Ok(self.put(Unit::Arithmetic, "OpCompositeConstruct", ty, &parts))
            }
            (form, _) => self.form(form, ty, ids),
        }
    }

    /// An opcode, or an instruction of the extended set.
    fn form(&mut self, form: Alu, ty: LaneType, ids: Vec<String>) -> Named {
        match form {
            Alu::Core(op) => Ok(self.put(Unit::Arithmetic, &format!("Op{op:?}"), ty, &ids)),
            Alu::Ext(op) => {
                let operands: Vec<String> = ["%glsl".to_owned(), format!("{op:?}")].into_iter().chain(ids).collect();
                Ok(self.put(Unit::Arithmetic, "OpExtInst", ty, &operands))
            }
            Alu::Word | Alu::FromMask | Alu::None => Err(Unwritten("lane arithmetic that SPIR-V has not".into())),
        }
    }

    fn fold(&mut self, step: &Step, op: ReduceOp, ty: LaneType) -> Named {
        let ids = self.ids(step)?;
        self.form(combine_form(op, ty.kind), ty, ids)
    }

    fn compare(&mut self, step: &Step, op: CompareOp) -> Named {
        let (ids, of) = (self.ids(step)?, self.operand_ty(step.args[0]));
        let bools = LaneType { components: of.components, ..LaneType::BOOL };
        if op == CompareOp::Lt && of.kind == ScalarKind::Bool {
            let not = self.put(Unit::Arithmetic, "OpLogicalNot", bools, &ids[..1]);
            return Ok(self.put(Unit::Arithmetic, "OpLogicalAnd", bools, &[not, ids[1].clone()]));
        }
        let all = self.put(Unit::Arithmetic, &format!("Op{:?}", compare_op(op, of.kind)), bools, &ids);
        Ok(if of.components == 1 { all } else { self.put(Unit::Arithmetic, "OpAll", LaneType::BOOL, &[all]) })
    }
}

/// `%v4uint_1_0_3_2`.
fn swizzle_name(parts: &[u32]) -> String {
    let values: String = parts.iter().map(|part| format!("_{part}")).collect();
    format!("%v{}uint{values}", parts.len())
}

/// `%float`, `%v4uint`, `%bool`.
fn type_name(ty: LaneType) -> String {
    let kind = match ty.kind {
        ScalarKind::Bool => "bool",
        ScalarKind::Sint => "int",
        ScalarKind::Uint => "uint",
        ScalarKind::Float => "float",
    };
    let vector = if ty.components == 1 { String::new() } else { format!("v{}", ty.components) };
    let width = if matches!(ty.width, 1 | 32) { String::new() } else { ty.width.to_string() };
    format!("%{vector}{kind}{width}")
}

fn constant_name(ty: LaneType, bits: u64) -> String {
    match (ty.kind, ty.width) {
        (ScalarKind::Bool, _) => format!("%{}", bits != 0),
        (ScalarKind::Float, 32) => format!("{}_{}", type_name(ty), f32::from_bits(bits as u32)),
        (ScalarKind::Sint, 32) => format!("{}_{}", type_name(ty), bits as u32 as i32),
        _ => format!("{}_{bits}", type_name(ty)),
    }
}
