//! Every row satisfies the invariants that the compiler relies on.

use super::*;

#[test]
fn the_tables_are_sorted() {
    assert!(FUNCTIONS.windows(2).all(|pair| pair[0].name < pair[1].name));
    // Stages may have separate rows.
    assert!(VARIABLES.windows(2).all(|pair| pair[0].name <= pair[1].name));
    assert!(CONSTANTS.windows(2).all(|pair| pair[0].name < pair[1].name));
    assert!(EXTENSIONS.windows(2).all(|pair| pair[0].name < pair[1].name));
}

#[test]
fn every_name_is_found() {
    for function in FUNCTIONS {
        assert!(std::ptr::eq(functions(function.name), function.overloads), "{}", function.name);
    }
    for variable in VARIABLES {
        assert_eq!(super::variable(variable.name).map(|v| v.name), Some(variable.name));
    }
    assert!(functions("reduceAdd16").len() == 1 && functions("reduceAdd").len() == 2);
    assert!(functions("nonsense").is_empty());
}

#[test]
fn rows_document_themselves() {
    for overload in FUNCTIONS.iter().flat_map(|f| f.overloads) {
        assert!(!overload.doc.is_empty() && !overload.doc.contains('{'), "{}", overload.name);
        assert!(!overload.signature.contains('{'), "{}", overload.signature);
        assert_eq!(overload.types.is_empty(), overload.generic.is_empty(), "{}", overload.name);
    }
}

#[test]
fn wgsl_has_the_portable_names_and_its_own() {
    assert_eq!(wgsl_functions("allReduceAdd16").count(), 1);
    assert_eq!(wgsl_functions("shuffleUpNV").map(|o| o.params.len()).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(wgsl_functions("shuffleUpNVValid").map(|o| o.params.len()).collect::<Vec<_>>(), [2]);
    assert_eq!(wgsl_functions("subgroupClusteredAdd").count(), 1);
    assert_eq!(wgsl_functions("sin").count(), 0);
    assert!(wgsl_variable("helperThreadNV").is_none());
    assert_eq!(wgsl_variable("threadInWarpNV").map(|v| v.name), Some("gl_ThreadInWarpNV"));
}

#[test]
fn sets_hold_the_last_extension() {
    let mut set = ExtensionSet::default();
    let last = EXTENSIONS.last().expect("there are extensions");
    set.enable(last);
    assert!(EXTENSIONS.len() > 128 && set.contains(last.name) && !set.is_empty() && set.intersects(set));
    assert_eq!(set.iter().map(|extension| extension.name).collect::<Vec<_>>(), [last.name]);
    set.disable(last);
    assert!(set.is_empty());
}

#[test]
fn extensions_turn_on_what_they_imply() {
    let mut set = ExtensionSet::default();
    set.enable(extension("GL_CROSSLANE_portable").expect("it has a row"));
    assert_eq!(set.iter().count(), 6);
    assert!(set.contains("GL_CROSSLANE_permute"));
    set.disable(extension("GL_CROSSLANE_permute").expect("it has a row"));
    assert!(!set.contains("GL_CROSSLANE_permute"));
}
