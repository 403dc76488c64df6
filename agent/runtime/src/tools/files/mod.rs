//! Tools for files, without a window: read, list and search, archives, write and move.
//!
//! What is read is hostile, so a helper program reads it: confined, without network, able to read only what it was asked for
//! (`helper`). What is written is written here (`change`), and read back. The policy knows all paths; links are followed and ruled on
//! before a tool runs.

mod change;
mod helper;
mod table;

use std::{fmt, path::PathBuf, sync::Arc};

use deskhand_desktop::Desktop;
use deskhand_machine::{
    command::{CallResult, ToolSpec},
    policy::PathRoots,
};
use deskhand_ui::action::Verdict;
pub use helper::FileSettings;
use serde_json::{Map, Value};

use super::{
    declared::DeclaredTool,
    tool::{Answer, AnyTool, ToolContext},
};

/// A tool for files.
pub(super) struct FileTool {
    declared: &'static DeclaredTool,
    work: FileToolOperation,
    settings: Arc<FileSettings>,
}

/// The operation of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileToolOperation {
    Read,
    List,
    Search,
    ListArchive,
    Unpack,
    Write,
    Move,
}

/// All of them, in prompt order.
pub(super) fn all(settings: &Arc<FileSettings>) -> impl Iterator<Item = FileTool> {
    table::TOOLS.iter().map(|(declared, work)| FileTool {
        declared,
        work: *work,
        settings: Arc::clone(settings),
    })
}

impl FileTool {
    pub(super) const fn name(&self) -> &'static str {
        self.declared.name
    }

    async fn work(&self, given: &FileCallArgs<'_>) -> CallResult {
        match self.work {
            FileToolOperation::Read
            | FileToolOperation::List
            | FileToolOperation::Search
            | FileToolOperation::ListArchive
            | FileToolOperation::Unpack => helper::run(&self.settings, self.work, given).await,
            FileToolOperation::Write => change::write(given).await,
            FileToolOperation::Move => change::rename(given).await,
        }
    }
}

impl<D: Desktop> AnyTool<D> for FileTool {
    fn spec(&self) -> ToolSpec {
        self.declared.spec()
    }

    fn acts(&self) -> bool {
        self.declared.does.acts()
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a ToolContext<'a, D>) -> Answer<'a> {
        Box::pin(async move {
            let acts = self.declared.does.acts();
            let given = FileCallArgs { arguments, places: context.places, acts };
            let known = |name: &String| self.declared.arguments.iter().any(|argument| argument.is(name));
            if let Some(other) = arguments.keys().find(|name| !known(name)) {
                return given.refused(format!("there is no argument `{other}`"));
            }
            let ours = given.paths().into_iter().find(|path| self.settings.is_ours(path));
            if let Some(path) = ours {
                return given.refused(format!(
                    "{} holds keys, secrets or records of Deskhand itself",
                    path.display()
                ));
            }
            self.work(&given).await
        })
    }
}

/// The arguments of a call.
struct FileCallArgs<'a> {
    arguments: &'a Map<String, Value>,
    places: &'a PathRoots,
    acts: bool,
}

impl FileCallArgs<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Value::as_str)
    }

    fn flag(&self, name: &str) -> bool {
        self.arguments.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// An absolute path; `None` if there is none.
    fn path(&self, name: &str) -> Option<PathBuf> {
        let path = self.text(name).filter(|path| !path.trim().is_empty())?;
        self.places.absolute(path).map(PathBuf::from)
    }

    /// All paths that are given.
    fn paths(&self) -> Vec<PathBuf> {
        ["path", "into", "to"].iter().filter_map(|name| self.path(name)).collect()
    }

    fn refused(&self, why: impl fmt::Display) -> CallResult {
        CallResult::failure(self.acts.then_some(Verdict::Refused), format!("{why}; nothing was done"))
    }

    fn failed(&self, why: String) -> CallResult {
        CallResult::failure(self.acts.then_some(Verdict::Unknown), why)
    }
}
