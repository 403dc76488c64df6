//! Passwords that a model writes in clear: from the reply on that types one into a field for passwords, dots stand for it.
//!
//! The runtime asks [`Session::conceal`](super::Session::conceal) before it records a reply. What is recorded and applied has the dots,
//! and where the session has the password in clear already ([`TypedPassword::at`]), so that a replay hides it in the same texts without
//! knowing it.
//!
//! A text whose field is not known yet is withheld in the same way. Once another look shows its field,
//! [`Session::disclose`](super::Session::disclose) tells which texts are passwords; the others are recorded in clear then, before
//! anything is decided by them.

use serde_json::Value;

use super::{
    app_agent::AppAgent,
    app_view::read_app_reply,
    entries::{CommandTextEntry, entries_in, entries_of, is_typable},
    event::{EventRecord, SessionEvent},
    hiding::{self, Values, concealed_text, disclosed_reply, places},
    ledgers::Ledgers,
    password::{ConcealedTexts, DisclosedText, KeptTexts, SessionTextSpan, TypedPassword},
    phases::ObservedStep,
};
use crate::{
    agent::SubtaskWorker, command::ToolCommand, model::ModelReply, observation::Observation,
    policy::PasswordPlace,
};
use deskhand_ui::{Role, WindowView};

/// Puts dots in place of the passwords that a reply types into fields for them, and of the texts that may be passwords because their
/// field is not known yet. Returns those that have no dots so far.
pub(super) fn conceal(
    ledgers: &Ledgers,
    (worker, observed): (SubtaskWorker, &ObservedStep),
    reply: &mut ModelReply,
    kept: &KeptTexts<'_>,
) -> ConcealedTexts {
    let mut concealed = ConcealedTexts::default();
    let Observation::Window(view) = &observed.observation else { return concealed };
    // A text that was withheld may have a field by now.
    let plain = disclosed_reply(&reply.text, &ledgers.passwords.withheld_values(kept));
    let text = plain.as_ref().unwrap_or(&reply.text);
    let entries = match read_app_reply(ledgers, worker, observed, text) {
        Ok(decision) => entries_of(ledgers, worker, &observed.observation, &decision),
        Err(_) => CommandTextEntry::in_invalid(text, view),
    };
    let mut values: Values = Vec::new();
    // Those whose field is known come first: the same text elsewhere has the same dots.
    let (known, unknown): (Vec<CommandTextEntry>, Vec<CommandTextEntry>) =
        entries.into_iter().filter(|entry| is_typable(&entry.text)).partition(|one| one.place.is_some());
    for CommandTextEntry { text, written, place } in known.into_iter().chain(unknown) {
        let dots = match values.iter().find(|(_, one)| *one == text) {
            Some((dots, _)) => Some(dots.clone()),
            None => {
                // Keys that turn out to go elsewhere are pressed as they were written.
                let kept_as = written.as_ref().filter(|_| place.is_none()).unwrap_or(&text).clone();
                dots_for(ledgers, &kept_as, place, (worker, view), kept, &mut concealed)
            }
        };
        if let Some(dots) = dots {
            let hidden = [Some(text), written].into_iter().flatten();
            values.extend(hidden.map(|text| (dots.clone(), text)));
        }
    }
    if let Some(plain) = plain {
        reply.text = plain;
    }
    if !values.is_empty() {
        let hidden = |dots: &String| {
            let mut found = concealed.passwords.iter().map(|(password, _)| password);
            let password = found.find(|one| one.dots == *dots).or_else(|| ledgers.passwords.typed(dots));
            let withheld = || values.iter().any(|(one, value)| one == dots && !is_shown(view, value));
            password.map_or_else(withheld, |one| one.everywhere)
        };
        reply.text = concealed_text(&reply.text, &values, &hidden);
        // They may say a password in any form, and nothing is decided by them.
        reply.reasoning.clear();
    }
    concealed
}

/// The dots that stand for a text from now on; `None` if too many texts are withheld already.
fn dots_for(
    ledgers: &Ledgers,
    value: &str,
    place: Option<PasswordPlace>,
    (worker, view): (SubtaskWorker, &WindowView),
    kept: &KeptTexts<'_>,
    concealed: &mut ConcealedTexts,
) -> Option<String> {
    let passwords = &ledgers.passwords;
    let kept = (kept.dots_of)(value).filter(|dots| passwords.is_known(dots));
    let new = || passwords.new_dots(concealed.passwords.len().saturating_add(concealed.withheld.len()));
    match (kept, place) {
        (Some(dots), None) => Some(dots),
        (Some(dots), Some(place)) if passwords.is_typed_into(&dots, &place) => Some(dots),
        (None, None) if passwords.is_full() => None,
        (None, None) => {
            let dots = new();
            concealed.withheld.push((dots.clone(), value.to_owned()));
            Some(dots)
        }
        (kept, Some(place)) => {
            // One that was typed elsewhere gets other dots there; one that was withheld keeps its own.
            let is_withheld = |dots: &String| passwords.typed(dots).is_none();
            let dots = kept.filter(is_withheld).unwrap_or_else(new);
            let password = password(ledgers, dots.clone(), value, place, (worker, view));
            concealed.passwords.push((password, value.to_owned()));
            Some(dots)
        }
    }
}

