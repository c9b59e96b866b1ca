//! `crosslane lsp`: a scripted client sends every kind of request about real shaders, and edits them at random.
//!
//! `CROSSLANE_LSP_EDITS` is the number of random edits; a few hundred without it.

mod broken;
mod client;
mod edits;
mod structure;

use super::folder::Folder;
use client::{Client, framed, uri};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/editor").join(name)
}

fn labels(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().or(list.as_array()).unwrap();
    items.iter().map(|item| item["label"].as_str().unwrap()).collect()
}

/// File, line and text of each location.
fn named(client: &Client, locations: &Value) -> Vec<String> {
    let of = |location: &Value| {
        let uri = location["uri"].as_str().unwrap();
        let line = location["range"]["start"]["line"].as_u64().unwrap() + 1;
        format!("{}:{line} {}", uri.rsplit('/').next().unwrap(), client.text(uri, &location["range"]))
    };
    locations.as_array().unwrap().iter().map(of).collect()
}

/// The definition of the name at a position.
fn defined(client: &mut Client, at: Value) -> Vec<String> {
    defined_by(client, "textDocument/definition", at)
}

/// The places that a request returns.
fn defined_by(client: &mut Client, method: &str, at: Value) -> Vec<String> {
    let found = client.ask(method, at);
    named(client, &found)
}

#[test]
fn names_are_found_across_includes() {
    let mut client = Client::start(json!({}));
    let shader = client.open(&fixture("scan.comp"));
    assert_eq!(client.diagnostics(&shader), Vec::<Value>::new());

    let call = client.at(&shader, "meanOf8(WEIGHTED", 0, 2);
    assert_eq!(defined(&mut client, call), ["lanes.glsl:9 meanOf8"]);
    // The definition of a function, not its prototype.
    let header = client.open(&fixture("include/lanes.glsl"));
    let call = client.at(&header, "scaled(allReduce", 0, 0);
    assert_eq!(defined(&mut client, call), ["lanes.glsl:13 scaled"]);
    let mut whole = client.at(&header, "scaled", 0, 0);
    whole["context"] = json!({ "includeDeclaration": true });
    let found = client.ask("textDocument/references", whole);
    let all = named(&client, &found);
    assert_eq!(all, ["lanes.glsl:6 scaled", "lanes.glsl:10 scaled", "lanes.glsl:13 scaled"]);
    // Members, macros, arguments of macros, and files.
    let member = client.at(&shader, "data.samples", 0, 5);
    assert_eq!(defined(&mut client, member), ["scan.comp:8 samples"]);
    let of_macro = client.at(&shader, "WEIGHTED", 0, 0);
    assert_eq!(defined(&mut client, of_macro), ["types.glsl:9 WEIGHTED"]);
    let argument = client.at(&shader, "WEIGHTED(own)", 0, 9);
    assert_eq!(defined(&mut client, argument), ["scan.comp:18 own"]);
    let file = client.at(&shader, "<lanes.glsl>", 0, 3);
    let found = client.ask("textDocument/definition", file);
    assert!(found[0]["uri"].as_str().unwrap().ends_with("/include/lanes.glsl"), "{found}");
    // The header is checked as part of the shader.
    assert_eq!(client.diagnostics(&header), Vec::<Value>::new());
    client.stop();
}

