//! Describes actions that wait for approval: the names behind their ids.

use serde::Serialize;

use super::{
    effect::Effect,
    state::{Session, SessionStage, StepPhase},
};
use crate::{command::ToolCommand, observation::Observation};

/// A command that waits for approval, with names for its ids.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedAction {
    /// The command.
    pub command: ToolCommand,
    /// Its target, if the agent was shown it: `push button "Save"`.
    pub target: Option<String>,
    /// The application it would act on; `None` for commands on the desktop.
    pub application: Option<String>,
}

impl Session {
    /// The commands that currently wait for approval, in order.
    pub fn planned(&self) -> Vec<PlannedAction> {
        let Some(Effect::AwaitApproval { approval }) = self.next().map(|record| &record.effect) else {
            return Vec::new();
        };
        let commands = approval.commands.iter();
        let planned = |command: &ToolCommand, target: Option<String>, seen: Option<&Observation>| {
            let application = if let Some(Observation::Window(view)) = seen {
                view.surfaces.first().map(|surface| surface.window.app.name.clone())
            } else {
                None
            };
            PlannedAction { command: command.clone(), target, application }
        };
        match self.stage() {
            SessionStage::Host(StepPhase::Parked(acting, _)) => commands
                .map(|command| planned(command, acting.target_of(command), Some(acting.observation())))
                .collect(),
            SessionStage::App(_, StepPhase::Parked(acting, _)) => commands
                .map(|command| planned(command, acting.target_of(command), Some(acting.observation())))
                .collect(),
            SessionStage::Idle
            | SessionStage::Host(_)
            | SessionStage::App(..)
            | SessionStage::Delegated(_)
            | SessionStage::Evaluating(_)
            | SessionStage::Done(_)
            | SessionStage::Over => commands.map(|command| planned(command, None, None)).collect(),
        }
    }
}
