//! Folding, selection ranges, formatting, type definitions, call hierarchies, workspace symbols and TextMate grammars.

use super::super::folder::Folder;
use super::client::{Client, offset};
use super::{defined_by, fixture};
use crosslane::compile::Language;
use crosslane::editor::textmate;
use serde_json::{Value, json};
use std::fs;
use support::bless;

#[test]
fn blocks_fold_and_selections_grow() {
    let mut client = Client::start(json!({}));
    let uri = client.open(&fixture("scan.comp"));
    let text = client.open[&uri].1.clone();
    let line = |part: &str| text[..text.find(part).unwrap()].matches('\n').count();
    let folds = client.ask("textDocument/foldingRange", json!({ "textDocument": { "uri": uri } }));
    let lines =
        |fold: &Value| (fold["startLine"].as_u64().unwrap() as usize, fold["endLine"].as_u64().unwrap() as usize);
    let folds: Vec<(usize, usize)> = folds.as_array().unwrap().iter().map(lines).collect();
    for (first, last) in [("float sumOf", "return sum"), ("for (", "sum += "), ("void main", "result[i] =")] {
        assert!(folds.contains(&(line(first), line(last))), "{first}: {folds:?}");
    }
    let at = client.at(&uri, "WEIGHTED(own)", 0, 10)["position"].clone();
    let grown = client.ask("textDocument/selectionRange", json!({ "textDocument": { "uri": uri }, "positions": [at] }));
    let (mut all, mut next) = (Vec::new(), &grown[0]);
    while next.is_object() {
        all.push(client.text(&uri, &next["range"]));
        next = &next["parent"];
    }
    assert_eq!(all[..4], ["own", "WEIGHTED(own)", "sum += meanOf8(WEIGHTED(own));", &*all[3]]);
    assert!(all[3].contains("Sample own") && !all[3].contains("for"), "{all:?}");
    assert_eq!(all.last(), Some(&text));
    client.stop();
}

#[test]
fn types_calls_and_names_are_found() {
    let mut client = Client::start(json!({}));
    let uri = client.open(&fixture("scan.comp"));
    let own = client.at(&uri, "own = weighed", 0, 0);
    assert_eq!(defined_by(&mut client, "textDocument/typeDefinition", own), ["types.glsl:4 Sample"]);
    let function = client.at(&uri, "sumOf(i)", 0, 1);
    let item = client.ask("textDocument/prepareCallHierarchy", function)[0].clone();
    assert_eq!(item["name"], "sumOf");
    let ends = |found: &Value, end: &str| -> Vec<(String, usize)> {
        let all = found.as_array().unwrap().iter();
        all.map(|call| (call[end]["name"].as_str().unwrap().into(), call["fromRanges"].as_array().unwrap().len()))
            .collect()
    };
    let incoming = client.ask("callHierarchy/incomingCalls", json!({ "item": item }));
    assert_eq!(ends(&incoming, "from"), [("main".to_string(), 1)]);
    let outgoing = client.ask("callHierarchy/outgoingCalls", json!({ "item": item }));
    assert_eq!(ends(&outgoing, "to"), [("meanOf8".to_string(), 1), ("weighed".to_string(), 1)]);
    // A function of a file that is not open.
    let again = client.ask("callHierarchy/incomingCalls", json!({ "item": outgoing[0]["to"] }));
    assert_eq!(ends(&again, "from"), [("sumOf".to_string(), 1)]);
    let names = |client: &mut Client, query: &str| -> Vec<String> {
        let found = client.ask("workspace/symbol", json!({ "query": query }));
        found.as_array().unwrap().iter().map(|symbol| symbol["name"].as_str().unwrap().into()).collect()
    };
    client.open(&fixture("blur.wgsl"));
    assert_eq!(names(&mut client, "smof"), ["sumOf"]);
    assert_eq!(names(&mut client, "blur"), ["blurred"]);
    assert!(names(&mut client, "").contains(&"meanOf8".to_string()));
    client.stop();
}

