//! Parts of the test support that bind and draw on drivers: image sizes and format names.

use support::device::vulkan::Format;
use support::device::{Image, View};

#[test]
fn levels_halve_and_keep_layers() {
    let (format, view) = ("r8".into(), View::PlaneArray);
    let image = Image { format, view, size: [5, 2, 1], layers: 3, levels: 3, samples: 1, data: Vec::new() };
    assert_eq!(image.size_of(1), [2, 1, 1]);
    assert_eq!(image.size_of(2), [1, 1, 1]);
    assert_eq!(image.texels(), 3 * (10 + 2 + 1));
}

#[test]
fn names_of_formats_are_those_of_glsl() {
    assert_eq!(Format::named("rgba8").unwrap().bytes, 4);
    assert!(Format::named("d32").unwrap().is_depth());
    let why = Format::named("rgba").err().unwrap().to_string();
    assert!(why.ends_with("no format is called `rgba`"), "{why}");
}