#[test]
fn an_operation_is_explained_where_it_is() {
    let mut client = Client::start(json!({}));
    let shader = client.open(&fixture("scan.comp"));
    let butterfly = client.at(&shader, "butterfly2", 0, 0);
    let hover = client.ask("textDocument/hover", butterfly);
    let text = hover["contents"]["value"].as_str().unwrap();
    for part in ["butterfly2", "| gfx1100-wave32 | ", "| spirv-1.6 | ", "| nv-hopper | ", "instructions"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let declared = client.at(&shader, "sumOf(i)", 0, 0);
    let hover = client.ask("textDocument/hover", declared);
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("float sumOf(uint first)") && text.contains("Adds up what the rounds give."), "{text}");
    let local = client.at(&shader, "around, around", 0, 0);
    assert!(client.ask("textDocument/hover", local)["contents"]["value"].as_str().unwrap().contains("vec3 around"));

    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let hints = client.ask("textDocument/inlayHint", json!({ "textDocument": { "uri": shader }, "range": range }));
    let hints = hints.as_array().unwrap();
    assert_eq!(hints.len(), 2, "{hints:?}");
    assert!(hints.iter().all(|hint| hint["label"].as_str().unwrap().contains("cycles")), "{hints:?}");

    let offset = client.open[&shader].1.find("butterfly2(").unwrap();
    client.edit(&shader, offset..offset + "butterfly2".len(), "butterfly64");
    let butterfly = client.at(&shader, "butterfly64", 0, 0);
    let hover = client.ask("textDocument/hover", butterfly);
    let exchange = "2 subgroups, 1 barrier, ";
    let row = format!("| gfx1100-wave32 | through workgroup memory: {exchange}");
    assert!(hover["contents"]["value"].as_str().unwrap().contains(&row), "{hover}");
    let hints = client.ask("textDocument/inlayHint", json!({ "textDocument": { "uri": shader }, "range": range }));
    assert!(hints[0]["label"].as_str().unwrap().contains(exchange), "{hints}");

    let wgsl = client.open(&fixture("blur.wgsl"));
    assert_eq!(client.diagnostics(&wgsl), Vec::<Value>::new());
    let butterfly = client.at(&wgsl, "butterfly2", 0, 0);
    let hover = client.ask("textDocument/hover", butterfly);
    assert!(hover["contents"]["value"].as_str().unwrap().contains("| gfx1100-wave32 | "), "{hover}");
    let field = client.at(&wgsl, "own.weight", 0, 4);
    assert_eq!(defined(&mut client, field), ["blur.wgsl:5 weight"]);
    client.stop();
}

#[test]
fn words_are_completed() {
    let mut client = Client::start(json!({}));
    let shader = client.open(&fixture("scan.comp"));
    let text = client.open[&shader].1.clone();
    let end = text.find("    result[i]").unwrap();
    let after = |client: &mut Client, written: &str| {
        client.edit(&shader, end..end, written);
        let place = json!({ "textDocument": { "uri": shader }, "position": client::position(&client.open[&shader].1, end + written.len()) });
        let list = client.ask("textDocument/completion", place.clone());
        let help = client.ask("textDocument/signatureHelp", place);
        client.edit(&shader, end..end + written.len(), "");
        (list, help)
    };
    let (list, _) = after(&mut client, "data.samples[0].");
    assert_eq!(labels(&list), ["value", "weight"]);
    let (list, _) = after(&mut client, "around.");
    assert_eq!(labels(&list), ["x", "y", "z"]);
    let (list, _) = after(&mut client, "mean");
    assert_eq!(labels(&list), ["meanOf8"]);
    let (list, _) = after(&mut client, "inclusiveAdd1");
    assert!(labels(&list).contains(&"inclusiveAdd16"), "{list}");
    assert!(list["items"][0]["documentation"]["value"].as_str().unwrap().len() > 5, "{list}");
    let (_, help) = after(&mut client, "meanOf8(sumOf(1u), ");
    assert_eq!(
        (&help["activeParameter"], &help["signatures"][0]["label"]),
        (&json!(1), &json!("float meanOf8(float x)"))
    );
    let (_, help) = after(&mut client, "clamp(1.0, ");
    assert_eq!(help["activeParameter"], 1);
    assert!(help["signatures"].as_array().unwrap().len() > 1, "{help}");
    let (list, _) = after(&mut client, "// mean");
    assert_eq!(labels(&list), Vec::<&str>::new());

    let manifest = client.open(&fixture("crosslane.toml"));
    assert_eq!(client.diagnostics(&manifest), Vec::<Value>::new());
    let place = client.at(&manifest, "\"spirv-1.6\"", 0, 3);
    assert!(labels(&client.ask("textDocument/completion", place.clone())).contains(&"gfx1100-wave32"));
    assert!(client.ask("textDocument/hover", place)["contents"]["value"].as_str().unwrap().contains("spirv-1.6"));
    let offset = client.open[&manifest].1.find("spirv-1.6").unwrap();
    client.edit(&manifest, offset..offset + 9, "spirv-9.9");
    let wrong = client.diagnostics(&manifest);
    assert!(wrong[0]["message"].as_str().unwrap().contains("unknown profile `spirv-9.9`"), "{wrong:?}");
    let place = client.at(&manifest, "out-dir", 0, 0);
    assert!(labels(&client.ask("textDocument/completion", place)).contains(&"wave-sizes"));
    client.stop();
}

