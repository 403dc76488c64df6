//! The context in which proposals are judged, and how the intent of a command is read in it.

use std::fmt;

use serde::Deserialize as _;
use serde_json::Value;

use super::{grants::Grants, keyboard::may_move_keyboard};
use crate::{
    command::{ToolCommand, ToolSpec},
    intent::{self, Takes},
    observation::Observation,
    policy::{
        PathRoots, Policy, Subject, Texts, ValueContext, chooses_file, enters_at_focus, field_for_dots,
    },
};
use deskhand_ui::{Description, InstalledApplication, NotDescribed, ids::EffectId, secret::SecretPermit};

/// Why the intent of a command was not read.
pub(super) enum IntentReadError {
    /// The target may exist only once the commands before it have run.
    Later,
    /// The intent cannot be read, or the target does not exist.
    Refused(String),
}

/// Context in which a proposal is judged.
pub(super) struct GateContext<'a> {
    /// The rules.
    pub(super) policy: &'a Policy,
    /// Approvals for the session.
    pub(super) grants: &'a Grants,
    /// Observation that the agent received.
    pub(super) observation: &'a Observation,
    /// The tools that it may use.
    pub(super) tools: &'a [ToolSpec],
    /// The applications that may be started without a question.
    pub(super) applications: Option<&'a [InstalledApplication]>,
    /// Permits for typing secrets.
    pub(super) secrets: &'a [SecretPermit],
    /// Folders that paths are relative to.
    pub(super) places: &'a PathRoots,
    /// Texts in which the values of commands are looked up.
    pub(super) texts: &'a dyn Texts,
    /// The id that the approval request would get.
    pub(super) effect: EffectId,
}

impl GateContext<'_> {
    /// The subject of a command whose intent was read, after others of the same step.
    pub(super) fn subject(&self, before: &[ToolCommand], command: &ToolCommand) -> Subject {
        let reading = self.reading(before);
        let subject = Subject::after(before, command, self.observation).among(self.applications);
        subject.with_values(command, &reading)
    }

    /// Returns the context from which the values of a command are read, after others of the same step.
    pub(super) fn reading<'b>(&'b self, before: &'b [ToolCommand]) -> ValueContext<'b> {
        let GateContext { observation, tools, applications, places, texts, .. } = *self;
        ValueContext { tools, before, observation, places, applications, texts }
    }

    /// Reads a command into its intent, after others of the same step. An element that is described gets its id. One that types a
    /// password by its dots gets the field that has the keyboard.
    pub(super) fn read(
        &self,
        before: &[ToolCommand],
        command: &mut ToolCommand,
    ) -> Result<(), IntentReadError> {
        self.resolve(before, command)?;
        intent::read(command, self.tools).map_err(IntentReadError::Refused)?;
        let Some(id) = field_for_dots(command, &self.reading(before)) else {
            return Ok(());
        };
        let argument = command.takes_in(self.tools).iter().find(|(_, takes)| *takes == Takes::Element);
        if let Some((name, _)) = argument {
            command.arguments.insert(name.clone(), Value::String(id.to_string()));
            intent::read(command, self.tools).map_err(IntentReadError::Refused)?;
        }
        Ok(())
    }

    /// Puts the ids of elements in the place of their descriptions, as far as the window shows them. What stands there now is not
    /// what is meant once a command before has gone on to another page or dialog.
    fn resolve(&self, before: &[ToolCommand], command: &mut ToolCommand) -> Result<(), IntentReadError> {
        let Observation::Window(view) = self.observation else { return Ok(()) };
        let goes_on = before.iter().any(|one| one.intent.may_go_on());
        let acts = before.iter().any(|one| one.intent.does.acts());
        if enters_at_focus(command, self.tools) && before.iter().any(|one| may_move_keyboard(one, view)) {
            return Err(IntentReadError::Later);
        }
        for (name, takes) in command.takes_in(self.tools) {
            let Some(value) = command.arguments.get_mut(name) else { continue };
            match takes {
                Takes::Element if value.is_object() => {
                    let refused = |problem: &dyn fmt::Display| {
                        IntentReadError::Refused(format!("`{name}`: {problem}; nothing was done"))
                    };
                    let description =
                        Description::deserialize(&*value).map_err(|problem| refused(&problem))?;
                    match description.find(&view.surfaces) {
                        _ if goes_on => return Err(IntentReadError::Later),
                        Ok(id) => *value = Value::String(id.to_string()),
                        Err(NotDescribed::Empty) => return Err(refused(&NotDescribed::Empty)),
                        Err(_) if acts => return Err(IntentReadError::Later),
                        Err(problem) => return Err(refused(&problem)),
                    }
                }
                Takes::Chosen if goes_on => return Err(IntentReadError::Later),
                Takes::Chosen if !view.surfaces.iter().any(chooses_file) => {
                    let reason = "no dialog for a file is open; press what opens it first; nothing was done";
                    return Err(IntentReadError::Refused(reason.to_owned()));
                }
                Takes::Element
                | Takes::Chosen
                | Takes::Name
                | Takes::Path
                | Takes::Item
                | Takes::Items
                | Takes::Keys
                | Takes::Text
                | Takes::Value
                | Takes::Pasted
                | Takes::Across
                | Takes::Down
                | Takes::Window
                | Takes::Program
                | Takes::Files
                | Takes::File
                | Takes::Address
                | Takes::Question
                | Takes::Accepts
                | Takes::Replaces => {}
            }
        }
        Ok(())
    }
}
