//! The tool registry: names, schemas, and dispatch.

use std::{collections::BTreeMap, marker::PhantomData, pin::Pin, sync::Arc};

use deskhand_desktop::{CancelScope, Desktop, DesktopError, Natives, Picture};
use deskhand_desktop_act::{ActLimits, ActionReport, PermittedDesktop};
use deskhand_machine::{
    command::{CallResult, CallStatus, ToolCommand, ToolListingLevel, ToolSpec},
    intent::{Does, take_declarations},
    known_tools::{RECALL, RUN_WORKFLOW},
    policy::{PathRoots, Policy},
};
use deskhand_secret::Secrets;
use deskhand_ui::{
    PictureRef, WindowInfo,
    action::{ActionRoute, CallReport, Cancellation, Verdict},
    ids::WindowId,
    secret::SecretPermit,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    documents,
    files::{self, FileSettings},
    links::follow,
    private::admit,
    run_workflow::{Caller, RunWorkflow, Workflows},
    warrant::Warrant,
};
use crate::{camera::PictureProcessor, journal::SessionFolder, sources::EnabledSources};

/// The context of a tool call.
pub struct ToolContext<'a, D: Desktop> {
    /// The desktop. What an input goes to is read once more just before it, and shown to the rules.
    pub desktop: &'a PermittedDesktop<'a, D>,
    /// The window of the calling agent; `None` for the HostAgent.
    pub window: Option<WindowId>,
    /// Limits of the actions.
    pub limits: ActLimits,
    /// The folders that paths are relative to.
    pub places: &'a PathRoots,
    /// The session that the call belongs to; `None` outside of one.
    pub session: Option<&'a SessionFolder>,
    /// The camera that stores pictures of the session; `None` outside of one.
    pub(crate) camera: Option<&'a PictureProcessor>,
}

/// The rules and context of a call.
pub(crate) struct Circumstances<'a> {
    /// The rules in force.
    pub(crate) policy: &'a Policy,
    /// The folders that paths are relative to.
    pub(crate) places: &'a PathRoots,
    /// The places where secrets may be typed.
    pub(crate) secrets: &'a [SecretPermit],
    /// The camera that stores pictures of the session that the call belongs to.
    pub(crate) camera: Option<&'a PictureProcessor>,
}

impl<D: Desktop> ToolContext<'_, D> {
    /// The window of the calling agent.
    ///
    /// # Errors
    /// [`ToolError::Reply`] for the HostAgent, which has none.
    pub fn window(&self) -> Result<WindowId, ToolError> {
        self.window.ok_or_else(|| ToolError::Reply("this tool requires the window of an AppAgent".to_owned()))
    }

    /// Keeps a picture in the session, enlarged where it is small and made smaller where it is larger than pictures may be.
    /// [`ToolOutput::picture`] shows it to the agent.
    ///
    /// # Errors
    /// [`ToolError::Reply`] outside of a session, or if it cannot be stored.
    pub async fn keep_picture(&self, picture: Picture) -> Result<PictureRef, ToolError> {
        let nowhere = || ToolError::Reply("pictures are kept in sessions only".to_owned());
        let camera = self.camera.ok_or_else(nowhere)?;
        camera.keep_zoomed(picture).await.map_err(ToolError::Reply)
    }
}

/// The output of a tool. An action of `deskhand_desktop_act` converts into it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// The verdict; for a tool that only reads, `seen` if it read.
    pub effect: Verdict,
    /// Which way it went; `None` if nothing was sent.
    pub route: Option<ActionRoute>,
    /// The report of what happened, as data.
    pub report: CallReport,
    /// The window that it opened, activated or closed.
    pub window: Option<WindowInfo>,
    /// Data that it returns; null if none.
    pub output: Value,
    /// A picture for the agent's next question ([`ToolContext::keep_picture`]).
    pub picture: Option<PictureRef>,
}

impl ToolOutput {
    /// Creates the output of a tool that reads, with a message for model and person. Expectations are matched with
    /// the output, not with the message.
    pub fn read(message: impl Into<String>, output: Value) -> Self {
        let report = CallReport::text(message);
        Self { effect: Verdict::Seen, route: None, report, window: None, output, picture: None }
    }
}

