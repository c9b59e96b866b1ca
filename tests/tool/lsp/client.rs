//! A client for `crosslane lsp`: it sends a script's messages and waits for the server's answers.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
    /// The last diagnostics for each file, with the version that they are for.
    pub published: BTreeMap<String, (Option<i64>, Vec<Value>)>,
    /// How often diagnostics for some file arrived.
    pub publications: usize,
    /// The open texts, with their versions.
    pub open: BTreeMap<String, (i64, String)>,
}

impl Client {
    /// A server that has not received anything yet.
    pub fn spawn() -> Client {
        let mut server = Command::new(env!("CARGO_BIN_EXE_crosslane"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
        let (published, open) = (BTreeMap::new(), BTreeMap::new());
        Client { server, input, output, next: 0, published, publications: 0, open }
    }

    pub fn start(settings: Value) -> Client {
        let mut client = Client::spawn();
        client.initialize(settings);
        client
    }

    /// A client whose workspace is a folder.
    pub fn start_in(folder: &Path) -> Client {
        let mut client = Client::spawn();
        let folders = json!([{ "uri": format!("file://{}", folder.display()), "name": "all" }]);
        client.initialize_with(json!({ "workspaceFolders": folders }));
        client
    }

    pub fn initialize(&mut self, settings: Value) {
        self.initialize_with(json!({ "initializationOptions": settings }));
    }

    fn initialize_with(&mut self, mut params: Value) {
        params["processId"] = Value::Null;
        params["capabilities"] = json!({ "general": { "positionEncodings": ["utf-8", "utf-16"] } });
        let answer = self.ask("initialize", params);
        assert_eq!(answer["capabilities"]["positionEncoding"], "utf-8");
        self.tell("initialized", json!({}));
    }

    fn send(&mut self, message: &Value) {
        self.send_bytes(&framed(message));
    }

    pub fn send_bytes(&mut self, bytes: &str) {
        self.input.write_all(bytes.as_bytes()).unwrap();
        self.input.flush().unwrap();
    }

    pub fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server is gone");
            match line.trim().split_once(": ") {
                Some(("Content-Length", number)) => length = number.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).unwrap();
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        if message["method"] == "textDocument/publishDiagnostics" {
            let params = &message["params"];
            let list = params["diagnostics"].as_array().unwrap().clone();
            let uri = params["uri"].as_str().unwrap().to_string();
            self.published.insert(uri, (params["version"].as_i64(), list));
            self.publications += 1;
        }
        message
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The whole response to a request.
    pub fn response(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.answer(&id.into())
    }

    /// The response to the request of that number.
    pub fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == *id {
                return message;
            }
        }
    }

    /// The result of a request that must succeed.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let response = self.response(method, params);
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    pub fn open(&mut self, path: &Path) -> String {
        let language = path.extension().unwrap().to_str().unwrap();
        let language = if matches!(language, "wgsl" | "toml") { language } else { "glsl" };
        let text = fs::read_to_string(path).unwrap();
        self.open_text(&uri(path), language, &text)
    }

    pub fn open_text(&mut self, uri: &str, language: &str, text: &str) -> String {
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
        self.open.insert(uri.into(), (1, text.into()));
        uri.into()
    }

    /// Replaces bytes of an open text.
    pub fn edit(&mut self, uri: &str, range: std::ops::Range<usize>, new: &str) {
        let (version, text) = self.open.get_mut(uri).unwrap();
        let range_in_lines = json!({ "start": position(text, range.start), "end": position(text, range.end) });
        text.replace_range(range, new);
        *version += 1;
        let document = json!({ "uri": uri, "version": *version });
        let change = json!({ "range": range_in_lines, "text": new });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
    }

    /// The diagnostics for the newest version of an open text.
    pub fn diagnostics(&mut self, uri: &str) -> Vec<Value> {
        let version = self.open[uri].0;
        while self.published.get(uri).is_none_or(|(of, _)| *of != Some(version)) {
            self.receive();
        }
        self.published[uri].1.clone()
    }

    /// The position of the `n`th occurrence of some text, `skip` bytes into it, as parameters of a request.
    pub fn at(&self, uri: &str, text: &str, n: usize, skip: usize) -> Value {
        let all = &self.open[uri].1;
        let offset = all.match_indices(text).nth(n).unwrap_or_else(|| panic!("no {text} number {n}")).0 + skip;
        json!({ "textDocument": { "uri": uri }, "position": position(all, offset) })
    }

    /// The text of a range.
    pub fn text(&self, uri: &str, range: &Value) -> String {
        let all = self.open.get(uri).map(|(_, text)| text.clone());
        let all = all.unwrap_or_else(|| fs::read_to_string(uri.strip_prefix("file://").unwrap()).unwrap());
        all[offset(&all, &range["start"])..offset(&all, &range["end"])].to_string()
    }

    pub fn stop(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.tell("exit", Value::Null);
        assert!(self.server.wait().unwrap().success());
    }
}

/// A message with its header.
pub fn framed(message: &Value) -> String {
    let text = message.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len())
}

pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// The position of a byte, columns in bytes.
pub fn position(text: &str, offset: usize) -> Value {
    let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    json!({ "line": text[..offset].matches('\n').count(), "character": offset - start })
}

pub fn offset(text: &str, position: &Value) -> usize {
    let line = position["line"].as_u64().unwrap() as usize;
    let start = text.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
    start + position["character"].as_u64().unwrap() as usize
}
