//! `deskhand resume`: a session goes on after it was stopped, or its process died.

use deskhand_core::{
    record::Record,
    session::{Effect, Event},
};
use deskhand_model::AnyModel;
use deskhand_runtime::{HeldSession, HoldError, JournalError, SessionFolder, people::Request};

use super::{
    configuration::load,
    session::SessionPlan,
    store::{find, store_of},
};
use crate::{
    args::ResumeArgs,
    exit::{CliError, CommandResult},
    output::{Output, Stream},
};

pub(crate) async fn resume(args: &ResumeArgs) -> CommandResult {
    let loaded = load(args.work.overrides())?;
    let store = store_of(&loaded.config);
    let folder = find(&store, &args.session)?;
    let held = take(folder)?;
    let request = args.request.as_deref().map(str::trim).filter(|request| !request.is_empty());
    let mut plan = SessionPlan::going_on(&args.work, &loaded, &held)?;
    plan.screenshot.clone_from(&args.screenshot);
    plan.requests = request.map(Request::from).into_iter().collect();
    if !held.in_round() && plan.requests.is_empty() {
        let state = if held.has_ended() { "has ended" } else { "waits for a request" };
        return Err(CliError::new(format!("session {} {state}: there is nothing to go on with", held.id()))
            .with_help(format!("give it a request: deskhand resume {} \"…\"", args.session)));
    }
    if let Some(record) = held.cut_off() {
        let words = format!("record {record} was cut off when the process died; it is removed");
        Output::to(Stream::Error).text(words);
    }
    plan.carry_on(held, /*same_script*/ args.work.model.model.is_none()).await
}

/// Takes a session, with the way out where it cannot be had.
pub(super) fn take(folder: SessionFolder) -> Result<HeldSession, CliError> {
    let name = folder.name();
    HeldSession::take(folder, &mut |_| ()).map_err(|error| {
        let shown = CliError::from_error(&error);
        match &error {
            HoldError::Journal(JournalError::InUse { .. }) => {
                shown.with_help("wait until it ends, or stop it with Ctrl-C where it runs")
            }
            HoldError::Changed { .. } => {
                shown.with_help(format!("`deskhand verify {name}` names all that was changed"))
            }
            HoldError::Fold { seq, .. } => shown.with_help(format!(
                "another version of Deskhand wrote it; go on with that one, or fork the session before that record: \
                 `deskhand fork {name} --at {}`",
                seq.saturating_sub(1)
            )),
            HoldError::Journal(_) => shown,
        }
    })
}

/// Lets a script go on after the replies that it gave already; a model that only looks at what it is asked needs no
/// such thing.
///
/// # Errors
/// The journal cannot be read, or the script is not the one that the session was begun with.
pub(super) fn catch_up(model: &AnyModel, folder: &SessionFolder) -> Result<(), CliError> {
    let AnyModel::Script(script) = model else { return Ok(()) };
    let mut asked = None;
    let mut refused = None;
    let read = folder.read_lines(&mut |line| match &line.record {
        Record::Effect(record) => {
            asked = if let Effect::Ask { request } = &record.effect { Some(request.clone()) } else { None };
        }
        Record::Event(record) if matches!(record.event, Event::Replied { .. }) && refused.is_none() => {
            refused = script.resume(asked.take().as_ref()).err();
        }
        Record::Event(_) | Record::Header(_) | Record::Changed(_) => {}
    });
    read.map_err(|error| CliError::from_error(&error))?;
    match refused {
        None => Ok(()),
        Some(error) => {
            Err(CliError::new(format!("the script did not give the replies of this session: {error}"))
                .with_help("name the script that goes on from here: `--model script:FILE`"))
        }
    }
}
