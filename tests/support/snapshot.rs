//! Texts that are kept under `snapshots/`.

/// Holds a text against what is kept of it in a folder of `snapshots`; `description` says how it was made, where that is not
/// plain.
///
/// # Panics
/// When they differ, unless insta was asked to write.
pub fn hold(folder: &str, name: &str, description: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(crate::root().join("snapshots").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_description(description);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
