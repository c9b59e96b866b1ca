//! Reports as JSON, one object: keys are in the order of the structs' fields and always all of them, so that equal
//! reports are equal bytes.

use crate::diagnostic::visible::escaped_json;
use serde::Serialize;

/// The text, with a line break at its end.
pub fn json(report: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(report);
    let text = text.expect("a report has string keys and numbers that JSON can hold");
    escaped_json(&text).into_owned() + "\n"
}
