//! Texts kept under `snapshots/`.

/// Compares a text with its snapshot in a folder of `snapshots`; `description` says how it was made, if that is not
/// obvious.
///
/// # Panics
/// Returns an error if they differ, unless insta was told to write.
pub fn hold(folder: &str, name: &str, description: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(crate::root().join("snapshots").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_description(description);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
