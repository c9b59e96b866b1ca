//! Text that fits a terminal, and lists of profiles.

use super::folder::{Folder, status, stderr, stdout};

const SUM: &str = "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 64) in;\n\
    layout(std430, binding = 0) buffer Data { float x[]; };\n\
    void main() { x[gl_GlobalInvocationID.x] = allReduceAdd8(x[gl_GlobalInvocationID.x]); }\n";

fn printed(folder: &Folder, args: &[&str]) -> String {
    let output = folder.run(args);
    assert_eq!(status(&output), 0, "{args:?}: {}", stderr(&output));
    stdout(&output)
}

fn longest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn operations_are_columns_where_they_fit_and_paragraphs_elsewhere() {
    let folder = Folder::new("ops");
    let profiles = ["ops", "-p", "gfx1100-wave32,nv-hopper,spirv-1.6", "reduce"];
    let table = printed(&folder, &profiles);
    let wide = printed(&folder, &[&profiles[..], &["--width", "400"]].concat());
    assert_eq!(table, wide);
    assert!(table.starts_with("operation") && table.lines().next().unwrap().contains("nv-hopper"), "{table}");
    let narrow = printed(&folder, &[&profiles[..], &["--width", "60"]].concat());
    assert!(longest(&narrow) <= 60 && narrow.lines().any(|line| line == "allReduce"), "{narrow}");
    let all = printed(&folder, &["ops", "--width", "80"]);
    assert!(longest(&all) <= 80, "{all}");
}

#[test]
fn an_operation_that_is_not_there_is_an_error() {
    let folder = Folder::new("ops-unknown");
    let output = folder.run(&["ops", "buterfly"]);
    assert_eq!((status(&output), stdout(&output).as_str()), (2, ""));
    let said = stderr(&output);
    assert!(said.starts_with("error: no operation is called `buterfly`; did you mean `butterfly`"), "{said}");
}

#[test]
fn a_check_without_profiles_is_of_all() {
    let folder = Folder::new("check-all");
    folder.file("a.comp", SUM);
    let all = printed(&folder, &["check", "a.comp"]);
    assert_eq!(all, printed(&folder, &["check", "a.comp", "--all-profiles"]));
    assert!(all.contains("gfx1201-wave64") && all.contains("spirv-1.3"), "{all}");
    let narrow = printed(&folder, &["check", "a.comp", "--width", "72"]);
    assert!(longest(&narrow) <= 72, "{narrow}");
    let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    assert_eq!(words(&narrow), words(&all));
}

#[test]
fn profiles_are_listed_with_commas() {
    let folder = Folder::new("lists");
    folder.file("a.comp", SUM);
    for command in ["explain", "check"] {
        let one = printed(&folder, &[command, "a.comp", "-p", "nv-hopper,spirv-1.6"]);
        assert_eq!(one, printed(&folder, &[command, "a.comp", "-p", "nv-hopper", "-p", "spirv-1.6"]), "{command}");
    }
    let shown = printed(&folder, &["profiles", "nv-hopper,spirv-1.6"]);
    assert_eq!(shown, printed(&folder, &["profiles", "nv-hopper", "spirv-1.6"]));
    assert!(shown.starts_with("nv-hopper: ") && shown.contains("\nspirv-1.6: "), "{shown}");
    let output = folder.run(&["run", "a.comp", "-p", "nv-hopper,spirv-1.6"]);
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("one profile is needed"), "{}", stderr(&output));
}