impl From<ActionReport> for ToolOutput {
    fn from(mut done: ActionReport) -> Self {
        let (window, output) = (done.window.take(), done.output.take());
        let (effect, route) = (done.effect(), done.route());
        Self { effect, route, report: done.into(), window, output, picture: None }
    }
}

/// The result of a tool: what it returns, or an error.
pub type ToolResult = Result<ToolOutput, ToolError>;

/// Why a tool failed.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// An error that the model can react to.
    #[error("{0}")]
    Reply(String),
    /// A desktop failure.
    #[error(transparent)]
    Desktop(#[from] DesktopError),
}

/// A tool. The doc comment of its input type is its description. A tool must not claim effects that it did not observe:
/// it changes the desktop only through actions of `deskhand_desktop_act`, and returns what they report.
pub trait Tool<D: Desktop>: Send + Sync + 'static {
    /// The name: a verb in `snake_case`.
    const NAME: &'static str;
    /// The effect of the tool, for the policy. If undeclared, the tool is judged like a press. Arguments declare
    /// their kind with `#[schemars(extend("x-takes" = "element"))]`, in the words of
    /// [`deskhand_machine::intent::Takes`]: rules see no others.
    const DOES: Does = Does::Other;
    /// The extent of the tool's listing in prompts; every word costs tokens in every request.
    const LISTING: ToolListingLevel = ToolListingLevel::Whole;
    /// The applications whose AppAgents have it, as patterns of rules; empty for all.
    const ONLY_IN: &'static [&'static str] = &[];
    /// The arguments.
    type Input: DeserializeOwned + JsonSchema + Send;

    /// Runs it.
    fn run(input: Self::Input, context: &ToolContext<'_, D>) -> impl Future<Output = ToolResult> + Send;
}

pub(super) type Answer<'a> = Pin<Box<dyn Future<Output = CallResult> + Send + 'a>>;

/// A tool as the registry holds it.
pub(super) trait AnyTool<D: Desktop>: Send + Sync {
    fn spec(&self) -> ToolSpec;
    fn acts(&self) -> bool;
    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a ToolContext<'a, D>) -> Answer<'a>;
}

struct ErasedTool<T>(PhantomData<fn() -> T>);

impl<D: Desktop, T: Tool<D>> AnyTool<D> for ErasedTool<T> {
    fn spec(&self) -> ToolSpec {
        let mut schema = schemars::schema_for!(T::Input).to_value();
        let mut description = String::new();
        let mut takes = Vec::new();
        if let Some(object) = schema.as_object_mut() {
            takes = take_declarations(object);
            if let Some(Value::String(text)) = object.shift_remove("description") {
                description = text;
            }
            object.shift_remove("$schema");
            object.shift_remove("title");
        }
        ToolSpec {
            name: T::NAME.to_owned(),
            description,
            parameters: schema,
            acts: T::DOES.acts(),
            does: T::DOES,
            takes,
            listing: T::LISTING,
            only_in: T::ONLY_IN.iter().map(ToString::to_string).collect(),
            source: None,
        }
    }

