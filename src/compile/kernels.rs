//! The kernels of a shader for profiles that read it alike. Profiles share each step whose result is the same.

use crate::backend::{Draft, KernelWriter, Made, Options};
use crate::ir::Module;
use crate::kernel::{Kernel, Prepared, Specializations};
use crate::lane::{Plan, Plans};
use crate::profile::{FeatureSet, Profile};
use crate::source::SourceMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A kernel without cross-lane operations.
#[derive(Debug)]
pub struct Lowered {
    pub kernel: Kernel,
    draft: OnceLock<Made<Arc<dyn Draft>>>,
}

impl Lowered {
    /// The program of the kernel. The options of all callers differ only in the profile.
    ///
    /// # Errors
    /// Reports constructs that the target cannot express.
    pub fn draft(&self, writer: &KernelWriter, options: &Options, sources: &SourceMap) -> Made<Arc<dyn Draft>> {
        let draft = || (writer.draft)(&self.kernel, options, sources);
        if writer.is_shared { self.draft.get_or_init(draft).clone() } else { draft() }
    }
}

/// The forms of a module's entry point so far.
#[derive(Default, Debug)]
pub struct Kernels {
    prepared: OnceLock<Made<Prepared>>,
    /// The lowered kernels. Profiles of one family mostly differ only in costs and have the same plans.
    lowered: Mutex<Vec<(Means, Arc<Lowered>)>>,
}

/// The profile and options that lowering a kernel depends on.
#[derive(PartialEq, Debug)]
struct Means {
    features: FeatureSet,
    fast_fma: &'static [u8],
    plans: Vec<Arc<Plan>>,
}

impl Kernels {
    /// The kernel of the module before its cross-lane operations have plans.
    ///
    /// # Errors
    /// Reports constructs that the kernel form cannot express.
    pub fn prepared(&self, module: &Module, profile: &Profile) -> Made<&Prepared> {
        let prepare = || Prepared::new(module, &Specializations::new(), profile);
        self.prepared.get_or_init(prepare).as_ref().map_err(Clone::clone)
    }

    /// The kernel of the module for a profile, whose plans `known` holds.
    ///
    /// # Errors
    /// Reports constructs that the kernel form cannot express and operations that the profile lacks.
    pub fn lowered(&self, module: &Module, profile: &Profile, known: &Plans) -> Made<Arc<Lowered>> {
        let prepared = self.prepared(module, profile)?;
        let plans = prepared.plans(profile, known)?;
        let means = Means { features: profile.features, fast_fma: profile.fast_fma(), plans };
        if let Some(lowered) = self.find(&means) {
            return Ok(lowered);
        }
        let kernel = prepared.clone().finish(&means.plans, profile)?;
        let lowered = Arc::new(Lowered { kernel, draft: OnceLock::new() });
        self.lowered.lock().unwrap_or_else(PoisonError::into_inner).push((means, lowered.clone()));
        Ok(lowered)
    }

    fn find(&self, means: &Means) -> Option<Arc<Lowered>> {
        let lowered = self.lowered.lock().unwrap_or_else(PoisonError::into_inner);
        lowered.iter().find(|(known, _)| known == means).map(|(_, lowered)| lowered.clone())
    }
}
