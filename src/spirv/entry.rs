//! Entry points: which of them are read, and their modes.

use super::binary::Insn;
use super::body::Given;
use super::fault::{Fault, Read};
use super::module::{Entry, Reader};
use super::{ModuleOptions, not_read};
use crate::backend::spirv::inverse::{primitive_of, stage_of};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{
    ConstId, ConstValue, DepthPromise, DerivativeGroup, EntryPoint, FragmentModes, Interlock, Module, Reconvergence,
    Stage, Types,
};
use rspirv::spirv::{ExecutionMode, ExecutionModel, Word};

/// An entry point that was chosen, and its stage.
pub type Chosen<'w> = (Entry<'w>, Stage);

impl<'w> Reader<'w> {
    /// The named entry point, or all of the stage.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn choose(&self, options: &ModuleOptions<'_>) -> Result<Vec<Chosen<'w>>, Box<Diagnostic>> {
        let mut chosen = Vec::new();
        for entry in &self.entries {
            let stage = self.stage(entry);
            let is_meant = match (options.entry, options.stage, &stage) {
                (Some(name), None, _) => entry.name == name,
                (name, Some(wanted), Ok(stage)) => *stage == wanted && name.is_none_or(|name| entry.name == name),
                (None, None, _) => true,
                (_, Some(_), Err(_)) => false,
            };
            if is_meant {
                chosen.push((entry.clone(), stage.map_err(|fault| not_read(self, *fault))?));
            }
        }
        if chosen.is_empty() { Err(Box::new(self.no_entry(options))) } else { Ok(chosen) }
    }

    fn stage(&self, entry: &Entry<'_>) -> Read<Stage> {
        let number = entry.insn.arg(0)?;
        let model = ExecutionModel::from_u32(number);
        model.and_then(stage_of).ok_or_else(|| entry.insn.unread(format!("the execution model {number} is not read")))
    }

    fn no_entry(&self, options: &ModuleOptions<'_>) -> Diagnostic {
        let message = match (options.entry, options.stage) {
            (Some(name), _) => format!("the module has no entry point `{name}`"),
            (None, Some(stage)) => format!("the module has no {} entry point", stage.name()),
            (None, None) => "the module has no entry point".into(),
        };
        let names: Vec<&str> = self.entries.iter().map(|entry| &*entry.name).collect();
        let error = Diagnostic::error(Code::ENTRY_POINT, message);
        if names.is_empty() { error } else { error.note(format!("its entry points are `{}`", names.join("`, `"))) }
    }

    /// Adds a chosen entry point to the module, with its function declared.
    pub fn add_entry(&mut self, m: &mut Module, (entry, stage): &Chosen<'w>) -> Read<()> {
        let function = self.instance(m, &entry.insn, entry.function, Vec::<Given>::new())?;
        let declared = &m.functions[function];
        if !declared.params.is_empty() || declared.ret != Types::VOID {
            return Err(entry.insn.wrong("its function has parameters or a result"));
        }
        let one = m.constants.u32(1);
        let mut made = EntryPoint {
            name: (&*entry.name).into(),
            stage: *stage,
            function,
            workgroup_size: [one; 3],
            reconvergence: Reconvergence::Default,
            derivatives: None,
            fragment: FragmentModes::default(),
            primitives: Vec::new(),
        };
        let modes: Vec<(ExecutionMode, Insn<'w>)> = self.modes_of(entry.function).collect();
        for (mode, insn) in modes {
            self.mode(m, &mut made, mode, &insn)?;
        }
        if stage.has_workgroups() {
            self.fixed_size(m, &mut made)?;
        }
        m.entry_points.push(made);
        Ok(())
    }

    /// The constant decorated `WorkgroupSize` takes precedence over the mode.
    fn fixed_size(&self, m: &Module, made: &mut EntryPoint) -> Read<()> {
        let Some(constant) = self.workgroup_size.and_then(|id| self.constants.get(&id)) else { return Ok(()) };
        if let ConstValue::Composite(parts) = &m.constants.get(*constant).value
            && let [x, y, z] = parts[..]
            && [x, y, z].iter().all(|part| m.constants.get(*part).ty == Types::U32)
        {
            made.workgroup_size = [x, y, z];
            return Ok(());
        }
        Err(Fault::unread(None, "the constant decorated `WorkgroupSize` is not made of three unsigned numbers".into()))
    }

    fn mode(&mut self, m: &mut Module, made: &mut EntryPoint, mode: ExecutionMode, insn: &Insn<'w>) -> Read<()> {
        use ExecutionMode as E;
        let fragment = &mut made.fragment;
        match mode {
            E::LocalSize => {
                let sizes = [insn.arg(2)?, insn.arg(3)?, insn.arg(4)?];
                made.workgroup_size = sizes.map(|size| m.constants.u32(size));
            }
            E::LocalSizeId => {
                let ids: [Word; 3] = [insn.arg(2)?, insn.arg(3)?, insn.arg(4)?];
                made.workgroup_size = self.size_of(m, insn, ids)?;
            }
            E::SubgroupUniformControlFlowKHR => made.reconvergence = Reconvergence::SubgroupUniform,
            E::MaximallyReconvergesKHR => made.reconvergence = Reconvergence::Maximal,
            E::DerivativeGroupQuadsKHR => made.derivatives = Some(DerivativeGroup::Quads),
            E::DerivativeGroupLinearKHR => made.derivatives = Some(DerivativeGroup::Linear),
            E::OriginUpperLeft | E::DepthReplacing | E::StencilRefReplacingEXT => {}
            E::OriginLowerLeft => fragment.lower_left_origin = true,
            E::EarlyFragmentTests => fragment.early_tests = true,
            E::EarlyAndLateFragmentTestsAMD => fragment.early_and_late_tests = true,
            E::PostDepthCoverage => fragment.post_depth_coverage = true,
            E::RequireFullQuadsKHR => fragment.full_quads = true,
            E::QuadDerivativesKHR => fragment.quad_derivatives = true,
            E::DepthGreater => fragment.depth = DepthPromise::Greater,
            E::DepthLess => fragment.depth = DepthPromise::Less,
            E::DepthUnchanged => fragment.depth = DepthPromise::Unchanged,
            E::PixelInterlockOrderedEXT => fragment.interlock = Some(Interlock { of_sample: false, ordered: true }),
            E::PixelInterlockUnorderedEXT => fragment.interlock = Some(Interlock { of_sample: false, ordered: false }),
            E::SampleInterlockOrderedEXT => fragment.interlock = Some(Interlock { of_sample: true, ordered: true }),
            E::SampleInterlockUnorderedEXT => fragment.interlock = Some(Interlock { of_sample: true, ordered: false }),
            // Floats are computed so anyway.
            E::RoundingModeRTE | E::SignedZeroInfNanPreserve => {}
            _ => match primitive_of(mode, insn.args.get(2).copied().unwrap_or(0)) {
                Some(of) => made.primitives.push(of),
                None => return Err(insn.unread(format!("the execution mode `{mode:?}` is not read"))),
            },
        }
        Ok(())
    }

    fn size_of(&self, m: &Module, insn: &Insn<'_>, ids: [Word; 3]) -> Read<[ConstId; 3]> {
        let mut sizes = [ConstId::from_index(0); 3];
        for (size, id) in sizes.iter_mut().zip(ids) {
            *size = self.constant(insn, id)?;
            if m.constants.get(*size).ty != Types::U32 {
                return Err(insn.unread("a workgroup size that is not a `uint` is not read"));
            }
        }
        Ok(sizes)
    }
}
