//! The tool registry: names, schemas, and dispatch.

use std::{collections::BTreeMap, marker::PhantomData, sync::Arc};

use deskhand_desktop::{Desktop, Natives};
use deskhand_desktop_act::{ActLimits, PermittedDesktop};
use deskhand_machine::{
    command::{CallResult, ToolCommand, ToolSpec},
    intent::take_declarations,
    known_tools::{RECALL, RUN_WORKFLOW},
    policy::{PathRoots, Policy},
};
use deskhand_secret::Secrets;
use deskhand_ui::{action::Verdict, secret::SecretPermit};
use serde_json::{Map, Value};

use super::{
    documents,
    files::{self, FileSettings},
    links::follow,
    private::admit,
    run_workflow::{Caller, RunWorkflow, Workflows},
    tool::{Answer, AnyTool, Tool, ToolContext, failed, result_of},
    warrant::Warrant,
};
use crate::{camera::PictureProcessor, sources::EnabledSources};

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
