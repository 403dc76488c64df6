//! What a person is told of an action that waits for approval: the names behind its ids.

use serde::Serialize;

use super::{
    effect::Effect,
    state::{Phase, Session, Stage},
};
use crate::{command::Command, observation::Observation};

/// One command that waits for approval, with what its ids stand for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedAction {
    /// What would be run.
    pub command: Command,
    /// What it is about, where it names something that the agent was shown: `push button "Save"`.
    pub target: Option<String>,
    /// The application that it would be done in; none for what is done to the desktop.
    pub application: Option<String>,
}

impl Session {
    /// The commands that wait for approval now, in order; empty when none do.
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
            Stage::Host(Phase::Parked(replied, _)) => commands
                .map(|command| planned(command, replied.target_of(command), Some(&replied.observation)))
                .collect(),
            Stage::App(_, Phase::Parked(replied, _)) => commands
                .map(|command| planned(command, replied.target_of(command), Some(&replied.observation)))
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
