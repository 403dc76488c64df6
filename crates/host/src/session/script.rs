//! Continues a script after the replies that it has already given.

use deskhand_core::{
    record::Record,
    session::{Effect, Event},
};
use deskhand_model::AnyModel;
use deskhand_runtime::SessionFolder;

use super::SessionError;

/// Makes a script skip the replies that the journal contains. Other models are unaffected.
///
/// # Errors
/// The journal cannot be read, or the script differs from the one that the session was started with.
pub(super) fn skip_answered(model: &AnyModel, folder: &SessionFolder) -> Result<(), SessionError> {
    let AnyModel::Script(script) = model else { return Ok(()) };
    let mut asked = None;
    let mut refused = None;
    folder.read_lines(&mut |line| match &line.record {
        Record::Effect(record) => {
            asked = if let Effect::Ask { request } = &record.effect { Some(request.clone()) } else { None };
        }
        Record::Event(record) if matches!(record.event, Event::Replied { .. }) && refused.is_none() => {
            refused = script.resume(asked.take().as_ref()).err();
        }
        Record::Event(_) | Record::Header(_) | Record::Changed(_) => {}
    })?;
    refused.map_or(Ok(()), |failure| Err(SessionError::Script(failure)))
}
