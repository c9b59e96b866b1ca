//! The kernels of a shader for profiles that read alike: each step is done once for all that it is the same for.

use crate::backend::nv::{Draft, NvOptions};
use crate::diagnostic::Diagnostic;
use crate::ir::Module;
use crate::kernel::{Kernel, Prepared, Specializations};
use crate::lane::{Plan, Plans};
use crate::profile::{FeatureSet, Profile};
use crate::source::SourceMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

type Made<T> = Result<T, Vec<Diagnostic>>;

/// A kernel without cross-lane operations.
#[derive(Debug)]
pub struct Lowered {
    pub kernel: Kernel,
    draft: OnceLock<Made<Draft>>,
}

impl Lowered {
    /// NVIDIA's program of it; the options of all that ask differ in the profile alone.
    ///
    /// # Errors
    /// With what the target cannot express.
    pub fn draft(&self, options: &NvOptions, sources: &SourceMap) -> Result<&Draft, Vec<Diagnostic>> {
        let draft = || Draft::of(&self.kernel, options, sources);
        self.draft.get_or_init(draft).as_ref().map_err(Clone::clone)
    }
}

/// What a module's entry point has become so far.
#[derive(Default, Debug)]
pub struct Kernels {
    prepared: OnceLock<Made<Prepared>>,
    /// Those that were lowered. Profiles of one family mostly differ in prices, and have the same plans.
    lowered: Mutex<Vec<(Means, Arc<Lowered>)>>,
}

/// What a kernel is lowered by.
#[derive(PartialEq, Debug)]
struct Means {
    features: FeatureSet,
    plans: Vec<Arc<Plan>>,
}

impl Kernels {
    /// The kernel of the module for a profile, whose plans `known` holds.
    ///
    /// # Errors
    /// With what the kernel form cannot express and what the profile cannot do.
    pub fn lowered(&self, module: &Module, profile: &Profile, known: &Plans) -> Made<Arc<Lowered>> {
        let prepare = || Prepared::new(module, &Specializations::new(), profile);
        let prepared = self.prepared.get_or_init(prepare).as_ref().map_err(Clone::clone)?;
        let means = Means { features: profile.features, plans: prepared.plans(profile, known)? };
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
