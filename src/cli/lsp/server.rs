//! The main loop of the server and its state: open texts and their shaders.

use super::documents::{Document, Documents, Overlay, path_of};
use super::format::Formatters;
use super::inbox::{Inbox, Received};
use super::project::{MANIFEST, Projects, Shader};
use super::workspace::Workspace;
use super::{answers, publish};
use crate::build::files::FileLoader;
use crate::compile::Input;
use crate::editor::{Analysis, Source};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeConfiguration, DidChangeTextDocument, DidChangeWatchedFiles, DidChangeWorkspaceFolders,
    DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument, Exit, LogMessage, Notification as _,
};
use lsp_types::request::{Request as _, Shutdown};
use lsp_types::{
    DidChangeConfigurationParams, DidChangeTextDocumentParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, LogMessageParams, MessageType, Uri,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// The time after a change within which another one is likely.
const QUIET: Duration = Duration::from_millis(20);

/// The channel to the client.
pub type Outbox = Sender<Message>;

/// An open shader as it was read.
pub struct Known {
    pub shader: Shader,
    pub analysis: Arc<Analysis>,
}

/// The server.
pub struct Server<'a> {
    outbox: Outbox,
    pub is_utf8: bool,
    pub documents: Documents,
    pub formatters: Formatters,
    projects: Projects,
    pub workspace: Workspace,
    /// The profiles that the command line names.
    profiles: &'a [String],
    /// The shaders that are up to date with their text.
    known: BTreeMap<PathBuf, Known>,
    /// The last version without errors of each open shader.
    good: BTreeMap<PathBuf, Arc<Analysis>>,
    /// Texts whose messages in the editor may be from an earlier version.
    pub unpublished: BTreeSet<PathBuf>,
    /// When the last change is as old as [`QUIET`].
    settled: Instant,
    /// The files that each text's messages are about.
    pub published: BTreeMap<PathBuf, publish::Published>,
}

