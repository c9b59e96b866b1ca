//! Reports as one JSON object. Keys are in the order of the structs' fields and never omitted, so that equal reports
//! are equal bytes.

use crate::diagnostic::visible::escaped_json;
use serde::Serialize;

/// The JSON text, with a trailing line break.
pub fn json(report: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(report);
    let text = text.expect("a report has string keys and numbers that JSON can hold");
    escaped_json(&text).into_owned() + "\n"
}
