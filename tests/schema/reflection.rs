//! `--emit reflection` against its schema: the reflection of every fixture for a profile of each target is valid, with
//! no key outside the schema, and the schema has no key that never occurs.

use crosslane::backend::reflection::SCHEMA;
use crosslane::compile::{Artifact, EmitKind, Input, Language, Options, Places, Verdict, compile};
use crosslane::ir::Stage;
use crosslane::profile::{Profile, WaveSize};
use crosslane::source::NoIncludes;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use support::fixture;

/// A profile for each target, and the minimum number of fixtures that it supports.
const PROFILES: [(&str, usize); 12] = [
    ("spirv-1.6", 400),
    ("spirv-1.0-opengl", 12),
    ("nv-ampere", 150),
    ("gfx1100-wave32", 100),
    ("wgsl", 150),
    ("ptx-sm80", 100),
    ("glsl-450-khr", 300),
    ("glsl-es-320-khr", 100),
    ("glsl-es-300", 40),
    ("hlsl-5.0", 100),
    ("hlsl-6.5", 150),
    ("msl-3.0", 150),
];

/// The profiles whose reflections have more keys with promises.
const PROMISED: [&str; 4] = ["msl-3.0", "wgsl", "glsl-450-khr", "hlsl-6.5"];

/// Keys that do not occur with any fixture.
const RARE: [&str; 0] = [];

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// The schema without room for more keys.
fn closed(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(object) => {
            object.values_mut().for_each(|value| *value = closed(value.take()));
            if object.get("type") == Some(&json!("object")) {
                object.insert("unevaluatedProperties".into(), false.into());
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| *value = closed(value.take())),
        _ => {}
    }
    schema
}

/// The reflection of a shader, unless the profile refuses it. With `promises` resources are in argument buffers, and subgroups
/// have 32 lanes.
fn reflection(path: &Path, profile: &str, promises: bool) -> Option<Value> {
    let bytes = std::fs::read(path).unwrap();
    let ending = path.extension()?.to_str()?;
    let language = if ending == "wgsl" { Language::Wgsl } else { Language::Glsl };
    let profile = Profile::named(profile).unwrap();
    let options = Options {
        emit: EmitKind::Reflection,
        stage: Stage::named(ending),
        places: Places { argument_buffers: promises, ..Places::default() },
        ..Options::new(if promises { profile.with_wave_size(WaveSize::Fixed(32)) } else { profile })
    };
    match compile(&Input { name: "shader", bytes: &bytes, language }, &options, &NoIncludes).verdict {
        Verdict::Done(Artifact::Text(text)) => Some(serde_json::from_str(&text).unwrap()),
        _ => None,
    }
}

/// The keys of the schema that a value has, as `definition.key`.
fn used(whole: &Value, schema: &Value, name: &str, value: &Value, keys: &mut BTreeSet<String>) {
    if let Some(target) = schema["$ref"].as_str() {
        let name = target.rsplit('/').next().unwrap();
        return used(whole, &whole["$defs"][name], name, value, keys);
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        used(whole, part, name, value, keys);
    }
    for item in value.as_array().into_iter().flatten() {
        used(whole, &schema["items"], name, item, keys);
    }
    for (key, of) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(key) {
            keys.insert(format!("{name}.{key}"));
            used(whole, of, name, value, keys);
        }
    }
}

/// All keys in the schema.
fn named(schema: &Value) -> BTreeSet<String> {
    let definitions = schema["$defs"].as_object().unwrap().iter().map(|(name, of)| (name.as_str(), of));
    let of = |(name, of): (&str, &Value)| -> Vec<String> {
        of["properties"].as_object().unwrap().keys().map(|key| format!("{name}.{key}")).collect()
    };
    definitions.chain([("", schema)]).flat_map(of).collect()
}

/// Facts seen of some fixtures.
#[derive(Default)]
struct Seen {
    counts: BTreeMap<&'static str, usize>,
    keys: BTreeSet<String>,
    wrong: Vec<String>,
}

impl Seen {
    fn add(&mut self, path: &Path, validator: &Validator, schema: &Value) {
        let plain = PROFILES.iter().map(|(profile, _)| (*profile, false));
        for (profile, promises) in plain.chain(PROMISED.map(|profile| (profile, true))) {
            let Some(value) = reflection(path, profile, promises) else { continue };
            *self.counts.entry(profile).or_default() += usize::from(!promises);
            let errors = validator.iter_errors(&value);
            self.wrong.extend(errors.map(|error| format!("{}, {profile}: {error}", path.display())));
            used(schema, schema, "", &value, &mut self.keys);
        }
    }

    fn merge(&mut self, other: Seen) {
        for (profile, count) in other.counts {
            *self.counts.entry(profile).or_default() += count;
        }
        self.keys.extend(other.keys);
        self.wrong.extend(other.wrong);
    }
}

#[test]
fn reflections_are_as_the_schema_says() {
    let schema = schema();
    let validator = jsonschema::validator_for(&closed(schema.clone())).unwrap();
    let folders = fixture::FOLDERS.iter().chain(&["opengl", "scenes", "wgsl"]);
    let paths: Vec<PathBuf> = folders.flat_map(|folder| fixture::files(&format!("fixtures/{folder}"))).collect();
    let mut seen = Seen::default();
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let part = |at: usize| {
            let (paths, validator, schema) = (&paths, &validator, &schema);
            scope.spawn(move || {
                let mut seen = Seen::default();
                paths.iter().skip(at).step_by(threads).for_each(|path| seen.add(path, validator, schema));
                seen
            })
        };
        let parts: Vec<_> = (0..threads).map(part).collect();
        parts.into_iter().for_each(|part| seen.merge(part.join().unwrap()));
    });
    assert!(seen.wrong.is_empty(), "{} reflections:\n{}", seen.wrong.len(), seen.wrong.join("\n"));
    for (profile, least) in PROFILES {
        assert!(seen.counts[profile] >= least, "{profile}: {} fixtures", seen.counts[profile]);
    }
    let missing: Vec<String> = named(&schema).difference(&seen.keys).cloned().collect();
    assert_eq!(missing, RARE, "keys that no reflection has");
}

#[test]
fn the_schema_refuses_what_is_not_a_reflection() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let value = reflection(&support::root().join("fixtures/stages/geometry.geom"), "spirv-1.6", false).unwrap();
    assert!(validator.is_valid(&value));
    let changes: [fn(&mut Value); 5] = [
        |value| value["stage"] = "geom".into(),
        |value| value["inputs"][0]["location"] = (-1).into(),
        |value| drop(value.as_object_mut().unwrap().remove("vulkan")),
        |value| value["schema"] = "crosslane-reflection-2".into(),
        |value| value["workgroup_size"] = json!([1, 1]),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut changed = value.clone();
        change(&mut changed);
        assert!(!validator.is_valid(&changed), "change {at}");
    }
}
