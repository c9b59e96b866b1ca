//! A folder for one test of the command through its binary, and the results of a finished command.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use support::judge;

/// A folder for one test, removed when the test ends.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("crosslane-{}-{}-{name}", std::process::id(), count));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        fs::write(self.0.join(name), text).unwrap();
        name.to_string()
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crosslane"));
        command.current_dir(&self.0).args(args).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        command
    }

    /// Another program's output in this folder and whether it succeeds; `None` if it is missing and not required.
    pub fn say(&self, program: &str, arguments: &[&str]) -> Option<(bool, String)> {
        match Command::new(program).args(arguments).current_dir(&self.0).output() {
            Ok(output) => {
                let text = [output.stdout, output.stderr].concat();
                Some((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
            }
            Err(error) => {
                assert!(!judge::required(), "no {program}: {error}");
                eprintln!("skipped, since there is no {program}: {error}");
                None
            }
        }
    }

    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn status(output: &Output) -> i32 {
    output.status.code().expect("ended by itself")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The text for a shader.
pub fn text(folder: &Folder, shader: &str, profile: &str) -> String {
    let output = folder.run(&["compile", shader, "-p", profile, "-o", "-"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    stdout(&output)
}

/// The reflection of a shader.
pub fn reflection(folder: &Folder, shader: &str, profile: &str) -> serde_json::Value {
    let output = folder.run(&["compile", shader, "-p", profile, "--emit", "reflection", "-o", "-"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).expect("JSON")
}

/// Checks that a text contains each of several parts.
pub fn hold(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

/// The messages for a shader that the profile cannot express; checks that nothing is written.
pub fn refusal(folder: &Folder, shader: &str, profile: &str) -> String {
    let output = folder.run(&["compile", shader, "-p", profile, "-o", "-"]);
    assert_eq!((status(&output), stdout(&output).as_str()), (3, ""), "{}", stderr(&output));
    stderr(&output)
}