impl<'a> Server<'a> {
    pub fn new(outbox: Outbox, is_utf8: bool, profiles: &'a [String], settings: Option<&Value>) -> Server<'a> {
        let mut server = Server {
            outbox,
            is_utf8,
            documents: Documents::default(),
            formatters: Formatters::default(),
            projects: Projects::default(),
            workspace: Workspace::default(),
            profiles,
            known: BTreeMap::new(),
            good: BTreeMap::new(),
            unpublished: BTreeSet::new(),
            settled: Instant::now(),
            published: BTreeMap::new(),
        };
        server.configure(settings.unwrap_or(&Value::Null));
        server
    }

    /// Applies the editor's settings: `profiles` and `formatters`, at top level or under `crosslane`.
    fn configure(&mut self, settings: &Value) {
        self.formatters = Formatters::of(settings);
        let list = settings.pointer("/crosslane/profiles").or_else(|| settings.get("profiles"));
        let names = list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let chosen: Vec<&str> = names.collect();
        let own = self.profiles.iter().map(String::as_str);
        self.projects.set_profiles(if chosen.is_empty() { own.collect() } else { chosen }.into_iter());
        self.forget_all();
    }

    /// Answers requests until the client exits or disconnects.
    pub fn run(mut self, inbox: &mut Inbox) {
        while let Some(received) = self.next(inbox) {
            match received {
                Received::Message(Message::Request(request)) if request.method == Shutdown::METHOD => {
                    self.send(Response::new_ok(request.id, Value::Null));
                    return self.wait_for_exit(inbox);
                }
                Received::Message(Message::Request(request)) => self.request(request),
                Received::Message(Message::Notification(of)) if of.method == Exit::METHOD => return,
                Received::Message(Message::Notification(notification)) => self.notification(notification),
                Received::Message(Message::Response(_)) => {}
                other => refuse(&self.outbox, other),
            }
        }
    }

    /// The next message. While the client is idle, it gets the messages about changed texts.
    fn next(&mut self, inbox: &mut Inbox) -> Option<Received> {
        if self.unpublished.is_empty() {
            return inbox.next();
        }
        inbox.before(self.settled).or_else(|| {
            publish::publish(self);
            inbox.next()
        })
    }

    fn wait_for_exit(&self, inbox: &mut Inbox) {
        while let Some(received) = inbox.next() {
            match received {
                Received::Message(Message::Notification(of)) if of.method == Exit::METHOD => return,
                Received::Message(Message::Request(of)) => {
                    let why = format!("`{}` comes after `shutdown`", of.method);
                    self.send(Response::new_err(of.id, ErrorCode::InvalidRequest as i32, why));
                }
                _ => {}
            }
        }
    }

    /// Sends a message. A client that has disconnected gets nothing.
    pub fn send(&self, message: impl Into<Message>) {
        let _ = self.outbox.send(message.into());
    }

    fn request(&mut self, request: Request) {
        let (id, method) = (request.id, request.method);
        let response = match answers::answer(self, &method, request.params) {
            Some(Ok(result)) => Response::new_ok(id, result),
            Some(Err(why)) => Response::new_err(id, ErrorCode::RequestFailed as i32, why),
            None => Response::new_err(id, ErrorCode::MethodNotFound as i32, format!("`{method}` is not supported")),
        };
        self.send(response);
    }

    fn notification(&mut self, Notification { method, params }: Notification) {
        self.settled = Instant::now() + QUIET;
        match method.as_str() {
            DidOpenTextDocument::METHOD => self.with(params, Server::opened),
            DidChangeTextDocument::METHOD => self.with(params, Server::changed),
            DidCloseTextDocument::METHOD => self.with(params, Server::closed),
            DidChangeConfiguration::METHOD => {
                self.with(params, |server, params: DidChangeConfigurationParams| server.configure(&params.settings));
            }
            DidChangeWorkspaceFolders::METHOD => {
                self.with(params, |server, params: DidChangeWorkspaceFoldersParams| {
                    server.workspace.change(params.event)
                });
            }
            DidSaveTextDocument::METHOD | DidChangeWatchedFiles::METHOD => {
                self.projects.forget();
                self.forget_all();
            }
            _ => {}
        }
    }

    /// Handles a notification. A malformed one is ignored.
    fn with<P: DeserializeOwned>(&mut self, params: Value, act: impl FnOnce(&mut Self, P)) {
        if let Ok(params) = serde_json::from_value(params) {
            act(self, params);
        }
    }

    fn opened(&mut self, DidOpenTextDocumentParams { text_document: of }: DidOpenTextDocumentParams) {
        let path = path_of(&of.uri);
        let document = Document { uri: of.uri, language: of.language_id, text: of.text.into(), version: of.version };
        self.documents.open.insert(path, document);
        // Other shaders may include it.
        self.forget_all();
    }

    fn changed(&mut self, params: DidChangeTextDocumentParams) {
        let path = path_of(&params.text_document.uri);
        self.documents.change(&path, params.text_document.version, params.content_changes, self.is_utf8);
        self.forget(&path);
    }

    fn closed(&mut self, params: DidCloseTextDocumentParams) {
        let path = path_of(&params.text_document.uri);
        self.documents.open.remove(&path);
        self.good.remove(&path);
        publish::withdraw(self, &path);
        self.forget_all();
    }

    fn forget_all(&mut self) {
        self.known.clear();
        self.unpublished.extend(self.documents.open.keys().cloned());
    }

    /// Drops the results for a text in every shader that includes it. A manifest affects all shaders.
    fn forget(&mut self, path: &Path) {
        if is_manifest(path) {
            return self.forget_all();
        }
        let name = path.to_string_lossy();
        let reads = |known: &Known| known.analysis.files().any(|file| **file == *name);
        let stale: Vec<PathBuf> =
            self.known.iter().filter(|(_, known)| reads(known)).map(|(path, _)| path.clone()).collect();
        for path in stale.into_iter().chain([path.to_path_buf()]) {
            self.known.remove(&path);
            self.unpublished.insert(path);
        }
    }

    /// Parses an open shader, if it changed since the last time.
    pub fn read(&mut self, path: &Path) -> Option<&Known> {
        if !self.known.contains_key(path) {
            let shader = self.projects.shader(path, &self.documents)?;
            let overlay = self.overlay(&shader);
            let analysis = Arc::new(Analysis::after(&source(&shader, &overlay), self.good.get(path).cloned()));
            self.good.extend(analysis.good().map(|good| (path.to_path_buf(), good)));
            self.known.insert(path.to_path_buf(), Known { shader, analysis });
        }
        self.known.get(path)
    }

    /// Reads a shader that is not open.
    pub fn read_closed(&mut self, path: &Path) -> Option<Known> {
        let shader = self.projects.closed_shader(path, &self.documents)?;
        let analysis = Arc::new(Analysis::new(&source(&shader, &self.overlay(&shader))));
        Some(Known { shader, analysis })
    }

    /// The shader that gives a text its meaning: an open one that includes it, otherwise itself.
    pub fn root(&mut self, path: &Path) -> Option<PathBuf> {
        let others: Vec<PathBuf> = self.documents.open.keys().filter(|other| *other != path).cloned().collect();
        let own = self.projects.shader(path, &self.documents)?;
        if !own.is_header {
            return Some(path.to_path_buf());
        }
        let name = path.to_string_lossy();
        let includes = |server: &mut Self, other: &PathBuf| {
            server
                .read(other)
                .is_some_and(|known| !known.shader.is_header && known.analysis.files().any(|file| **file == *name))
        };
        let includer = others.into_iter().find(|other| includes(self, other));
        Some(includer.unwrap_or_else(|| path.to_path_buf()))
    }

    /// All open shaders that contain a file, each with its analysis.
    pub fn readers(&mut self, file: &str) -> Vec<PathBuf> {
        let open: Vec<PathBuf> = self.documents.open.keys().cloned().collect();
        let reads = |known: &Known| known.analysis.files().any(|name| **name == *file);
        open.into_iter().filter(|path| self.read(path).is_some_and(reads)).collect()
    }

    pub fn get(&self, path: &Path) -> Option<&Known> {
        self.known.get(path)
    }

    pub fn overlay(&self, shader: &Shader) -> Overlay<'_> {
        let files = FileLoader { directories: shader.directories.clone(), ..FileLoader::default() };
        Overlay { documents: &self.documents, files }
    }
}

