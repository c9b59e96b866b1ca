//! Shaders with errors: costs, hints, completion and rename keep working.

use super::client::Client;
use super::edits::Random;
use super::{fixture, labels};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Errors to write at the start of a statement.
const GLSL_ERRORS: [&str; 18] = [
    "undeclared;\n",
    "float q = ;\n",
    "float (\n",
    "x[\n",
    "if (\n",
    "}\n",
    "{\n",
    "foo(1,\n",
    "data.\n",
    "vec3 w = vec2(1.0);\n",
    "return return;\n",
    "for (;;\n",
    "1.0.0;\n",
    "layout(\n",
    "\n#extension GL_NOT_THERE : require\n",
    "\n#if 1\n",
    "struct {\n",
    "int i = 1.0; int i;\n",
];

const WGSL_ERRORS: [&str; 10] = [
    "undeclared();\n",
    "let q = ;\n",
    "if (\n",
    "}\n",
    "{\n",
    "foo(1,\n",
    "let q: f32 = 1u;\n",
    "@@\n",
    "return return;\n",
    "struct {\n",
];

/// The edits in a session; every other one leaves an error.
const EDITS: usize = 200;

/// A shader and the requests after each edit: an operation to hover over, a local to rename with its expected number of
/// edits, and positions to complete with an expected word.
struct Script {
    name: &'static str,
    errors: &'static [&'static str],
    operation: &'static str,
    local: (&'static str, usize),
    completed: [(&'static str, usize, &'static str); 2],
}

const SCRIPTS: [Script; 2] = [
    Script {
        name: "scan.comp",
        errors: &GLSL_ERRORS,
        operation: "butterfly2",
        local: ("sum = 0.0", 3),
        completed: [("data.samples", 5, "samples"), ("meanOf8(", 4, "meanOf8")],
    },
    Script {
        name: "blur.wgsl",
        errors: &WGSL_ERRORS,
        operation: "butterfly2",
        local: ("twin = ", 2),
        completed: [("own.weight", 4, "weight"), ("blurred(pixels", 4, "blurred")],
    },
];

/// The starts of the statements inside functions.
fn statements(text: &str) -> Vec<usize> {
    let starts = text.match_indices('\n').map(|(at, _)| at + 1);
    let is_inside = |at: &usize| text[*at..].starts_with("    ") && text[..*at].trim_end().ends_with([';', '{', '}']);
    let body = text.rfind("Adds up").or(text.rfind("fn blurred")).expect("functions");
    starts.filter(|at| *at > body).filter(is_inside).collect()
}

/// The answers that must not depend on errors elsewhere.
#[derive(PartialEq, Eq, Debug)]
struct Answers {
    costs: String,
    hints: usize,
    renamed: usize,
    completed: Vec<bool>,
}

fn answers(client: &mut Client, uri: &str, script: &Script) -> Answers {
    let operation = client.at(uri, script.operation, 0, 2);
    let hover = client.ask("textDocument/hover", operation);
    let costs: Vec<&str> = hover["contents"]["value"].as_str().unwrap_or_default().lines().collect();
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 999, "character": 0 } });
    let hints = client.ask("textDocument/inlayHint", json!({ "textDocument": { "uri": uri }, "range": range }));
    let mut renamed = client.at(uri, script.local.0, 0, 0);
    renamed["newName"] = "renewed".into();
    let renamed = client.response("textDocument/rename", renamed);
    let changes = renamed["result"]["changes"].as_object().into_iter().flat_map(|files| files.values());
    let completed = script.completed.iter().map(|(place, skip, word)| {
        let place = client.at(uri, place, 0, *skip);
        labels(&client.ask("textDocument/completion", place)).contains(word)
    });
    Answers {
        completed: completed.collect(),
        costs: costs.into_iter().filter(|line| line.starts_with('|')).collect(),
        hints: hints.as_array().map_or(0, Vec::len),
        renamed: changes.map(|edits| edits.as_array().map_or(0, Vec::len)).sum(),
    }
}