#[test]
fn a_suggestion_is_a_fix() {
    let mut client = Client::start(json!({}));
    let shader = client.open(&fixture("scan.comp"));
    let offset = client.open[&shader].1.find("inclusiveAdd16").unwrap();
    client.edit(&shader, offset..offset + 14, "inclusivAdd16");
    let found = client.diagnostics(&shader);
    assert_eq!((found.len(), found[0]["code"].as_str()), (1, Some("E0301")), "{found:?}");
    let params = json!({
        "textDocument": { "uri": shader }, "range": found[0]["range"], "context": { "diagnostics": found },
    });
    let actions = client.ask("textDocument/codeAction", params);
    assert_eq!(actions[0]["kind"], "quickfix");
    let edit = &actions[0]["edit"]["changes"][&shader][0];
    assert_eq!(edit["newText"], "inclusiveAdd16");
    let text = client.open[&shader].1.clone();
    let range = client::offset(&text, &edit["range"]["start"])..client::offset(&text, &edit["range"]["end"]);
    client.edit(&shader, range, "inclusiveAdd16");
    assert_eq!(client.diagnostics(&shader), Vec::<Value>::new());
    client.stop();
}

#[test]
fn a_new_name_is_written_everywhere_or_nowhere() {
    let mut client = Client::start(json!({}));
    let shader = client.open(&fixture("scan.comp"));
    let rename = |client: &mut Client, text: &str, skip: usize, new: &str| {
        let mut params = client.at(&shader, text, 0, skip);
        params["newName"] = new.into();
        client.response("textDocument/rename", params)
    };
    let count = |response: &Value, file: &str| {
        let changes = response["result"]["changes"].as_object().unwrap();
        changes
            .iter()
            .filter(|(uri, _)| uri.ends_with(file))
            .map(|(_, edits)| edits.as_array().unwrap().len())
            .sum::<usize>()
    };
    let of_function = rename(&mut client, "meanOf8", 0, "average");
    assert_eq!((count(&of_function, "scan.comp"), count(&of_function, "lanes.glsl")), (1, 1), "{of_function}");
    let of_local = rename(&mut client, "own", 0, "mine");
    assert_eq!(count(&of_local, "scan.comp"), 2, "{of_local}");
    // Another variable has the name; the second sum is in another function.
    let taken = rename(&mut client, "uint round", 5, "sum");
    assert!(taken["error"]["message"].as_str().unwrap().contains("taken"), "{taken}");
    let other = rename(&mut client, "float sum = 0.0", 6, "total");
    assert_eq!(count(&other, "scan.comp"), 3, "{other}");
    assert!(rename(&mut client, "own", 0, "float")["error"]["message"].as_str().unwrap().contains("not a name"));
    assert!(rename(&mut client, "gl_GlobalInvocationID", 0, "id")["result"].is_null());
    let prepared = client.at(&shader, "own", 0, 1);
    let range = client.ask("textDocument/prepareRename", prepared);
    assert_eq!(client.text(&shader, &range), "own");
    client.stop();
}

