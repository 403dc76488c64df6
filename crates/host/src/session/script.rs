//! A script that goes on after the replies that it has given already.

use deskhand_core::{
    record::Record,
    session::{Effect, Event},
};
use deskhand_model::AnyModel;
use deskhand_runtime::SessionFolder;

use super::SessionError;

/// Lets a script skip the replies that the journal holds; other models need no such thing.
///
/// # Errors
/// The journal cannot be read, or the script is not the one that the session was begun with.
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