/// Rejects messages that are not processed: cancelled requests, and bytes that are not a message.
pub fn refuse(outbox: &Outbox, received: Received) {
    let refused = |id: RequestId, code: ErrorCode, why: String| Response::new_err(id, code as i32, why).into();
    let answer: Message = match received {
        Received::Message(_) => return,
        Received::Cancelled(id) => refused(id, ErrorCode::RequestCanceled, "the request was cancelled".into()),
        Received::Unreadable { id: Some(id), why } => refused(id, ErrorCode::InvalidRequest, why),
        Received::Unreadable { id: None, why } => {
            let params = LogMessageParams { typ: MessageType::ERROR, message: format!("crosslane: {why}") };
            Notification::new(LogMessage::METHOD.into(), params).into()
        }
    };
    let _ = outbox.send(answer);
}

/// The shader in the library's form.
pub fn source<'s>(shader: &'s Shader, overlay: &'s Overlay<'_>) -> Source<'s> {
    let input = Input { name: &shader.name, bytes: shader.text.as_bytes(), language: shader.language };
    Source { input, options: &shader.options, loader: overlay, is_header: shader.is_header }
}

pub fn is_manifest(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == MANIFEST)
}

/// The path of a URI.
pub fn path(uri: &Uri) -> PathBuf {
    path_of(uri)
}