fn password(
    ledgers: &Ledgers,
    dots: String,
    value: &str,
    place: PasswordPlace,
    (worker, view): (SubtaskWorker, &WindowView),
) -> TypedPassword {
    TypedPassword {
        dots,
        everywhere: !is_shown(view, value),
        at: standing(ledgers, worker, value),
        application: place.application,
        host: place.host,
        from: place.from,
    }
}

/// Returns the event that discloses withheld texts according to another look, with the values of those that are
/// passwords. The event has to be applied before the look. `None` if nothing changes.
pub(super) fn disclose(
    ledgers: &Ledgers,
    (worker, waits): (SubtaskWorker, &[ToolCommand]),
    observation: &Observation,
    kept: &KeptTexts<'_>,
) -> Option<(SessionEvent, Vec<(TypedPassword, String)>)> {
    let Observation::Window(view) = observation else { return None };
    let values = ledgers.passwords.withheld_values(kept);
    let mut waiting = waits.to_vec();
    hiding::disclose(&mut waiting, &values);
    let used = |(dots, _): &&(String, String)| {
        waits.iter().any(|one| one.arguments.values().any(|value| has_text(value, dots)))
    };
    let mut entries = entries_in(ledgers, worker, observation, waiting);
    let (mut texts, mut passwords) = (Vec::new(), Vec::new());
    for (dots, value) in values.iter().filter(used) {
        let is_it = |one: &CommandTextEntry| one.text == *value || one.written.as_ref() == Some(value);
        let known = entries.iter_mut().find(|one| is_it(one) && one.place.is_some());
        match known.and_then(|entry| Some((entry.place.take()?, entry.text.clone()))) {
            Some((place, text)) => {
                let password = password(ledgers, dots.clone(), &text, place, (worker, view));
                passwords.push((password, text));
            }
            None if entries.iter().any(is_it) => {}
            None => texts.push(DisclosedText { dots: dots.clone(), text: value.clone() }),
        }
    }
    let found = passwords.iter().map(|(password, _)| password.clone()).collect::<Vec<_>>();
    let is_news = !texts.is_empty() || !found.is_empty();
    is_news.then_some((SessionEvent::Disclosed { texts, passwords: found }, passwords))
}

/// The texts of the session that may have a password in clear.
pub(super) fn standing_texts(ledgers: &Ledgers, worker: Option<SubtaskWorker>) -> Vec<&str> {
    let app = worker.and_then(|worker| ledgers.agents.app(worker));
    let given = app.into_iter().flat_map(AppAgent::given);
    ledgers.people.texts().chain(given).collect()
}

fn standing(ledgers: &Ledgers, worker: SubtaskWorker, value: &str) -> Option<SessionTextSpan> {
    let texts = standing_texts(ledgers, Some(worker));
    texts.iter().enumerate().find_map(|(text, words)| {
        let start = places(words, value).next()?;
        Some(SessionTextSpan { text, start, length: value.len() })
    })
}

/// The passwords that an event is the first to hide, with the dots that stand for them, as far as the session has them in clear.
/// It has to be asked before the event is applied.
pub(super) fn passwords_of(
    ledgers: &Ledgers,
    worker: Option<SubtaskWorker>,
    record: &EventRecord,
) -> Vec<(TypedPassword, String)> {
    let (SessionEvent::Replied { passwords, .. } | SessionEvent::Disclosed { passwords, .. }) = &record.event
    else {
        return Vec::new();
    };
    let texts = standing_texts(ledgers, worker);
    let value = |password: &TypedPassword| {
        let at = password.at?;
        texts.get(at.text)?.get(at.start..at.start.saturating_add(at.length)).map(str::to_owned)
    };
    passwords.iter().filter_map(|one| Some((one.clone(), value(one)?))).collect()
}

/// Returns `true` if a value has a text.
fn has_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(own) => own.contains(text),
        Value::Array(items) => items.iter().any(|item| has_text(item, text)),
        Value::Object(fields) => fields.values().any(|field| has_text(field, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns `true` if what is shown has a text, besides fields for passwords, in any case.
fn is_shown(view: &WindowView, value: &str) -> bool {
    let value = value.to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&value);
    view.surfaces.iter().any(|surface| {
        has(&surface.window.title)
            || has(&surface.window.app.name)
            || surface.tree.elements.iter().any(|element| {
                let own = [Some(&element.name), element.text.as_ref(), Some(&element.description)];
                element.role != Role::PASSWORD_TEXT && own.into_iter().flatten().any(|text| has(text))
            })
    })
}
