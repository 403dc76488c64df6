//! Describes actions that wait for approval: the names behind their ids.

use serde::Serialize;

use super::{
    effect::{Effect, EffectRecord},
    phases::ActingStep,
    run::SessionMachine,
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

/// The commands that currently wait for approval, in order.
pub(super) fn planned(machine: &SessionMachine, pending: Option<&EffectRecord>) -> Vec<PlannedAction> {
    let Some(Effect::AwaitApproval { approval }) = pending.map(|record| &record.effect) else {
        return Vec::new();
    };
    let describe = |command: &ToolCommand| {
        let (target, seen) = match machine {
            SessionMachine::Host(phase) => target_in(phase.parked(), command),
            SessionMachine::App(_, phase) => target_in(phase.parked(), command),
            SessionMachine::Idle
            | SessionMachine::Delegated(_)
            | SessionMachine::Evaluating(_)
            | SessionMachine::Done(_)
            | SessionMachine::Over => (None, None),
        };
        let application = match seen {
            Some(Observation::Window(view)) => {
                view.surfaces.first().map(|surface| surface.window.app.name.clone())
            }
            Some(Observation::Desktop(_) | Observation::Agent(_)) | None => None,
        };
        PlannedAction { command: command.clone(), target, application }
    };
    approval.commands.iter().map(describe).collect()
}

/// The name of a command's target in a step that waits for an approval, and what was seen in it.
fn target_in<'a, R>(
    parked: Option<&'a ActingStep<R>>,
    command: &ToolCommand,
) -> (Option<String>, Option<&'a Observation>) {
    parked.map_or((None, None), |acting| (acting.target_of(command), Some(acting.observation())))
}
