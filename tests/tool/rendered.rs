//! How messages look on a terminal, for shaders whose messages together show every feature: two labels, places in
//! macros and in included files, notes, suggestions of each kind, and a range of lines. Each bad shader also contains
//! its own expected messages (`inline.rs`).

use std::path::Path;
use std::process::Command;
use support::snapshot;

const SHADERS: &[&str] = &[
    "blocks.comp",
    "include_cycle.comp",
    "macro_calls.comp",
    "missing_extension.comp",
    "missing_semicolons.comp",
    "unterminated_comment.comp",
    "wgsl_unterminated_comment.wgsl",
    "wgsl_width_not_power_of_two.wgsl",
];

#[test]
fn messages_on_a_terminal() {
    for shader in SHADERS {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crosslane"));
        command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/bad"));
        command.args(["compile", shader, "-I", "include", "-o", "/dev/null"]).env_remove("CLICOLOR_FORCE");
        let output = command.output().expect("the program starts");
        assert_eq!(output.status.code(), Some(1), "{shader}");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        snapshot::hold("rendered", shader, "", &said);
    }
}
