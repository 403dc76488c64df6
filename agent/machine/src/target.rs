//! Targets that a HostAgent can choose: windows, and agents without one.

use serde::{Deserialize, Serialize};

use crate::{agent::AgentDefinition, workflow::WorkflowOffer};
use deskhand_ui::{
    AppInfo, WindowInfo, WindowState,
    geometry::{Rect, Screen},
    ids::{AgentId, WindowId},
};

/// Kind of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A window.
    Window,
    /// An agent without a window.
    ThirdPartyAgent,
    /// A workflow, which needs no model.
    Workflow,
}

/// A target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetInfo {
    /// Id, unique across all kinds: `w2`, `a1`, `workflow:order`.
    pub id: String,
    /// Kind of the target.
    pub kind: TargetKind,
    /// Title of a window, name of an agent or a workflow.
    pub name: String,
    /// Properties that only windows have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowTarget>,
}

/// Properties of a target that is a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowTarget {
    /// The display name of its application.
    pub application: String,
    /// The root of its application.
    pub root: String,
    /// The process that owns it, if the window names it.
    pub process: Option<u32>,
    /// Its client area.
    pub bounds: Rect<Screen>,
    /// Size state of the window on the screen.
    pub state: WindowState,
    /// `true` if it has the input focus.
    pub active: bool,
    /// The number of its monitor, from 1, where there are several.
    pub monitor: Option<u32>,
}

impl From<&WindowInfo> for TargetInfo {
    fn from(window: &WindowInfo) -> Self {
        let WindowInfo { id, title, app, bounds, state, active, monitor, .. } = window.clone();
        let AppInfo { name: application, root, pid: process } = app;
        let window = WindowTarget { application, root, process, bounds, state, active, monitor };
        Self { id: id.to_string(), kind: TargetKind::Window, name: title, window: Some(window) }
    }
}

/// The targets that the HostAgent can currently assign a sub-task to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TargetRegistry {
    windows: Vec<WindowInfo>,
    /// The dialogs of the windows.
    #[serde(default)]
    dialogs: Vec<WindowInfo>,
    agents: Vec<AgentDefinition>,
    #[serde(default)]
    workflows: Vec<WorkflowOffer>,
}

impl TargetRegistry {
    /// A registry of these agents, without windows.
    pub fn new(agents: Vec<AgentDefinition>) -> Self {
        Self { agents, ..Self::default() }
    }

    /// The same with these workflows.
    #[must_use]
    pub fn with_workflows(self, workflows: Vec<WorkflowOffer>) -> Self {
        Self { workflows, ..self }
    }

    /// Replaces the windows by the current ones.
    pub fn set_windows(&mut self, windows: Vec<WindowInfo>) {
        self.windows = windows;
    }

    /// Replaces the dialogs of the windows by the current ones.
    pub fn set_dialogs(&mut self, dialogs: Vec<WindowInfo>) {
        self.dialogs = dialogs;
    }

    /// The dialogs of a window, bottom-most first.
    pub fn dialogs_of(&self, window: WindowId) -> impl Iterator<Item = &WindowInfo> {
        self.dialogs.iter().filter(move |dialog| dialog.owner == Some(window))
    }

    /// Adds or updates a window.
    pub fn add_window(&mut self, window: WindowInfo) {
        self.windows.retain(|known| known.id != window.id);
        self.windows.push(window);
    }

    /// The windows, bottom-most first.
    pub fn windows(&self) -> &[WindowInfo] {
        &self.windows
    }

    /// The agents.
    pub fn agents(&self) -> &[AgentDefinition] {
        &self.agents
    }

    /// The workflows.
    pub fn workflows(&self) -> &[WorkflowOffer] {
        &self.workflows
    }

    /// The workflow with this id, such as `workflow:order`.
    pub fn workflow(&self, id: &str) -> Option<&WorkflowOffer> {
        let name = WorkflowOffer::name_in(id)?;
        self.workflows.iter().find(|offer| offer.name == name)
    }

    /// The window with this id.
    pub fn window(&self, id: WindowId) -> Option<&WindowInfo> {
        self.windows.iter().find(|window| window.id == id)
    }

    /// The agent with this id.
    pub fn agent(&self, id: AgentId) -> Option<&AgentDefinition> {
        self.agents.iter().find(|agent| agent.id == id)
    }

    /// Every target, windows first.
    pub fn targets(&self) -> Vec<TargetInfo> {
        let windows = self.windows.iter().map(TargetInfo::from);
        let agents = self.agents.iter().map(|agent| TargetInfo {
            id: agent.id.to_string(),
            kind: TargetKind::ThirdPartyAgent,
            name: agent.name.clone(),
            window: None,
        });
        let workflows = self.workflows.iter().map(|offer| TargetInfo {
            id: offer.target_id(),
            kind: TargetKind::Workflow,
            name: offer.name.clone(),
            window: None,
        });
        windows.chain(agents).chain(workflows).collect()
    }
}