#[test]
fn shaders_that_are_not_open_have_workspace_symbols() {
    let folder = Folder::new("lsp-workspace");
    for inner in ["shaders", "lib", "target"] {
        std::fs::create_dir(folder.0.join(inner)).unwrap();
    }
    let shader = |name: &str| format!("#version 450\nfloat {name}(float x) {{ return x; }}\nvoid main() {{}}\n");
    folder.file(
        "crosslane.toml",
        "[[build]]\nshaders = [\"shaders/*.comp\"]\nprofiles = [\"spirv-1.5\"]\nout-dir = \"out\"\n",
    );
    folder.file("shaders/named.comp", shader("inManifest"));
    folder.file("lib/other.comp", shader("inFolder"));
    folder.file("lib/wgsl.wgsl", "fn inModule() {}\n");
    folder.file("target/copy.comp", shader("inCopy"));
    folder.file("lib/broken.comp", "#version 450\nfloat inBroken(float x) { return y; }\nvoid main() {}\n");
    let mut client = Client::start_in(&folder.0);
    let names = |client: &mut Client, query: &str| -> Vec<String> {
        let found = client.ask("workspace/symbol", json!({ "query": query }));
        found.as_array().unwrap().iter().map(|symbol| symbol["name"].as_str().unwrap().into()).collect()
    };
    let mut found = names(&mut client, "in");
    found.retain(|name| name != "main");
    assert_eq!(found, ["inManifest", "inBroken", "inFolder", "inModule"]);
    folder.file("lib/other.comp", shader("inNewVersion"));
    assert_eq!(names(&mut client, "inNew"), ["inNewVersion"]);
    assert!(names(&mut client, "inFolder").is_empty());
    let uri = client.open(&folder.0.join("shaders/named.comp"));
    let text = shader("inManifest");
    let at = text.find("inManifest").unwrap();
    client.edit(&uri, at..at + "inManifest".len(), "inEditor");
    assert_eq!(names(&mut client, "inEd"), ["inEditor"]);
    assert!(names(&mut client, "inManifest").is_empty());
    client.stop();
}

/// A formatter that writes a fixed text.
fn formatter(folder: &Folder, text: &str) -> Value {
    let path = folder.0.join(folder.file("formatted", text));
    json!(["cat", path.to_str().unwrap()])
}

#[test]
fn a_formatter_moves_white_space_alone() {
    let folder = Folder::new("lsp-format");
    let text = "#version 450\n#extension GL_CROSSLANE_portable:require\n#define TWICE(x)  ((x)*2)\nvoid main( ){int a=TWICE(1);}\n";
    let wanted = "#version 450\n#extension GL_CROSSLANE_portable:require\n#define TWICE(x)  ((x)*2)\nvoid main() {\n    int a = TWICE(1);\n}\n";
    let made = wanted.replace("portable:require", "portable : require").replace("((x)*2)", "((x) * 2)");
    let formats = |formatters: Value| {
        let mut client = Client::start(json!({ "formatters": formatters }));
        let uri = client.open_text("file:///nowhere/a.comp", "glsl", text);
        let options = json!({ "tabSize": 4, "insertSpaces": true });
        let response =
            client.response("textDocument/formatting", json!({ "textDocument": { "uri": uri }, "options": options }));
        client.stop();
        response
    };
    let response = formats(json!({ "glsl": formatter(&folder, &made) }));
    let mut found = text.to_string();
    for edit in response["result"].as_array().unwrap_or_else(|| panic!("{response}")).iter().rev() {
        let range = offset(text, &edit["range"]["start"])..offset(text, &edit["range"]["end"]);
        found.replace_range(range, edit["newText"].as_str().unwrap());
    }
    assert_eq!(found, wanted);
    let said = |response: &Value| response["error"]["message"].as_str().unwrap_or_default().to_string();
    let other = formats(json!({ "glsl": formatter(&folder, "void main() {}\n") }));
    assert!(said(&other).contains("more than white space"), "{other}");
    let missing = formats(json!({ "glsl": "no-such-formatter" }));
    assert!(said(&missing).contains("cannot find `no-such-formatter`"), "{missing}");
    assert!(said(&formats(json!({ "glsl": ["false"] }))).starts_with("`false`"));
}

#[test]
fn colours_need_no_server() {
    for (name, language) in [("glsl", Language::Glsl), ("wgsl", Language::Wgsl)] {
        let text = serde_json::to_string_pretty(&textmate::grammar(language)).unwrap() + "\n";
        let path = format!("editors/vscode/syntaxes/{name}.tmLanguage.json");
        bless::hold(&path, &text).unwrap_or_else(|why| panic!("{why}"));
    }
    let package = concat!(env!("CARGO_MANIFEST_DIR"), "/editors/vscode/package.json");
    let package: Value = serde_json::from_str(&fs::read_to_string(package).unwrap()).unwrap();
    for grammar in package["contributes"]["grammars"].as_array().unwrap() {
        let path = grammar["path"].as_str().unwrap().trim_start_matches("./");
        let path = format!("{}/editors/vscode/{path}", env!("CARGO_MANIFEST_DIR"));
        let of: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(of["scopeName"], grammar["scopeName"]);
    }
}
