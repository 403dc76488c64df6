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

use std::pin::Pin;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deskhand_core::{command::ToolSpec, ids::WindowId, ui::PictureRef};
use rmcp::{
    model::{ContentBlock, JsonObject, Tool as Definition},
    service::{RequestContext, RoleServer},
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::OwnedMutexGuard;

use super::server::Server;
use crate::desk::Desk;

/// A call of a tool.
pub(super) struct Called {
    pub(super) server: Server,
    pub(super) context: RequestContext<RoleServer>,
}

/// What a call returns.
#[derive(Default)]
pub(super) struct Answer {
    pub(super) content: Vec<ContentBlock>,
    /// Whether what was asked was not done, or not all of it.
    pub(super) failed: bool,
}

impl Answer {
    fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ContentBlock::text(text)], failed: false }
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
trait Tool: DeserializeOwned + JsonSchema + Send + 'static {
    /// Its name.
    const NAME: &'static str;
    /// Whether it changes nothing.
    const ONLY_READS: bool;

    /// Runs it.
    ///
    /// # Errors
    /// What went wrong and what to do, for a model.
    fn run(self, called: Called) -> impl Future<Output = Result<Answer, String>> + Send;
}

type Running = Pin<Box<dyn Future<Output = Result<Answer, String>> + Send>>;

/// A tool that can be called.
pub(super) struct Entry {
    pub(super) tool: Definition,
    pub(super) run: fn(Called, JsonObject) -> Running,
}

impl Entry {
    fn of<T: Tool>() -> Self {
        let (schema, description) = schema::<T>();
        let annotations = rmcp::model::ToolAnnotations::new().read_only(T::ONLY_READS);
        let tool = Definition::new(T::NAME, description, schema).with_annotations(annotations);
        Self {
            tool,
            run: |called, arguments| {
                Box::pin(async move {
                    let arguments: T = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
                        format!("the arguments are not those of `{}`: {error}; nothing was done", T::NAME)
                    })?;
                    arguments.run(called).await
                })
            },
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
pub(super) fn all(app_tools: &[ToolSpec]) -> Vec<Entry> {
    vec![
        Entry::of::<start_desktop::StartDesktop>(),
        Entry::of::<desktops::Desktops>(),
        Entry::of::<windows::Windows>(),
        Entry::of::<open::Open>(),
        Entry::of::<look::Look>(),
        Entry::of::<act::Act>().with(&act::tools(app_tools)),
        Entry::of::<screenshot::Screenshot>(),
        Entry::of::<end_desktop::EndDesktop>(),
        Entry::of::<run_task::RunTask>(),
    ]
}

/// The schema of arguments, without what says nothing to a model, and the description of their tool.
fn schema<T: JsonSchema>() -> (JsonObject, String) {
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

impl Called {
    /// The desktop that is meant, held until the call is done, and its name.
    async fn desk(&self, name: Option<&str>) -> Result<(String, OwnedMutexGuard<Desk>), String> {
        self.server.desks().hold(name).await
    }
}

/// The window that is meant: by its id, or the one that the client works in, or the only one.
fn window_of(desk: &Desk, id: Option<&str>) -> Result<WindowId, String> {
    match id {
        Some(id) => id
            .trim()
            .parse()
            .map_err(|_| format!("`{id}` is not the id of a window, such as w1; `windows` lists them")),
        None => desk
            .window()
            .or(match desk.desktop.windows.as_slice() {
                [only] => Some(only.id),
                _ => None,
            })
            .ok_or_else(|| "say which `window` is meant; `windows` lists them".to_owned()),
    }
}
