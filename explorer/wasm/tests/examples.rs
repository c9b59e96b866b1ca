//! The examples of the explorer's page, by the functions that the page calls: an output on every profile or a reason, lines for
//! each operation, and runs as every machine's instructions.

use crosslane_explorer::Session;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The reasons for which a profile may refuse an example.
const REASONS: &[&str] = &[
    "lacks nv-shuffle",
    "lacks shuffle",
    "lacks quad or shuffle",
    "lacks clustered",
    "lacks ballot",
    "which needs SPIR-V 1.3",
    "has no compute shaders before version",
];
const STAGE: &str = "fragment shaders are not supported on AMD targets, in PTX and in the simulator yet";

fn ask(session: &mut Session, question: &Value) -> Value {
    let answer: Value = serde_json::from_str(&session.answer(&question.to_string())).expect("JSON");
    assert!(answer.get("error").is_none_or(Value::is_null), "{question}: {answer}");
    answer
}

/// The examples: file, text, and what the page knows of each.
fn examples() -> Vec<(String, String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let index: Vec<Value> = serde_json::from_str(&read("index.json")).expect("JSON");
    let file = |row: &Value| row["file"].as_str().expect("a file").to_owned();
    index.into_iter().map(|row| (file(&row), read(&file(&row)), row)).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn profiles(session: &mut Session) -> Vec<String> {
    let choices = ask(session, &json!({ "ask": "profiles" }));
    list(&choices["profiles"]).iter().map(|profile| profile["name"].as_str().expect("a name").into()).collect()
}

#[test]
fn examples_have_an_output_on_every_profile_or_a_reason() {
    let session = &mut Session::default();
    let profiles = profiles(session);
    let examples = examples();
    assert!(examples.len() >= 10 && profiles.len() > 50);
    for (file, text, _) in &examples {
        let opened = ask(session, &json!({ "ask": "open", "name": file, "text": text, "profiles": profiles }));
        let (mut written, mut unmarked) = (0, Vec::new());
        for output in list(&opened["outputs"]) {
            let profile = output["profile"].as_str().expect("a name");
            if output["text"].is_string() {
                written += 1;
                unmarked.extend(without_lines(&opened, output).into_iter().map(|n| (n, profile.to_owned())));
            } else {
                let why = output["refused"].as_str().unwrap_or_default();
                assert!(
                    why.starts_with(STAGE) || REASONS.iter().any(|reason| why.contains(reason)),
                    "{file} on {profile}: {why}"
                );
            }
        }
        assert!(written > 20, "{file} has {written} outputs");
        // These say why.
        for (operation, profile) in unmarked {
            ask(session, &json!({ "ask": "open", "name": file, "text": text, "profiles": [profile] }));
            let explained = ask(session, &json!({ "ask": "explain", "operation": operation }));
            let words = explained["html"].as_str().expect("a text");
            assert!(words.contains("o lines of its own"), "{file}: operation {operation} on {profile}: {words}");
        }
    }
}

/// The numbers of the operations that have a price and no line.
fn without_lines(opened: &Value, output: &Value) -> Vec<usize> {
    let marked = |n: usize| list(&output["marks"]).iter().any(|mark| list(&mark[1]).contains(&json!(n)));
    let number = list(&opened["outputs"]).iter().position(|other| other == output).expect("it is one of them");
    let operations = list(&opened["operations"]).iter().enumerate();
    let takes = |operation: &Value| {
        let price = operation["prices"][number].as_str().unwrap_or_default();
        price.split(' ').next().and_then(|count| count.parse::<u32>().ok()).is_some_and(|count| count > 0)
    };
    operations.filter(|(n, operation)| takes(operation) && !marked(*n)).map(|(n, _)| n).collect()
}

#[test]
fn examples_leave_the_same_numbers_as_every_machines_instructions() {
    let session = &mut Session::default();
    let machines = ["spirv-1.6", "nv-hopper", "gfx1100-wave32", "ptx-sm80", "wgsl"];
    for (file, text, row) in examples().iter().filter(|(file, ..)| !file.ends_with(".frag")) {
        ask(session, &json!({ "ask": "open", "name": file, "text": text, "profiles": machines }));
        let groups = row.get("groups").cloned().unwrap_or(json!([1, 1, 1]));
        let run = |profile: &&str| {
            let run = json!({
                "ask": "run", "profile": profile, "lanes": 32, "groups": groups, "fills": row["fills"], "push": "",
                "types": {}, "shown": 1000,
            });
            let ran = ask(session, &run);
            assert_eq!(ran["fault"], Value::Null, "{file} on {profile}");
            list(&ran["buffers"]).iter().map(|buffer| (buffer["before"].clone(), buffer["after"].clone())).collect()
        };
        let all: Vec<Vec<(Value, Value)>> = machines.iter().map(run).collect();
        assert!(all[0].iter().any(|(before, after)| before != after), "{file} leaves its buffers alone");
        assert!(all.iter().all(|left| *left == all[0]), "{file}: {all:#?}");
    }
}

#[test]
fn positions_count_the_units_of_javascript() {
    let session = &mut Session::default();
    let text = "#version 450\n// \u{1f642}\u{e4}\nvoid main() { wrong = 1; }\n";
    let open = json!({ "ask": "open", "name": "a.comp", "text": text, "profiles": ["spirv-1.6"] });
    let message = &ask(session, &open)["messages"][0];
    let units: Vec<u16> = text.encode_utf16().collect();
    let at = |key: &str| message[key].as_u64().expect("a number") as usize;
    assert_eq!(String::from_utf16(&units[at("from")..at("to")]).expect("text"), "wrong");
    let hover = ask(session, &json!({ "ask": "hover", "at": at("from") + 1 }));
    assert!(hover.is_null(), "{hover}");
}

#[test]
fn wrong_questions_have_an_error() {
    let session = &mut Session::default();
    let open = json!({ "ask": "open", "name": "a.txt", "text": "", "profiles": ["spirv-1.6"] }).to_string();
    let unknown = json!({ "ask": "open", "name": "a.comp", "text": "", "profiles": ["none"] }).to_string();
    for question in ["", "{}", r#"{"ask":"check"}"#, &open, &unknown] {
        let answer: Value = serde_json::from_str(&session.answer(question)).expect("JSON");
        assert!(answer["error"].is_string(), "{question}: {answer}");
    }
}
