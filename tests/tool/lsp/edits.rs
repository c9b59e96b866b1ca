//! Random edits: the server must not exit, and its diagnostics must match the current text.

use super::client::{Client, position};
use crosslane::compile::{Input, Language, Options};
use crosslane::editor::{Analysis, Message, Source};
use crosslane::ir::Stage;
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Edits without `CROSSLANE_LSP_EDITS`.
const FEW: usize = 300;

/// Edits after which the messages are compared.
const BETWEEN: usize = 10;

const PIECES: [&str; 24] = [
    "(",
    ")",
    "{",
    "}",
    ";",
    ".",
    "[",
    "]",
    "#",
    "\n",
    "/*",
    "*/",
    "\"",
    " float ",
    " x",
    "1u",
    "#include \"b\"\n",
    "#define F(x) x\n",
    "struct S { float a; } s;",
    " for (",
    "return ",
    "butterfly2(",
    "é",
    "= ",
];

/// A random number generator (xorshift64) with a seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// The shaders that are edited: some with a dozen of operations, with macros, and with control flow.
fn shaders() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let names = ["glsl/kernel_block_reduction.comp", "said/all_warnings.comp", "core/structs.comp", "editor/blur.wgsl"];
    let exists = names.iter().filter(|name| root.join(name).exists());
    exists.map(|name| ((*name).into(), fs::read_to_string(root.join(name)).unwrap())).collect()
}

/// A range in a text, at character boundaries.
fn stretch(text: &str, random: &mut Random, longest: usize) -> std::ops::Range<usize> {
    let whole = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = whole(random.below(text.len() + 1));
    start..whole((start + random.below(longest)).min(text.len())).max(start)
}

/// Code and place of a message.
fn said(code: &str, at: &Value) -> String {
    format!("{code} {}:{}", at["line"], at["character"])
}

/// The messages for a text compiled on its own.
fn expected(name: &str, text: &str) -> BTreeSet<String> {
    let language = if name.ends_with(".wgsl") { Language::Wgsl } else { Language::Glsl };
    let mut options = Options::new(Profile::named("spirv-1.6").unwrap());
    options.stage = (language == Language::Glsl).then_some(Stage::Compute);
    let is_header = language == Language::Wgsl && !text.contains("main");
    let input = Input { name, bytes: text.as_bytes(), language };
    let source = Source { input, options: &[options], loader: &NoIncludes, is_header };
    let analysis = Analysis::new(&source);
    let of = |message: &Message| {
        let start = analysis.place(message.diagnostic.span()).map_or(0, |place| place.start);
        said(&message.diagnostic.code.to_string(), &position(text, start))
    };
    analysis.messages(&source).iter().map(of).collect()
}

#[test]
fn random_edits_leave_no_stale_message() {
    let edits = std::env::var("CROSSLANE_LSP_EDITS").map_or(FEW, |count| count.parse().unwrap());
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut client = Client::start(json!({}));
    let mut uris = Vec::new();
    for (name, text) in shaders() {
        let language = if name.ends_with(".wgsl") { "wgsl" } else { "glsl" };
        uris.push((client.open_text(&format!("file:///nowhere/{name}"), language, &text), text));
    }
    assert!(uris.len() >= 3);
    for n in 0..edits {
        let (uri, original) = &uris[random.below(uris.len())];
        let text = client.open[uri].1.clone();
        // Now and then it becomes right again.
        if random.below(20) == 0 {
            client.edit(uri, 0..text.len(), original);
        } else {
            let range = stretch(&text, &mut random, 12);
            let piece = match random.below(3) {
                0 => "",
                1 => PIECES[random.below(PIECES.len())],
                _ => &text[stretch(&text, &mut random, 40)],
            };
            client.edit(uri, range, piece);
        }
        let now = client.open[uri].1.clone();
        let at = position(&now, stretch(&now, &mut random, 1).start);
        ask_something(&mut client, uri, &at, &mut random);
        if n % BETWEEN == 0 {
            let found = client.diagnostics(uri);
            let of = |message: &Value| said(message["code"].as_str().unwrap(), &message["range"]["start"]);
            let shown: BTreeSet<String> = found.iter().map(of).collect();
            assert!(!shown.iter().any(|message| message.starts_with("E0900")), "{found:?}\n{now}");
            let path = uri.strip_prefix("file://").unwrap();
            assert_eq!(shown, expected(path, &now), "after edit {n} of\n{now}");
        }
    }
    client.stop();
}

