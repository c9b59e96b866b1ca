//! Lowering of whole shaders.

use super::{Specializations, lower};
use crate::compile::Options;
use crate::diagnostic::{Diagnostics, render};
use crate::glsl;
use crate::glsl::preprocess::MacroOption;
use crate::ir::Module;
use crate::kernel::{print, verify};
use crate::profile::Profile;
use crate::source::{NoIncludes, SourceMap};
use crate::wgsl::{self, WgslOptions};
use std::fs;
use std::path::{Path, PathBuf};

/// The module that a shader becomes.
fn module(name: &str, text: &str, width: &str) -> Result<Module, String> {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text).map_err(|error| format!("{error:?}"))?;
    let mut diagnostics = Diagnostics::new();
    let module = if name.ends_with(".wgsl") {
        let defines = [("WIDTH".to_owned(), width.to_owned())];
        let options = WgslOptions { defines: &defines, ..WgslOptions::default() };
        wgsl::compile(file, &sources, &options, &mut diagnostics)
    } else {
        let profile = Profile::named("spirv-1.6").ok_or("no such profile")?;
        let width = MacroOption::Define { name: "WIDTH".to_owned(), value: width.to_owned() };
        let options = Options { macros: vec![width], ..Options::new(profile) };
        glsl::compile(file, &mut sources, &NoIncludes, &options, &mut diagnostics)
    };
    module.ok_or_else(|| render::human(&sources, &diagnostics))
}

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut paths = Vec::new();
    for folder in ["glsl", "wgsl", "core", "language"] {
        let entries = fs::read_dir(root.join(folder)).expect("the fixtures are there");
        paths.extend(entries.map(|entry| entry.expect("an entry can be read").path()));
    }
    paths.sort();
    paths
}

#[test]
fn every_fixture_becomes_a_sound_kernel() {
    let mut failures = Vec::new();
    for path in fixtures() {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).expect("a fixture is text");
        let module = module(&name, &text, "8").unwrap_or_else(|why| panic!("{name}: {why}"));
        match lower(&module, 0, &Specializations::new()) {
            Err(errors) => failures.push(format!("{name}: {errors:?}")),
            Ok(kernel) => {
                let errors = verify::verify(&kernel).err().unwrap_or_default();
                let text = print::print(&kernel, None);
                failures.extend(errors.iter().take(3).map(|error| format!("{name}: {error}\n{text}")));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
