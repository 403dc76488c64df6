//! The tools of the server, one file each.

mod act;
mod desktops;
mod end_desktop;
mod look;
mod open;
mod run_task;
mod screenshot;
mod start_desktop;
mod windows;

use std::{pin::Pin, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deskhand_machine::command::ToolSpec;
use deskhand_ui::{PictureRef, ids::WindowId};
use rmcp::model::{ContentBlock, JsonObject, Tool as Definition, ToolAnnotations};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    desks::DeskLease,
    protocol::McpCall,
    service::DeskService,
    unread::{Reports, UndeliveredReport},
};
use crate::desk::{Desk, Interrupter};

/// The message of a call that repeats one whose answer did not arrive.
const REPEATED: &str = "This call repeats it, so nothing was done now. Look at what is there and call for what is left, or send the same call \
    once more to do all of it again.";

/// A call of a tool.
pub(super) struct McpToolContext {
    pub(super) service: Arc<DeskService>,
    pub(super) call: Arc<McpCall>,
    reports: Reports,
}

impl McpToolContext {
    pub(super) fn new(service: Arc<DeskService>, call: Arc<McpCall>, reports: Reports) -> Self {
        Self { service, call, reports }
    }

    /// The desktop that is meant, held until the call is done. What a call did on it whose answer did not arrive is reported with this one.
    async fn desk(&self, name: Option<&str>) -> Result<DeskLease, String> {
        let mut work = self.service.desks.hold(name, &self.call).await?;
        match work.unread.take() {
            Some(unread) if unread.is_lost() => self.reports_first([unread])?,
            // Its answer is on its way.
            Some(unread) if !unread.is_read() => self.service.desks.add_unread(unread).await,
            Some(_) | None => {}
        }
        Ok(work)
    }

    /// Reports what earlier calls did whose answers did not arrive. One that asks for the same as such a call gets the report alone.
    ///
    /// # Errors
    /// It asks for the same.
    pub(super) fn reports_first(
        &self,
        unread: impl IntoIterator<Item = UndeliveredReport>,
    ) -> Result<(), String> {
        let mut is_repeated = false;
        for unread in unread {
            is_repeated |= unread.is_of(&self.call);
            self.reports.add(unread);
        }
        if is_repeated { Err(REPEATED.to_owned()) } else { Ok(()) }
    }
}

/// The answer of a call.
#[derive(Default)]
pub(super) struct McpToolOutput {
    pub(super) content: Vec<ContentBlock>,
    /// The same for a program.
    pub(super) structured: Option<Value>,
    /// `true` if the request was not carried out, or only in part.
    pub(super) failed: bool,
}

impl McpToolOutput {
    /// A text, with what a program reads of it.
    fn of(text: impl Into<String>, structured: &impl Serialize) -> Self {
        let content = vec![ContentBlock::text(text)];
        Self { content, structured: serde_json::to_value(structured).ok(), failed: false }
    }

    /// The same with a picture.
    fn with_picture(mut self, desk: &Desk, picture: Option<&PictureRef>) -> Result<Self, String> {
        if let Some(picture) = picture {
            let file = desk.picture(picture)?;
            self.content.push(ContentBlock::image(STANDARD.encode(file), picture.media_type.clone()));
        }
        Ok(self)
    }
}

/// A tool: its arguments, and how it is run.
trait McpToolHandler: DeserializeOwned + JsonSchema + Send + 'static {
    /// The structured answer for programs. `text` says the same as the content for people.
    type Output: JsonSchema;
    /// Its name.
    const NAME: &'static str;
    /// `true` if the tool changes nothing.
    const ONLY_READS: bool;
    /// `true` if the tool may be repeated: its effects besides reading are harmless and expected.
    const IS_REPEATABLE: bool = Self::ONLY_READS;
    /// `true` if the tool may change or lose data of the user.
    const IS_DESTRUCTIVE: bool = false;

    /// Runs it.
    ///
    /// # Errors
    /// What went wrong and what to do, for a model.
    fn run(self, called: McpToolContext) -> impl Future<Output = Result<McpToolOutput, String>> + Send;
}

type Running = Pin<Box<dyn Future<Output = Result<McpToolOutput, String>> + Send>>;

