//! The output of `crosslane build --emit-ninja`, run by ninja itself.

use crate::folder::{Folder, status, stderr};
use std::fs;

const SHADER: &str = "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"x y.glsl\"\n\
                      layout(local_size_x = 32) in;\nlayout(binding = 0) buffer B { uint x[]; };\n\
                      void main() { x[gl_GlobalInvocationID.x] = X + D; }\n";

/// Runs ninja and returns its output; `None` if it is missing and not required.
fn ninja(folder: &Folder) -> Option<String> {
    let (done, text) = folder.say("ninja", &[])?;
    assert!(done, "{text}");
    Some(text)
}

#[test]
fn ninja_makes_what_build_makes_and_no_more_than_it_must() {
    let folder = Folder::new("ninja");
    fs::create_dir_all(folder.0.join("my shaders")).unwrap();
    folder.file("my shaders/a.comp", SHADER);
    folder.file("my shaders/b.comp", SHADER.replace("#include \"x y.glsl\"", "const uint X = 3u;"));
    folder.file("my shaders/x y.glsl", "const uint X = 1u;\n");
    folder.file(
        "crosslane.toml",
        "[[build]]\nshaders = [\"my shaders/*.comp\"]\nprofiles = [\"spirv-1.5\", \"nv-volta\"]\n\
         defines = { D = [\"(1u + 1u)\", 2] }\noptions = { debug = true }\nout-dir = \"out $1\"\n",
    );
    let emit = || {
        let output = folder.run(&["build", "--emit-ninja"]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
    };
    emit();
    let Some(first) = ninja(&folder) else { return };
    assert!(first.contains("[8/8]"), "{first}");
    let output = folder.run(&["build", "--check"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let second = ninja(&folder).unwrap();
    assert!(second.contains("no work to do"), "{second}");
    folder.file("my shaders/x y.glsl", "const uint X = 2u;\n");
    let third = ninja(&folder).unwrap();
    assert!(third.contains("[4/4]"), "the shader that includes it alone: {third}");
    assert_eq!(status(&folder.run(&["build", "--check"])), 0);
    folder.file("my shaders/c.comp", SHADER);
    let fourth = ninja(&folder).unwrap();
    assert!(fourth.contains("[4/4]"), "a new shader: {fourth}");
    assert_eq!(status(&folder.run(&["build", "--check"])), 0);
    assert!(ninja(&folder).unwrap().contains("no work to do"));
}

/// Every printable character of ASCII in the names of a shader: refused, or built once.
#[test]
fn names_are_built_once_or_refused() {
    // Versions of ninja before 1.12 rebuild what depends on these.
    let repeated = ['"', '&', '\'', '?'];
    let characters = (' '..='~').filter(|c| c.is_ascii_punctuation() && !repeated.contains(c) && *c != '/');
    for c in characters {
        let folder = Folder::new(&format!("ninja-{}", c as u32));
        let name = format!("a{c}b.comp");
        if fs::write(folder.0.join(&name), "#version 450\nlayout(local_size_x = 32) in;\nvoid main() {}\n").is_err() {
            continue;
        }
        let manifest = "[[build]]\nshaders = [\"*.comp\"]\nprofiles = [\"spirv-1.3\"]\nout-dir = \"out\"\n";
        folder.file("crosslane.toml", manifest);
        let output = folder.run(&["build", "--emit-ninja"]);
        if status(&output) != 0 {
            assert!("|*;<>^`".contains(c), "{c}: {}", stderr(&output));
            assert!(stderr(&output).contains("a file for ninja cannot contain the name"), "{}", stderr(&output));
            continue;
        }
        let Some(_) = ninja(&folder) else { return };
        let again = ninja(&folder).unwrap();
        assert!(again.contains("no work to do"), "{c}: {again}");
    }
}
