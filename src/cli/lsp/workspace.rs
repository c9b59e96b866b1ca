//! The names in shaders that are not open: those that manifests name, and those below the workspace's folders. A file is read
//! again only after it changes.

use super::documents::path_of;
use super::navigate;
use super::project::{MANIFEST, manifest_above};
use super::server::Server;
use crate::build::identity::Stamp;
use crate::build::kind;
use crate::build::walk::{Reach, readable_below};
use crate::cli::build::manifest::Manifest;
use crate::cli::build::search::search;
use lsp_types::{Uri, WorkspaceFoldersChangeEvent, WorkspaceSymbol};
use rustc_hash::FxHashSet;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Folders of generated and of foreign files have no shaders of the workspace.
const REACH: Reach = Reach { depth: Some(16), hidden: false, folders: 2000, without: &["node_modules", "target"] };

/// Shaders that are read without being open.
const FILES: usize = 1000;

/// The time that one request spends on files that were not read yet. The next request continues.
const TIME: Duration = Duration::from_millis(1000);

/// The names that a file declares.
type Symbols = (String, Vec<WorkspaceSymbol>);

/// The folders of the workspace, and what their shaders declare.
#[derive(Default)]
pub struct Workspace {
    folders: Vec<PathBuf>,
    known: BTreeMap<PathBuf, Indexed>,
}

/// A shader that was read: its files with their stamps, and their names.
struct Indexed {
    stamps: Vec<(PathBuf, Option<Stamp>)>,
    symbols: Vec<Symbols>,
}

impl Indexed {
    fn is_current(&self) -> bool {
        self.stamps.iter().all(|(path, stamp)| Stamp::of(path) == *stamp)
    }
}

impl Workspace {
    /// Takes the folders of `initialize`.
    pub fn begin(&mut self, params: &Value) {
        let folders = params.get("workspaceFolders").and_then(Value::as_array);
        let named = folders.into_iter().flatten().filter_map(|folder| folder.get("uri")?.as_str());
        let root = params.get("rootUri").and_then(Value::as_str).filter(|_| folders.is_none());
        let uris = named.chain(root).filter_map(|uri| Uri::from_str(uri).ok());
        self.folders = uris.map(|uri| path_of(&uri)).collect();
    }

    pub fn change(&mut self, event: WorkspaceFoldersChangeEvent) {
        let removed: Vec<PathBuf> = event.removed.iter().map(|folder| path_of(&folder.uri)).collect();
        self.folders.retain(|folder| !removed.contains(folder));
        self.folders.extend(event.added.iter().map(|folder| path_of(&folder.uri)));
    }
}

/// The names in the files of each shader that is not open.
pub fn closed(server: &mut Server<'_>) -> Vec<Vec<Symbols>> {
    let (files, begin) = (files(server), Instant::now());
    let mut all = Vec::new();
    for path in files {
        if !server.workspace.known.get(&path).is_some_and(Indexed::is_current) && begin.elapsed() < TIME {
            let indexed = indexed(server, &path);
            server.workspace.known.insert(path.clone(), indexed);
        }
        all.extend(server.workspace.known.get(&path).map(|indexed| indexed.symbols.clone()));
    }
    all
}

fn indexed(server: &mut Server<'_>, path: &Path) -> Indexed {
    let Some(known) = server.read_closed(path) else {
        return Indexed { stamps: vec![(path.into(), Stamp::of(path))], symbols: Vec::new() };
    };
    let files = || known.analysis.files();
    let stamp = |file: &str| (PathBuf::from(file), Stamp::of(Path::new(file)));
    Indexed {
        stamps: files().map(|file| stamp(file)).collect(),
        symbols: files().map(|file| (file.to_string(), navigate::symbols_of(server, &known, file))).collect(),
    }
}

/// The shaders that are not open. Those of manifests come first.
fn files(server: &Server<'_>) -> Vec<PathBuf> {
    let below: Vec<PathBuf> =
        server.workspace.folders.iter().flat_map(|folder| readable_below(folder, REACH).files).collect();
    let is_manifest = |path: &&PathBuf| path.file_name().is_some_and(|name| name == MANIFEST);
    let above = server.documents.open.keys().filter_map(|path| manifest_above(path));
    let manifests: FxHashSet<PathBuf> = below.iter().filter(is_manifest).cloned().chain(above).collect();
    let mut manifests: Vec<PathBuf> = manifests.into_iter().collect();
    manifests.sort_unstable();
    let named = manifests.iter().flat_map(|manifest| named(server, manifest));
    let mut seen = FxHashSet::default();
    let is_closed = |path: &PathBuf| server.documents.get(path).is_none();
    let all = named.chain(below.iter().filter(|path| kind::of(path).is_some()).cloned());
    all.filter(is_closed).filter(|path| seen.insert(path.clone())).take(FILES).collect()
}

/// The shaders that a manifest names.
fn named(server: &Server<'_>, path: &Path) -> Vec<PathBuf> {
    let text = server.documents.text(path).unwrap_or_default();
    let Ok(manifest) = Manifest::of(path, text.to_string()) else { return Vec::new() };
    let globs = manifest.builds.iter().flat_map(|build| build.shaders.get_ref());
    globs.filter_map(|glob| search(manifest.folder(), glob.get_ref()).ok()).flat_map(|found| found.files).collect()
}