/// A tool that can be called.
pub(super) struct McpToolEntry {
    pub(super) name: &'static str,
    pub(super) tool: Definition,
    pub(super) run: fn(McpToolContext, JsonObject) -> Running,
    pub(super) is_repeatable: bool,
}

impl McpToolEntry {
    fn of<T: McpToolHandler>() -> Self {
        let (schema, description) = schema_of::<T>();
        let (output, _) = schema_of::<T::Output>();
        let annotations = ToolAnnotations::new()
            .read_only(T::ONLY_READS)
            .destructive(T::IS_DESTRUCTIVE)
            .idempotent(T::IS_REPEATABLE)
            .open_world(T::IS_DESTRUCTIVE);
        let tool = Definition::new(T::NAME, description, schema)
            .with_annotations(annotations)
            .with_raw_output_schema(Arc::new(output));
        Self {
            name: T::NAME,
            tool,
            run: |called, arguments| {
                Box::pin(async move {
                    let arguments: T = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
                        format!("the arguments are not those of `{}`: {error}; nothing was done", T::NAME)
                    })?;
                    arguments.run(called).await
                })
            },
            is_repeatable: T::IS_REPEATABLE,
        }
    }

    /// The same with more to say.
    fn with(mut self, more: &str) -> Self {
        let description = self.tool.description.take().unwrap_or_default();
        self.tool.description = Some(format!("{description}\n\n{more}").into());
        self
    }
}

/// All tools; `app_tools` are those that `act` runs.
pub(super) fn all(app_tools: &[ToolSpec]) -> Vec<McpToolEntry> {
    vec![
        McpToolEntry::of::<start_desktop::StartDesktop>(),
        McpToolEntry::of::<desktops::Desktops>(),
        McpToolEntry::of::<windows::WindowsToolArgs>(),
        McpToolEntry::of::<open::OpenToolArgs>(),
        McpToolEntry::of::<look::LookToolArgs>(),
        McpToolEntry::of::<act::ActToolArgs>().with(&act::tools(app_tools)),
        McpToolEntry::of::<screenshot::ScreenshotToolArgs>(),
        McpToolEntry::of::<end_desktop::EndDesktop>(),
        McpToolEntry::of::<run_task::RunTask>(),
    ]
}

/// The schema of arguments or of an answer, without what says nothing to a model, and its description.
fn schema_of<T: JsonSchema>() -> (JsonObject, String) {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = schema.to_value().as_object().cloned().unwrap_or_default();
    schema.remove("title");
    let description = schema.remove("description");
    (
        schema,
        description.and_then(|text| text.as_str().map(|text| text.replace('\n', " "))).unwrap_or_default(),
    )
}

/// A text for people, alone.
#[derive(Debug, Serialize, JsonSchema)]
struct TextOutput {
    text: String,
}

/// The windows of a desktop.
#[derive(Debug, Serialize, JsonSchema)]
struct WindowsOutput {
    desktop: String,
    windows: Vec<String>,
    text: String,
}

impl WindowsOutput {
    fn of(work: &DeskLease, text: &str) -> Self {
        let view = &work.desktop;
        let ids = view.windows.iter().chain(&view.dialogs).map(|window| window.id.to_string());
        Self { desktop: work.name.clone(), windows: ids.collect(), text: text.to_owned() }
    }
}

/// The window that is meant: by its id, or the one that the client works in or used last.
fn window_of(desk: &Desk, id: Option<&str>) -> Result<WindowId, String> {
    match id {
        Some(id) => id
            .trim()
            .parse()
            .map_err(|_| format!("`{id}` is not the id of a window, such as w1; `windows` lists them")),
        None => {
            desk.usual_window().ok_or_else(|| "say which `window` is meant; `windows` lists them".to_owned())
        }
    }
}

/// Waits for what is done on a desktop. If the call is cancelled, it is interrupted, and its answer says how far it came.
async fn unless_cancelled<T>(
    call: &McpCall,
    interrupter: &Interrupter,
    acting: impl Future<Output = T>,
) -> T {
    tokio::pin!(acting);
    let _interruption = tokio::select! {
        biased;
        () = call.cancelled() => interrupter.interrupt(),
        done = &mut acting => return done,
    };
    acting.await
}
