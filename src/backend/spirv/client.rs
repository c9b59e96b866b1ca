//! Refuses the parts of a module that its API lacks. GLSL's front end refuses them in its own terms; constructs of
//! other languages are refused here.

use super::Emitter;
use crate::diagnostic::Code;
use crate::ir::{Binding, BuiltIn, Global, ImageDim, Space, Type, TypeId};
use crate::profile::Client;

/// Built-in variables that an API does not have.
const LACKING: [(Client, BuiltIn); 5] = [
    (Client::Vulkan, BuiltIn::VertexId),
    (Client::OpenGl, BuiltIn::VertexIndex),
    (Client::OpenGl, BuiltIn::InstanceIndex),
    (Client::OpenGl, BuiltIn::ViewIndex),
    (Client::OpenGl, BuiltIn::DeviceIndex),
];

impl Emitter<'_> {
    /// Reports a variable that the API lacks, and returns true if it is one.
    pub fn refuse_for_client(&mut self, global: &Global) -> bool {
        let Some(what) = self.lacked_by_client(global) else { return false };
        let message = format!("{} has no {what}", self.options.profile.client.name());
        self.fail(Code::PROFILE_LACKS, message);
        true
    }

    fn lacked_by_client(&self, global: &Global) -> Option<String> {
        let client = self.options.profile.client;
        let row = client.row();
        match global.binding {
            Binding::BuiltIn(of) if LACKING.contains(&(client, of)) => {
                return Some(format!("built-in variable {of:?}"));
            }
            Binding::Resource { set, .. } if set != 0 && !row.has_sets => return Some("descriptor sets".into()),
            _ => {}
        }
        let what = match global.space {
            Space::PushConstant if !row.has_sets => "push constants",
            Space::Loose if !row.has_default_block => "uniforms outside of blocks",
            Space::Handle if !row.has_separate_samplers => self.separate(global.ty)?,
            _ => return None,
        };
        Some(what.into())
    }

    /// The words for a sampler without a texture, or vice versa.
    fn separate(&self, ty: TypeId) -> Option<&'static str> {
        match self.module.types.get(ty) {
            Type::Array { element, .. } => self.separate(element),
            Type::Sampler => Some("samplers apart from textures"),
            Type::Image(image) if !image.storage && image.dim != ImageDim::Buffer => {
                Some("textures apart from samplers")
            }
            _ => None,
        }
    }
}
