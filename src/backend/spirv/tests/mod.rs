//! Hand-built modules, emitted for every version, read back by rspirv and, if it is installed, validated by spirv-val.
//!
//! `CROSSLANE_JUDGES` names the folder whose `bin` contains spirv-val; otherwise it is searched for in `PATH`. Without
//! it the test still reads the words back, unless `CI` is `true`: then it must be there.

mod control;
mod early;
mod lanes;
mod memory;
mod optimize;
mod rays;
mod values;

use super::emit;
use crate::backend::{DebugInfo, Optimize, Options};
use crate::diagnostic::Diagnostic;
use crate::ir::layout::{Layouts, Rule};
use crate::ir::verify::verify;
use crate::ir::{
    Access, Binding, Builder, EntryPoint, FuncId, Global, GlobalId, Member, Module, Reconvergence, Space, Stage,
    Struct, TypeId, Types, Value,
};
use crate::profile::Profile;
use crate::source::{SourceMap, Span};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const TARGETS: [(&str, &str); 3] = [("spirv-1.3", "vulkan1.1"), ("spirv-1.5", "vulkan1.2"), ("spirv-1.6", "vulkan1.3")];

/// A module with one storage block, `block`, with members of the given types.
struct Shader {
    module: Module,
    block: GlobalId,
}

fn member(name: &str, ty: TypeId) -> Member {
    Member { name: name.into(), span: Span::NONE, ty, offset: None, access: Access::empty(), binding: Binding::None }
}

fn logical_struct(module: &mut Module, name: &str, members: &[TypeId], block: bool) -> TypeId {
    let members = members.iter().enumerate().map(|(n, ty)| member(&format!("m{n}"), *ty)).collect();
    module.types.add_struct(Struct { name: name.into(), span: Span::NONE, members, block, logical: None })
}

impl Shader {
    /// `members` creates the types of the block's members.
    fn new(members: impl FnOnce(&mut Module) -> Vec<TypeId>) -> Shader {
        let mut module = Module::new();
        let members = members(&mut module);
        let ty = logical_struct(&mut module, "Data", &members, true);
        let laid = Layouts::new().lay_out(&mut module, ty, Rule::Std430, false).unwrap().ty;
        let block = module.globals.push(Global {
            name: "data".into(),
            span: Span::NONE,
            space: Space::Storage,
            ty: laid,
            binding: Binding::Resource { set: 0, binding: 0 },
            access: Access::RESTRICT,
            init: None,
        });
        Shader { module, block }
    }

    fn global(&mut self, name: &str, space: Space, ty: TypeId, binding: Binding) -> Value {
        let access = Access::empty();
        let global = Global { name: name.into(), span: Span::NONE, space, ty, binding, access, init: None };
        Value::Global(self.module.globals.push(global))
    }

    fn function(&mut self, fill: impl FnOnce(&mut Builder, Value)) -> FuncId {
        let block = Value::Global(self.block);
        let mut b = Builder::new(&mut self.module, "main", Span::NONE, Vec::new(), Types::VOID);
        fill(&mut b, block);
        b.finish_into(None)
    }

    /// Adds the entry point, a function that `fill` fills with the block at hand.
    fn main(mut self, fill: impl FnOnce(&mut Builder, Value)) -> Module {
        let function = self.function(fill);
        let one = self.module.constants.u32(1);
        self.module.entry_points.push(EntryPoint {
            name: "main".into(),
            stage: Stage::Compute,
            function,
            workgroup_size: [self.module.constants.u32(64), one, one],
            reconvergence: Reconvergence::Default,
            derivatives: None,
            fragment: Default::default(),
            primitives: Vec::new(),
        });
        self.module
    }
}

fn options(profile: &str) -> Options {
    Options::new(Profile::named(profile).unwrap())
}

fn assemble(module: &Module, options: &Options) -> Vec<u32> {
    emit(module, options, &SourceMap::new()).unwrap_or_else(|messages| panic!("{messages:#?}"))
}

fn refusals(module: &Module) -> Vec<Diagnostic> {
    emit(module, &options("spirv-1.3"), &SourceMap::new()).unwrap_err()
}

fn listing(words: &[u32]) -> String {
    super::disassemble(words).unwrap()
}

/// Emits for every version, validates each, and returns the listings.
fn check(module: &Module) -> [String; 3] {
    verify(module).unwrap();
    TARGETS.map(|(profile, environment)| {
        let mut options = options(profile);
        let words = assemble(module, &options);
        assert_eq!(words, assemble(module, &options), "two runs differ");
        judge(&words, environment);
        options.debug = DebugInfo::Lines;
        judge(&assemble(module, &options), environment);
        for optimize in [Optimize::Speed, Optimize::Size] {
            options.manner.optimize = optimize;
            judge(&assemble(module, &options), environment);
        }
        listing(&words)
    })
}

fn validator() -> Option<PathBuf> {
    let named = std::env::var_os("CROSSLANE_JUDGES").map(|folder| PathBuf::from(folder).join("bin/spirv-val"));
    let known = named.unwrap_or_else(|| "spirv-val".into());
    Command::new(&known).arg("--version").stdout(Stdio::null()).status().is_ok().then_some(known)
}

fn judge(words: &[u32], environment: &str) {
    let Some(validator) = validator() else {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "spirv-val is missing");
        return;
    };
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut child = Command::new(validator)
        .args(["--target-env", environment, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{environment}: {said}\n{}", listing(words));
}
