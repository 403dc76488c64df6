//! Continues a script after the replies that it has already given.

use deskhand_machine::{
    record::JournalRecord,
    session::{Effect, SessionEvent},
};
use deskhand_model::{AnyModel, ModelTeam};
use deskhand_runtime::SessionFolder;

use super::SessionError;

/// Makes the scripts among the models skip the replies that the journal has of them. Other models are unaffected.
///
/// # Errors
/// The journal cannot be read, or the script differs from the one that the session was started with.
pub(super) fn skip_answered(team: &ModelTeam, folder: &SessionFolder) -> Result<(), SessionError> {
    let script = |name: &str| team.members().find(|(one, _)| *one == name).map(|(_, model)| model);
    let mut asked = None;
    let mut refused = None;
    folder.read_lines(&mut |line| match &line.record {
        JournalRecord::Effect(record) => {
            asked = if let Effect::Ask { request } = &record.effect { Some(request.clone()) } else { None };
        }
        JournalRecord::Event(record) => {
            if let (SessionEvent::Replied { reply, .. }, None) = (&record.event, &refused)
                && let Some(AnyModel::Script(script)) = script(reply.by.as_deref().unwrap_or(team.usual()))
            {
                refused = script.resume(asked.take().as_ref()).err();
            }
        }
        JournalRecord::Header(_) | JournalRecord::Changed(_) => {}
    })?;
    refused.map_or(Ok(()), |failure| Err(SessionError::Script(Box::new(failure))))
}