#[test]
fn answers_stay_while_the_shader_is_wrong() {
    for script in &SCRIPTS {
        let mut client = Client::start(json!({}));
        let uri = client.open(&fixture(script.name));
        let right = answers(&mut client, &uri, script);
        assert!(right.costs.contains("gfx1100") && right.hints > 0, "{right:?}");
        assert_eq!((right.renamed, &*right.completed), (script.local.1, &[true, true][..]));
        let mut random = Random(0x51_7CC1_B727_2205);
        let (mut wrong, mut took) = (0, Vec::new());
        for n in 0..EDITS / 2 {
            let (_, original) = client.open[&uri].clone();
            let places = statements(&original);
            let (at, error) = (places[random.below(places.len())], script.errors[n % script.errors.len()]);
            client.edit(&uri, at..at, error);
            let start = Instant::now();
            let found = answers(&mut client, &uri, script);
            took.push(start.elapsed());
            assert_eq!(found, right, "with {error:?} in\n{}", client.open[&uri].1);
            wrong += usize::from(client.diagnostics(&uri).iter().any(|message| message["severity"] == 1));
            client.edit(&uri, at..at + error.len(), "");
        }
        took.sort();
        let [median, most] = [took[took.len() / 2], took[took.len() - 1]].map(|of: Duration| of.as_secs_f64() * 1e3);
        println!(
            "{}: {wrong} of {EDITS} edits left errors; all answers in {median:.1} ms, at most {most:.1} ms",
            script.name
        );
        assert!(wrong >= EDITS / 2 * 9 / 10, "{wrong}");
        client.stop();
    }
}

const OPENED_WRONG: &str = "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 64) in;\n\
    layout(binding = 0) buffer B { float x[]; };\n\nfloat twice(float a) {\n    return a + a;\n}\n\nvoid main() {\n    \
    uint i = gl_GlobalInvocationID.x;\n    float s = allReduceAdd8(x[i]) + nowhere;\n    x[i] = twice(s);\n    \
    x[i] += butterfly2(s);\n    undeclared = 1;\n}\n";

#[test]
fn a_shader_that_was_never_right_has_costs_too() {
    let mut client = Client::start(json!({}));
    let uri = client.open_text("file:///nowhere/wrong.comp", "glsl", OPENED_WRONG);
    for operation in ["butterfly2", "allReduceAdd8"] {
        let operation = client.at(&uri, operation, 0, 1);
        let hover = client.ask("textDocument/hover", operation);
        assert!(hover["contents"]["value"].as_str().unwrap().contains("| spirv-1.6 | "), "{hover}");
    }
    let mut local = client.at(&uri, "s = all", 0, 0);
    local["newName"] = "sum".into();
    let renamed = client.ask("textDocument/rename", local.clone());
    assert_eq!(renamed["changes"][&uri].as_array().unwrap().len(), 3, "{renamed}");
    // In a shader with errors, the meaning of an existing word is unknown.
    local["newName"] = "nowhere".into();
    let taken = client.response("textDocument/rename", local);
    assert!(taken["error"]["message"].as_str().unwrap().contains("taken"), "{taken}");
    client.stop();
}

#[test]
fn members_of_values_without_a_written_type_are_completed() {
    let text = "struct Part { place: vec3<f32>, weight: f32 }\n\
        @group(0) @binding(0) var<storage, read_write> parts: array<Part>;\n\
        @compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) id: vec3<u32>) {\n    let part = parts[id.x];\n    \
        let at = part.place * 2.0;\n    let same = part;\n    var two = array(part, same);\n    let three = array(Part(at, 1.0), part);\n    parts[id.y] = part;\n}\n";
    let mut client = Client::start(json!({}));
    let uri = client.open_text("file:///nowhere/parts.wgsl", "wgsl", text);
    assert_eq!(client.diagnostics(&uri), Vec::<Value>::new());
    let end = text.find("    parts[id.y]").unwrap();
    let mut members = |written: &str| -> BTreeSet<String> {
        client.edit(&uri, end..end, written);
        let place = client.at(&uri, written, 0, written.len());
        let list = client.ask("textDocument/completion", place);
        client.edit(&uri, end..end + written.len(), "");
        labels(&list).into_iter().map(String::from).collect()
    };
    let all = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect::<BTreeSet<_>>();
    assert_eq!(members("part."), all(&["place", "weight"]));
    assert_eq!(members("at."), all(&["x", "y", "z"]));
    assert_eq!(members("same."), all(&["place", "weight"]));
    assert_eq!(members("two[1]."), all(&["place", "weight"]));
    assert_eq!(members("three[0]."), all(&["place", "weight"]));
    let hover = client.at(&uri, "at = part", 0, 1);
    let hover = client.ask("textDocument/hover", hover);
    assert!(hover["contents"]["value"].as_str().unwrap().contains("let at: vec3<f32>"), "{hover}");
    client.stop();
}
