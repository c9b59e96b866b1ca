//! NVIDIA's PTX assembler, and the handling of a missing one.

use crate::judge;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The oldest architecture that the assembler supports; PTX for older ones is assembled for it.
const OLDEST: u32 = 50;
/// The newest architecture on which texts are tried.
const NEWEST: u32 = 120;

thread_local! {
    /// Texts with their architectures, to be assembled together: starting the assembler takes longer than most kernels.
    static QUEUE: RefCell<Vec<(String, u32)>> = const { RefCell::new(Vec::new()) };
}

/// Puts a text into this thread's queue, under unique names.
pub fn queue(text: &str, symbol: &str, sm: u32) {
    QUEUE.with_borrow_mut(|queue| {
        let n = queue.len();
        let text = text.replace(&format!(".entry {symbol}("), &format!(".entry kernel_{n}("));
        queue.push((text.replace("shared_memory", &format!("shared_{n}")), sm));
    });
}

/// Assembles the texts in this thread's queue, each for its own architecture and for the newest. Warnings of the
/// assembler are errors, and so is local memory that a text does not declare.
pub fn assemble_queue() -> Result<(), String> {
    let queue = QUEUE.take();
    let assembler = match judge::need("bin/ptxas") {
        Ok(path) => path,
        Err(why) if judge::required() => return Err(why),
        Err(why) => {
            static ONCE: Once = Once::new();
            ONCE.call_once(|| eprintln!("skipped: {why}"));
            return Ok(());
        }
    };
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let folder = format!("crosslane-ptx-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(folder);
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let done = in_groups(&assembler, &folder, &queue);
    drop(std::fs::remove_dir_all(&folder));
    done
}

fn in_groups(assembler: &Path, folder: &Path, queue: &[(String, u32)]) -> Result<(), String> {
    let mut groups: Vec<((u32, bool), Vec<PathBuf>)> = Vec::new();
    for (n, (text, sm)) in queue.iter().enumerate() {
        let path = folder.join(format!("{n}.ptx"));
        std::fs::write(&path, text).map_err(|e| e.to_string())?;
        for sm in [(*sm).max(OLDEST), NEWEST] {
            let key = (sm, text.contains(".local"));
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, paths)) => paths.push(path.clone()),
                None => groups.push((key, vec![path.clone()])),
            }
        }
    }
    groups.into_iter().try_for_each(|((sm, declares_memory), paths)| {
        run(assembler, sm, declares_memory, &paths).map_err(|why| {
            let at = paths.iter().position(|path| why.contains(&*path.to_string_lossy()));
            let text = at.and_then(|at| std::fs::read_to_string(&paths[at]).ok()).unwrap_or_default();
            format!("{why}\n{text}")
        })
    })
}

fn run(assembler: &Path, sm: u32, declares_memory: bool, paths: &[PathBuf]) -> Result<(), String> {
    let mut command = Command::new(assembler);
    command.arg(format!("-arch=sm_{sm}")).args(["-O1", "-o", "/dev/null"]).args(paths);
    if !declares_memory {
        command.args(["-warn-lmem-usage", "-warn-spills"]);
    }
    let output = command.output().map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() && said.trim().is_empty() { Ok(()) } else { Err(format!("ptxas for sm_{sm}: {said}")) }
}