#[test]
fn the_outline_and_the_colours_know_the_names() {
    let mut client = Client::start(json!({}));
    let shader = client.open(&fixture("scan.comp"));
    let outline = client.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": shader } }));
    let names: Vec<&str> = outline.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Data", "data", "Result", "ROUNDS", "sumOf", "main"]);
    let inner: Vec<&str> =
        outline[4]["children"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect();
    assert_eq!(inner, ["first", "sum", "round", "own"]);
    let tokens = client.ask("textDocument/semanticTokens/full", json!({ "textDocument": { "uri": shader } }));
    let data: Vec<u64> = tokens["data"].as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect();
    let (mut line, mut column, mut seen) = (0, 0, Vec::new());
    for token in data.chunks(5) {
        column = if token[0] == 0 { column + token[1] } else { token[1] };
        line += token[0];
        let text = client.open[&shader].1.lines().nth(line as usize).unwrap();
        seen.push((&text[column as usize..(column + token[2]) as usize], token[3], token[4]));
    }
    // Function, parameter, variable, property, type, struct, macro, keyword: the first eight.
    let has = |text: &str, kind: u64, modifiers: u64| {
        assert!(seen.contains(&(text, kind, modifiers)), "{text} {kind} is not in {seen:?}");
    };
    has("sumOf", 0, 0);
    has("butterfly2", 0, 1);
    has("first", 1, 0);
    has("own", 2, 0);
    has("gl_GlobalInvocationID", 2, 1);
    has("ROUNDS", 2, 2);
    has("samples", 3, 0);
    has("float", 4, 1);
    has("Sample", 5, 0);
    has("WEIGHTED", 6, 2);
    has("return", 7, 0);
    client.stop();
}

#[test]
fn a_change_in_a_header_is_seen_in_the_shader() {
    let folder = Folder::new("lsp-header");
    folder.file("h.glsl", "float twice(float x) { return x + x; }\n");
    folder.file(
        "a.comp",
        "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"h.glsl\"\n\
         layout(binding = 0) buffer B { float x[]; };\nvoid main() { x[0] = twice(x[1]); }\n",
    );
    let mut client = Client::start(json!({ "profiles": ["spirv-1.6", "gfx1100-wave32"] }));
    let shader = client.open(&folder.0.join("a.comp"));
    assert_eq!(client.diagnostics(&shader), Vec::<Value>::new());
    let header = client.open(&folder.0.join("h.glsl"));
    assert_eq!(client.diagnostics(&header), Vec::<Value>::new());
    let offset = client.open[&header].1.find("twice").unwrap();
    client.edit(&header, offset..offset + 5, "thrice");
    // A message about the shader arrives although the shader itself did not change.
    client.diagnostics(&header);
    while client.published[&shader].1.is_empty() {
        let place = client.at(&shader, "twice", 0, 0);
        client.ask("textDocument/hover", place);
    }
    assert!(client.published[&shader].1[0]["message"].as_str().unwrap().contains("twice"));
    client.edit(&header, offset..offset + 6, "twice");
    client.diagnostics(&header);
    while !client.published[&shader].1.is_empty() {
        let place = client.at(&shader, "twice", 0, 0);
        client.ask("textDocument/hover", place);
    }
    client.stop();
}

/// A change of a file's whole text, as a message.
fn change(uri: &str, version: i64, text: &str) -> String {
    let params = json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": [{ "text": text }] });
    framed(&json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": params }))
}

#[test]
fn edits_in_a_row_are_published_once() {
    let mut client = Client::start(json!({}));
    let shader = client.open(&fixture("scan.comp"));
    client.diagnostics(&shader);
    let before = client.publications;
    let (_, text) = client.open[&shader].clone();
    let edits: String = (2..42).map(|version| change(&shader, version, &format!("{text}// {version}\n"))).collect();
    client.open.insert(shader.clone(), (41, text));
    client.send_bytes(&edits);
    client.diagnostics(&shader);
    let times = client.publications - before;
    assert!(times <= 6, "40 edits were published {times} times");
    client.stop();
}

#[test]
fn cancelled_requests_are_not_computed() {
    let mut client = Client::start(json!({}));
    let shader = client.open(&fixture("scan.comp"));
    let place = client.at(&shader, "meanOf8(WEIGHTED", 0, 2);
    let ask = |id: u64| framed(&json!({ "jsonrpc": "2.0", "id": id, "method": "textDocument/hover", "params": place }));
    let cancel = |id: u64| framed(&json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": id } }));
    let (first, last) = (1000, 1100);
    let all = (first..=last).map(ask).chain((first + 1..last).map(cancel));
    client.send_bytes(&all.collect::<String>());
    assert!(client.answer(&first.into()).get("error").is_none());
    let late = client.answer(&(last - 1).into());
    assert_eq!(late["error"]["code"], -32800, "{late}");
    assert!(client.answer(&last.into()).get("error").is_none());
    client.stop();
}

#[test]
fn what_is_not_a_message_is_told_and_forgotten() {
    let mut client = Client::spawn();
    for params in [json!(null), json!([1]), json!("x")] {
        let answer = client.response("initialize", params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    assert_eq!(client.response("textDocument/hover", json!({}))["error"]["code"], -32002);
    client.send_bytes("Content-Length: 99999999999999\r\n\r\n");
    client.initialize(json!({ "profiles": "none" }));
    client.send_bytes("Content-Length: 3\r\n\r\n{}}Content-Length: 18446744073709551615\r\n\r\n{}");
    let shader = client.open(&fixture("scan.comp"));
    assert_eq!(client.diagnostics(&shader), Vec::<Value>::new());
    client.stop();
}

#[test]
fn a_client_may_say_strange_things_of_itself() {
    let mut client = Client::spawn();
    let params =
        json!({ "processId": "none", "capabilities": { "general": 7, "textDocument": [] }, "workspaceFolders": 1 });
    let answer = client.ask("initialize", params);
    assert!(answer["capabilities"].is_object());
    let shader = uri(&fixture("scan.comp"));
    client.tell("textDocument/didOpen", json!({ "textDocument": { "uri": shader, "version": "one" } }));
    client.stop();
}
