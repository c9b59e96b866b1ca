//! Reports as JSON, one object: keys stand in the order of the structs' fields and always all of them, so that equal
//! reports are equal bytes.

use serde::Serialize;

/// The text, with a line break at its end.
pub fn json(report: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(report);
    text.expect("a report has string keys and numbers that JSON can hold") + "\n"
}
