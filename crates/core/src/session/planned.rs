//! Describes actions that wait for approval: the names behind their ids.

use serde::Serialize;

use super::{
    effect::Effect,
    state::{Phase, Session, Stage},
};
use crate::{command::Command, observation::Observation};

/// A command that waits for approval, with names for its ids.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedAction {
    /// The command.
    pub command: Command,
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
        let planned = |command: &Command, target: Option<String>, seen: Option<&Observation>| {
            let application = if let Some(Observation::Window(view)) = seen {
                view.surfaces.first().map(|surface| surface.window.app.name.clone())
            } else {
                None
            };
            PlannedAction { command: command.clone(), target, application }
        };
        match self.stage() {
            Stage::Host(Phase::Parked(acting, _)) => commands
                .map(|command| planned(command, acting.target_of(command), Some(acting.observation())))
                .collect(),
            Stage::App(_, Phase::Parked(acting, _)) => commands
                .map(|command| planned(command, acting.target_of(command), Some(acting.observation())))
                .collect(),
            Stage::Idle
            | Stage::Host(_)
            | Stage::App(..)
            | Stage::Delegated(_)
            | Stage::Evaluating(_)
            | Stage::Done(_)
            | Stage::Over => commands.map(|command| planned(command, None, None)).collect(),
        }
    }
}
