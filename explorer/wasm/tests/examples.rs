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

/// The examples: file, text, and what the page knows of each, with the files that it includes.
fn examples() -> Vec<(String, String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let index: Vec<Value> = serde_json::from_str(&read("index.json")).expect("JSON");
    let file = |row: &Value| row["file"].as_str().expect("a file").to_owned();
    let included = |name: &Value| json!({ "name": name, "text": read(name.as_str().expect("a name")) });
    let whole = |mut row: Value| {
        let names = row.get("includes").map_or(Vec::new(), |names| list(names).to_vec());
        row["files"] = names.iter().map(included).collect();
        (file(&row), read(&file(&row)), row)
    };
    index.into_iter().map(whole).collect()
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
    for (file, text, row) in &examples {
        let opened = ask(
            session,
            &json!({ "ask": "open", "name": file, "text": text, "files": row["files"], "profiles": profiles }),
        );
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
            ask(
                session,
                &json!({ "ask": "open", "name": file, "text": text, "files": row["files"], "profiles": [profile] }),
            );
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
        ask(
            session,
            &json!({ "ask": "open", "name": file, "text": text, "files": row["files"], "profiles": machines }),
        );
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

/// A shader that opens on one profile, with other files and options.
fn opened(session: &mut Session, text: &str, profile: &str, files: &Value, options: &Value) -> Value {
    let question = json!({
        "ask": "open", "name": "a.comp", "text": text, "profiles": [profile], "files": files, "options": options,
    });
    ask(session, &question)
}

#[test]
fn options_are_those_of_the_command() {
    let session = &mut Session::default();
    let text = "#version 450\nlayout(local_size_x = N) in;\nlayout(binding = 0) buffer B { uint x[]; };\n\
        void main() { uint sum = 0u; for (uint i = 0u; i < 4u; i++) sum += i; x[0] = sum; }\n";
    let output = |session: &mut Session, profile: &str, options: &Value| {
        let opened = opened(session, text, profile, &json!([]), options);
        opened["outputs"][0].clone()
    };
    assert!(output(session, "spirv-1.6", &json!({}))["text"].is_null());
    let plain = output(session, "spirv-1.6", &json!({ "defines": ["N=64"] }));
    assert!(plain["text"].as_str().expect("a text").contains("LocalSize 64 1 1"), "{plain}");
    let fast = output(session, "spirv-1.6", &json!({ "defines": ["N=64"], "optimize": "speed" }));
    assert!(fast["text"].as_str().expect("a text").len() < plain["text"].as_str().expect("a text").len());
    let unfit = output(session, "nv-hopper", &json!({ "defines": ["N=64"], "wave": "64" }));
    assert!(unfit["refused"].as_str().expect("a reason").contains("64 lanes"), "{unfit}");
    let wide = output(session, "spirv-1.6", &json!({ "defines": ["N=64"], "wave": "64" }));
    assert!(wide["text"].is_string(), "{wide}");
    let question = json!({
        "ask": "open", "name": "a.comp", "text": text, "profiles": ["wgsl"], "options": { "defines": ["3=1"] },
    });
    let wrong: Value = serde_json::from_str(&session.answer(&question.to_string())).expect("JSON");
    assert_eq!(wrong["error"], "`3` is not a valid macro name");
    let wgsl = "@compute @workgroup_size(1) fn one() {}\n@compute @workgroup_size(2) fn two() {}\n";
    let question = json!({
        "ask": "open", "name": "a.wgsl", "text": wgsl, "profiles": ["ptx-sm80"], "options": { "entry": "two" },
    });
    let entry = ask(session, &question);
    assert!(entry["outputs"][0]["text"].as_str().expect("a text").contains("two"), "{entry}");
}

#[test]
fn files_include_each_other() {
    let session = &mut Session::default();
    let text = "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"lib/sum.glsl\"\n\
        layout(local_size_x = 64) in;\nlayout(binding = 0) buffer B { uint x[]; };\nvoid main() { x[0] = total(x[1]); }\n";
    let sum = "// \u{e4}\n#include \"../size.h\"\nuint total(uint v) { return subgroupAdd(v) + SIZE; }\n";
    let size = "#extension GL_KHR_shader_subgroup_arithmetic : require\n#define SIZE 4u\n";
    let files = json!([{ "name": "lib/sum.glsl", "text": sum }, { "name": "size.h", "text": size }]);
    let found = opened(session, text, "spirv-1.6", &files, &json!({}));
    assert_eq!(found["messages"], json!([]), "{found}");
    assert_eq!(found["files"], json!(["a.comp", "lib/sum.glsl", "size.h"]));
    let operation = &found["operations"][0];
    assert_eq!((&operation["file"], &operation["line"]), (&json!("lib/sum.glsl"), &json!(3)));
    let units: Vec<u16> = sum.encode_utf16().collect();
    let at = |key: &str| operation[key].as_u64().expect("a number") as usize;
    assert_eq!(String::from_utf16(&units[at("from")..at("to")]).expect("text"), "subgroupAdd(v)");
    let hover = ask(session, &json!({ "ask": "hover", "file": "lib/sum.glsl", "at": at("from") + 1 }));
    assert!(hover["text"].as_str().expect("a text").contains("subgroupAdd"), "{hover}");
    let missing = opened(session, text, "spirv-1.6", &json!([]), &json!({}));
    assert!(missing["messages"][0]["text"].as_str().expect("a text").contains("lib/sum.glsl"), "{missing}");
}

fn run(profile: &str, row: &Value) -> Value {
    let groups = row.get("groups").cloned().unwrap_or(json!([1, 1, 1]));
    json!({
        "profile": profile, "lanes": 32, "groups": groups, "fills": row["fills"], "push": "", "types": {}, "shown": 0,
    })
}

#[test]
fn operations_are_shown_step_by_step_on_every_machine() {
    let session = &mut Session::default();
    let machines = ["spirv-1.6", "nv-hopper", "gfx1100-wave32", "gfx942", "ptx-sm80", "wgsl"];
    let mut moved = 0;
    for (file, text, row) in examples().iter().filter(|(file, ..)| !file.ends_with(".frag")) {
        let opened = ask(
            session,
            &json!({ "ask": "open", "name": file, "text": text, "files": row["files"], "profiles": machines }),
        );
        for (operation, profile) in (0..list(&opened["operations"]).len()).flat_map(|n| machines.map(|name| (n, name)))
        {
            let question = json!({ "ask": "steps", "operation": operation, "execution": 0, "run": run(profile, row) });
            let steps = ask(session, &question);
            assert_eq!(steps["fault"], Value::Null, "{file} on {profile}");
            assert!(!list(&steps["executions"]).is_empty(), "{file}: {operation} on {profile} is run");
            let executed = &steps["executed"];
            let active = list(&executed["active"]).iter().map(|lane| *lane == json!(true));
            for row in list(&executed["rows"]) {
                assert_eq!(list(&row["values"]).len(), active.len(), "{file}: {operation} on {profile}: {row}");
                moved += list(&row["sources"]).iter().filter(|source| source.is_number()).count();
            }
            let last = list(&executed["rows"]).last().expect("a row");
            let known = list(&last["values"]).iter().zip(active).filter(|(_, is_active)| *is_active);
            assert!(known.into_iter().any(|(value, _)| value != ""), "{file}: {operation} on {profile}: {last}");
        }
    }
    assert!(moved > 1000, "{moved} values move");
}

#[test]
fn steps_end_with_what_the_operation_gives() {
    let session = &mut Session::default();
    let text = "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 64) in;\n\
        layout(binding = 0) buffer B { uint x[]; };\nvoid main() { uint i = gl_LocalInvocationID.x; if (i < 40u) x[i] = allReduceAdd8(x[i]); }\n";
    for profile in ["spirv-1.6", "nv-hopper", "gfx1100-wave32", "ptx-sm80", "hlsl-6.6"] {
        opened(session, text, profile, &json!([]), &json!({}));
        let row = json!({ "fills": { "0": "iota:u32:64" } });
        let question = |n: u32| json!({ "ask": "steps", "operation": 0, "execution": n, "run": run(profile, &row) });
        let steps = ask(session, &question(0));
        assert_eq!(list(&steps["executions"]).len(), 2, "{steps}");
        let rows = list(&steps["executed"]["rows"]);
        assert!(rows.len() >= 2, "{profile}: {steps}");
        assert_eq!(rows.first().expect("a row")["values"][9], "9", "{profile}");
        assert_eq!(rows.last().expect("a row")["values"][9], "92", "{profile}: {steps}");
        let second = ask(session, &question(1));
        assert_eq!(second["executions"][1]["wave"], 1);
        let active: Vec<bool> = list(&second["executed"]["active"]).iter().map(|lane| *lane == json!(true)).collect();
        assert_eq!(active.iter().filter(|is_active| **is_active).count(), 8, "{profile}");
        let last = list(&second["executed"]["rows"]).last().expect("a row");
        assert_eq!((&last["values"][0], &last["values"][8]), (&json!("284"), &json!("")), "{profile}: {last}");
    }
}

#[test]
fn files_to_save_are_what_the_command_writes() {
    let session = &mut Session::default();
    let (file, text, _) = &examples()[0];
    ask(session, &json!({ "ask": "open", "name": file, "text": text, "profiles": ["spirv-1.6"] }));
    let emit = |session: &mut Session, profile: &str, form: &str| {
        let emitted = ask(session, &json!({ "ask": "emit", "profile": profile, "form": form }));
        let bytes: Vec<u8> = list(&emitted["bytes"]).iter().map(|byte| byte.as_u64().expect("a byte") as u8).collect();
        (emitted["name"].as_str().expect("a name").to_owned(), bytes)
    };
    let (name, bytes) = emit(session, "spirv-1.6", "binary");
    assert_eq!((name.as_str(), &bytes[..4]), ("first-look.spirv-1.6.spv", &[3, 2, 0x23, 7][..]));
    let (name, bytes) = emit(session, "ptx-sm80", "text");
    assert!(name.ends_with(".ptx") && bytes.windows(8).any(|word| word == b".version"), "{name}");
    let (name, bytes) = emit(session, "wgsl", "reflection");
    assert!(name.ends_with(".json") && serde_json::from_slice::<Value>(&bytes).is_ok(), "{name}");
}

#[test]
fn fragment_shaders_are_drawn_with_what_they_bind() {
    let session = &mut Session::default();
    let text = "#version 450\nlayout(location = 0) in vec2 at;\nlayout(location = 0) out vec4 color;\n\
        layout(binding = 1) uniform U { vec2 size; float time; } u;\nlayout(push_constant) uniform P { float k; };\n\
        void main() { color = vec4(at * u.size, u.time, k); }\n";
    let question = json!({ "ask": "open", "name": "a.frag", "text": text, "profiles": ["wgsl"] });
    ask(session, &question);
    let drawing = ask(session, &json!({ "ask": "draw", "lanes": 4, "fills": { "1": "f32:1,2,3,4" } }));
    assert!(drawing["text"].as_str().expect("a text").contains("@fragment"), "{drawing}");
    let one = 1.0_f32.to_bits();
    assert_eq!(drawing["buffers"][0]["words"][1], json!(2.0_f32.to_bits()), "{drawing}");
    assert_eq!((&drawing["buffers"][1]["slot"], &drawing["buffers"][1]["words"]), (&json!("3.0"), &json!([one])));
    let few = json!({ "ask": "draw", "lanes": 4, "fills": { "1": "f32:1" } }).to_string();
    assert!(session.answer(&few).contains("too few"));
}
