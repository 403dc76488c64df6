//! A tool as its own file sees it: its context, what it returns, and the traits that the registry calls.

use std::pin::Pin;

use deskhand_desktop::{CancelScope, Desktop, DesktopError, Picture};
use deskhand_desktop_act::{ActLimits, ActionReport, PermittedDesktop};
use deskhand_machine::{
    command::{CallResult, CallStatus, ToolListingLevel, ToolSpec},
    intent::Does,
    policy::PathRoots,
};
use deskhand_ui::{
    PictureRef, WindowInfo,
    action::{ActionRoute, CallReport, Cancellation, Verdict},
    ids::WindowId,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{camera::PictureProcessor, journal::SessionFolder};

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