    fn acts(&self) -> bool {
        T::DOES.acts()
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a ToolContext<'a, D>) -> Answer<'a> {
        Box::pin(async move {
            let input = match serde_path_to_error::deserialize(Value::Object(arguments.clone())) {
                Ok(input) => input,
                Err(error) => {
                    let (path, cause) = (error.path().to_string(), error.inner().to_string());
                    let place = if path == "." { String::new() } else { format!(" at `{path}`") };
                    let summary = format!("invalid arguments{place}: {cause}; nothing was done");
                    return CallResult::failure(T::DOES.acts().then_some(Verdict::Refused), summary);
                }
            };
            match T::run(input, context).await {
                Ok(output) => result_of(output, T::DOES.acts()),
                Err(error) => failed(error, T::DOES.acts()),
            }
        })
    }
}

/// The result of a tool that failed.
pub(super) fn failed(error: ToolError, acts: bool) -> CallResult {
    let refused = acts.then_some(Verdict::Refused);
    match error {
        ToolError::Reply(reason) => CallResult::failure(refused, reason),
        ToolError::Desktop(DesktopError::Refused(refusal)) => {
            CallResult::failure(refused, format!("refused: {}", refusal.reason()))
        }
        ToolError::Desktop(DesktopError::Cancelled { .. }) => {
            let inputs = CancelScope::current().inputs();
            let effect = if inputs.is_empty() { Verdict::Refused } else { Verdict::Unknown };
            let sentence = Cancellation { inputs, extent: None }.sentence();
            CallResult::failure(acts.then_some(effect), sentence)
        }
        ToolError::Desktop(error) => {
            CallResult::failure(acts.then_some(Verdict::Unknown), format!("failed to {}", error.chain()))
        }
    }
}

/// Converts a report. The step continues only if the effect was seen or cannot be observed.
pub(super) fn result_of(done: ToolOutput, acts: bool) -> CallResult {
    let ToolOutput { effect, route, report, window, output, picture } = done;
    let status = match effect {
        // A step does not go on after a cancellation.
        _ if report.actions().iter().any(|action| action.evidence.is_cancelled()) => CallStatus::Failure,
        Verdict::Seen | Verdict::Unknown => CallStatus::Success,
        Verdict::NotSeen | Verdict::Refused => CallStatus::Failure,
    };
    let effect = acts.then_some(effect);
    CallResult { status, effect, route, report, output, picture, window, elapsed_ms: 0 }
}

/// Two tools with the same name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("register tool `{0}`: the name is taken")]
pub struct DuplicateTool(pub &'static str);

/// The tools of one kind of agent, in prompt order.
pub(crate) struct ToolList<D: Desktop> {
    order: Vec<&'static str>,
    tools: BTreeMap<&'static str, Box<dyn AnyTool<D>>>,
}

impl<D: Desktop> Default for ToolList<D> {
    fn default() -> Self {
        Self { order: Vec::new(), tools: BTreeMap::new() }
    }
}

impl<D: Desktop> ToolList<D> {
    /// Adds a tool.
    pub(crate) fn with<T: Tool<D>>(self) -> Result<Self, DuplicateTool> {
        self.with_any(T::NAME, Box::new(ErasedTool::<T>(PhantomData)))
    }

    /// Adds a tool that is declared as data.
    fn with_any(mut self, name: &'static str, tool: Box<dyn AnyTool<D>>) -> Result<Self, DuplicateTool> {
        if self.tools.insert(name, tool).is_some() {
            return Err(DuplicateTool(name));
        }
        self.order.push(name);
        Ok(self)
    }

    fn specs(&self) -> Vec<ToolSpec> {
        self.order.iter().filter_map(|name| self.tools.get(name)).map(|tool| tool.spec()).collect()
    }
}

/// All tools of the HostAgent and of AppAgents.
pub struct Toolbox<D: Desktop> {
    pub(crate) host: ToolList<D>,
    pub(crate) app: ToolList<D>,
    /// Limits of every action.
    pub limits: ActLimits,
    pub(crate) secrets: Secrets,
    pub(crate) sources: EnabledSources,
}

impl<D: Desktop> Toolbox<D> {
    /// The same with secrets that actions type by their names. The desktop must hide them
    /// ([`Veiled`](deskhand_desktop_act::Veiled)).
    #[must_use]
    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// The same with sources of more tools, which are opened with each session.
    #[must_use]
    pub fn with_sources(self, sources: EnabledSources) -> Self {
        Self { sources, ..self }
    }

    /// The tools of the HostAgent.
    pub fn host_specs(&self) -> Vec<ToolSpec> {
        self.host.specs()
    }

    /// The tools of AppAgents.
    pub fn app_specs(&self) -> Vec<ToolSpec> {
        self.app.specs()
    }

    /// The tool that looks up what a session has read, for agents without a window; none if there is none.
    pub(crate) fn recall_specs(&self) -> Vec<ToolSpec> {
        self.host.specs().into_iter().filter(|tool| tool.name == RECALL).collect()
    }

    /// Adds a tool for AppAgents.
    ///
    /// # Errors
    /// [`DuplicateTool`] when there is one of that name.
    pub fn with_app_tool<T: Tool<D>>(mut self) -> Result<Self, DuplicateTool> {
        self.app = self.app.with::<T>()?;
        Ok(self)
    }

    /// Adds the tools for documents and pages of applications with an interface of their own, as far as the desktop has them.
    ///
    /// # Errors
    /// [`DuplicateTool`] when there is one of the same name.
    pub fn with_natives(mut self, natives: Natives) -> Result<Self, DuplicateTool> {
        let documents = documents::of_documents().filter(|_| natives.documents);
        for tool in documents.chain(documents::of_pages().filter(|_| natives.pages)) {
            self.app = self.app.with_any(tool.name(), Box::new(tool))?;
        }
        Ok(self)
    }

    /// Adds the tools for files, for all agents.
    ///
    /// # Errors
    /// [`DuplicateTool`] when there is one of the same name.
    pub fn with_files(mut self, settings: FileSettings) -> Result<Self, DuplicateTool> {
        let settings = Arc::new(settings);
        for tool in files::all(&settings) {
            self.app = self.app.with_any(tool.name(), Box::new(tool))?;
        }
        for tool in files::all(&settings) {
            self.host = self.host.with_any(tool.name(), Box::new(tool))?;
        }
        Ok(self)
    }

    /// Adds the tool that runs workflows, for HostAgent and AppAgents, if there are any.
    ///
    /// # Errors
    /// [`DuplicateTool`] when there is one of the same name.
    pub fn with_workflows(mut self, workflows: Workflows) -> Result<Self, DuplicateTool> {
        if workflows.offers.is_empty() {
            return Ok(self);
        }
        let host = RunWorkflow { workflows: workflows.clone(), caller: Caller::Host };
        self.host = self.host.with_any(RUN_WORKFLOW, Box::new(host))?;
        self.app =
            self.app.with_any(RUN_WORKFLOW, Box::new(RunWorkflow { workflows, caller: Caller::App }))?;
        Ok(self)
    }

    fn tool(&self, command: &ToolCommand) -> Option<&dyn AnyTool<D>> {
        let list = if command.window.is_some() { &self.app } else { &self.host };
        list.tools.get(command.tool.as_str()).map(Box::as_ref)
    }

    /// Returns `true` if a command changes nothing on the desktop, so that it can be dropped while running.
    pub(crate) fn only_reads(&self, command: &ToolCommand) -> bool {
        self.tool(command).is_some_and(|tool| !tool.acts())
    }

    /// Runs a command that the gate has cleared. Just before each input the rules of `policy` rule again on what is there.
    /// Failures, including an unknown tool, are in the result.
    pub async fn run(&self, desktop: &D, command: &ToolCommand, policy: &Policy) -> CallResult {
        let places = &PathRoots::default();
        self.run_with(desktop, command, &Circumstances { policy, places, secrets: &[], camera: None }).await
    }

    /// The same for a command that may type one of the secrets. The rules rule again on the files that paths lead to by links.
    pub(crate) async fn run_with(
        &self,
        desktop: &D,
        command: &ToolCommand,
        circumstances: &Circumstances<'_>,
    ) -> CallResult {
        let Circumstances { policy, places, secrets, camera } = *circumstances;
        let Some(tool) = self.tool(command) else {
            return CallResult::failure(None, format!("unknown tool `{}`", command.tool));
        };
        if let Err(why) = follow(command, policy, places).await {
            return CallResult::failure(tool.acts().then_some(Verdict::Refused), why);
        }
        if let Err(why) = admit(command, policy, places).await {
            return CallResult::failure(tool.acts().then_some(Verdict::Refused), why);
        }
        let warrant = Warrant::new(command, policy).with_secrets(secrets, &self.secrets);
        let permitted = PermittedDesktop::new(desktop, &warrant, command.window);
        let context = ToolContext {
            desktop: &permitted,
            window: command.window,
            limits: self.limits,
            places,
            session: camera.map(PictureProcessor::folder),
            camera,
        };
        tool.run(&command.arguments, &context).await
    }
}