/// Sends one of the requests that editors send while somebody types.
fn ask_something(client: &mut Client, uri: &str, at: &Value, random: &mut Random) {
    let document = json!({ "uri": uri });
    let place = json!({ "textDocument": document, "position": at });
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": at });
    match random.below(16) {
        10 => client.response("textDocument/foldingRange", json!({ "textDocument": document })),
        11 => client.response("textDocument/selectionRange", json!({ "textDocument": document, "positions": [at] })),
        12 => client.response("textDocument/typeDefinition", place),
        13 => {
            let item = client.response("textDocument/prepareCallHierarchy", place)["result"][0].clone();
            match item {
                Value::Null => item,
                _ => {
                    client.response("callHierarchy/incomingCalls", json!({ "item": item }));
                    client.response("callHierarchy/outgoingCalls", json!({ "item": item }))
                }
            }
        }
        14 => client.response("workspace/symbol", json!({ "query": "a" })),
        0 => client.response("textDocument/hover", place),
        1 => client.response("textDocument/completion", place),
        2 => client.response("textDocument/signatureHelp", place),
        3 => client.response("textDocument/definition", place),
        4 => {
            let context = json!({ "includeDeclaration": true });
            client.response(
                "textDocument/references",
                json!({ "textDocument": document, "position": at, "context": context }),
            )
        }
        5 => client.response("textDocument/documentSymbol", json!({ "textDocument": document })),
        6 => client.response("textDocument/semanticTokens/full", json!({ "textDocument": document })),
        7 => client.response("textDocument/inlayHint", json!({ "textDocument": document, "range": range })),
        8 => {
            let context = json!({ "diagnostics": [] });
            client.response(
                "textDocument/codeAction",
                json!({ "textDocument": document, "range": range, "context": context }),
            )
        }
        _ => client
            .response("textDocument/rename", json!({ "textDocument": document, "position": at, "newName": "fresh" })),
    };
}

/// A shader of about 500 lines: many functions with an operation each.
fn long_shader() -> String {
    let mut text = String::from(
        "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 64) in;\n\
         layout(std430, binding = 0) buffer Data { float x[]; };\n",
    );
    for n in 0..48 {
        let op = ["allReduceAdd8", "butterfly4", "inclusiveAdd16"][n % 3];
        text += &format!(
            "\n// Step {n}.\nfloat step{n}(float a, uint count) {{\n    float sum = 0.0;\n    for (uint i = 0u; i < count; ++i) {{\n        \
             sum += a * float(i);\n    }}\n    return sum + {op}(a); // crosslane: allow(narrow-subgroups)\n}}\n"
        );
    }
    text += "\nvoid main() {\n    float v = x[gl_GlobalInvocationID.x];\n";
    (0..48).for_each(|n| text += &format!("    v += step{n}(v, 3u);\n"));
    text + "    x[gl_GlobalInvocationID.x] = v;\n}\n"
}

/// Prints how long answers take; nothing is asserted about it, since a busy machine takes longer.
#[test]
fn answers_come_while_somebody_types() {
    let text = long_shader();
    assert!((480..560).contains(&text.lines().count()), "{} lines", text.lines().count());
    answer_times(&text, &["spirv-1.6"]);
    answer_times(&text, &["nv-ampere", "gfx1100", "ptx-sm80"]);
}

fn answer_times(text: &str, profiles: &[&str]) {
    let mut client = Client::start(json!({ "profiles": profiles }));
    let uri = client.open_text("file:///nowhere/long.comp", "glsl", text);
    assert_eq!(client.diagnostics(&uri), Vec::<Value>::new());
    let place = client.at(&uri, "allReduceAdd8", 3, 2);
    let document = json!({ "uri": uri });
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 999, "character": 0 } });
    let asked = [
        ("textDocument/hover", place.clone()),
        ("textDocument/completion", place.clone()),
        ("textDocument/definition", client.at(&uri, "step7(v", 0, 1)),
        ("textDocument/signatureHelp", client.at(&uri, "step7(v", 0, 6)),
        ("textDocument/documentSymbol", json!({ "textDocument": document })),
        ("textDocument/semanticTokens/full", json!({ "textDocument": document })),
        ("textDocument/inlayHint", json!({ "textDocument": document, "range": whole })),
    ];
    for (method, params) in asked {
        let times: Vec<Duration> = (0..5).map(|_| timed(&mut client, &uri, method, &params)).collect();
        say(profiles, method, &times);
    }
    let times: Vec<Duration> = (0..5)
        .map(|_| {
            let start = Instant::now();
            type_a_letter(&mut client, &uri);
            client.diagnostics(&uri);
            start.elapsed()
        })
        .collect();
    say(profiles, "messages", &times);
    client.stop();
}

fn say(profiles: &[&str], asked: &str, times: &[Duration]) {
    let least = times.iter().min().expect("times").as_secs_f64() * 1e3;
    println!("{asked} after an edit, {}: {least:.1} ms", profiles.join(" "));
}

fn type_a_letter(client: &mut Client, uri: &str) {
    let at = client.open[uri].1.find("Step 0.").unwrap();
    client.edit(uri, at..at, "a");
}

fn timed(client: &mut Client, uri: &str, method: &str, params: &Value) -> Duration {
    client.diagnostics(uri);
    let start = Instant::now();
    type_a_letter(client, uri);
    client.response(method, params.clone());
    start.elapsed()
}
