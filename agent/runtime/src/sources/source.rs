//! The traits of a source of tools.

use std::path::PathBuf;

use deskhand_machine::command::{CallResult, ToolSpec};
use deskhand_ui::pattern::matches;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

/// Who has a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolAudience {
    /// The HostAgent.
    Host,
    /// The AppAgents of these applications, as patterns of rules: `libreoffice-*|Thunar`. Empty for all.
    Apps(Vec<String>),
}

/// A tool of a source, under its own name.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnTool {
    /// The specification of the tool. If its name is taken, agents see a name made of the names of source and tool.
    pub spec: ToolSpec,
    /// Who has it.
    pub audience: Vec<ToolAudience>,
}

/// A call of a tool of a source.
#[derive(Debug, Clone, Copy)]
pub struct SourceCall<'a> {
    /// The tool, by its own name.
    pub tool: &'a str,
    /// Its arguments, valid by its schema.
    pub arguments: &'a Map<String, Value>,
    /// `true` if the tool acts, according to the user's settings.
    pub acts: bool,
}

/// A source of tools, not opened.
pub trait ToolSource: Send + Sync + 'static {
    /// Its name: unique among the sources of a session.
    fn name(&self) -> &str;

    /// Returns the display name of the source, for messages: `MCP server weather`.
    fn describe(&self) -> String;

    /// Opens it for one session. `folder` is its own, beside the journal; it exists.
    ///
    /// # Errors
    /// Why it cannot be opened. The session runs without its tools then.
    fn open(&self, folder: PathBuf) -> impl Future<Output = Result<impl OpenSource, String>> + Send;
}

/// An open source.
pub trait OpenSource: Send + Sync + 'static {
    /// Its tools.
    fn tools(&self) -> Vec<OwnTool>;

    /// Returns the problems of the open source, such as a tool that cannot be used.
    fn problems(&self) -> Vec<String>;

    /// Calls a tool. Dropping the future must end the work.
    fn call(&self, call: SourceCall<'_>) -> impl Future<Output = CallResult> + Send;

    /// Releases its resources.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// [`ToolSource`] as a trait object.
pub(super) trait AnySource: Send + Sync {
    fn name(&self) -> &str;
    fn describe(&self) -> String;
    fn open(&self, folder: PathBuf) -> BoxFuture<'_, Result<Box<dyn AnyOpenSource>, String>>;
}

impl<S: ToolSource> AnySource for S {
    fn name(&self) -> &str {
        ToolSource::name(self)
    }

    fn describe(&self) -> String {
        ToolSource::describe(self)
    }

    fn open(&self, folder: PathBuf) -> BoxFuture<'_, Result<Box<dyn AnyOpenSource>, String>> {
        Box::pin(async move {
            let open = ToolSource::open(self, folder).await?;
            let open: Box<dyn AnyOpenSource> = Box::new(open);
            Ok(open)
        })
    }
}

/// [`OpenSource`] as a trait object.
pub(super) trait AnyOpenSource: Send + Sync {
    fn tools(&self) -> Vec<OwnTool>;
    fn problems(&self) -> Vec<String>;
    fn call<'a>(&'a self, call: SourceCall<'a>) -> BoxFuture<'a, CallResult>;
    fn close(&self) -> BoxFuture<'_, ()>;
}

impl<S: OpenSource> AnyOpenSource for S {
    fn tools(&self) -> Vec<OwnTool> {
        OpenSource::tools(self)
    }

    fn problems(&self) -> Vec<String> {
        OpenSource::problems(self)
    }

    fn call<'a>(&'a self, call: SourceCall<'a>) -> BoxFuture<'a, CallResult> {
        Box::pin(OpenSource::call(self, call))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(OpenSource::close(self))
    }
}

/// Returns `true` if a name is among patterns.
pub(super) fn is_among(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}
