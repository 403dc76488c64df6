//! Passwords that a model writes in clear: from the reply on that types one into a field for passwords, dots stand for it.
//!
//! The runtime asks [`Session::conceal`] before it records a reply. What is recorded and applied has the dots, and where the session
//! has the password in clear already ([`TypedPassword::at`]), so that a replay hides it in the same texts without knowing it.
//!
//! A text whose field is not known yet is withheld in the same way. Once another look shows its field, [`Session::disclose`] tells
//! which texts are passwords; the others are recorded in clear then, before anything is decided by them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    app::App,
    entries::{CommandTextEntry, is_typable},
    event::{EventRecord, SessionEvent},
    hiding::{Values, concealed_text, disclosed_reply, hide, places},
    state::{Session, SessionStage, StepPhase},
    step::StepDecider as _,
};
use crate::{
    agent::SubtaskWorker, model::ModelReply, observation::Observation, policy::PasswordPlace,
    small::SmallModelDecision,
};
use deskhand_ui::{
    Role, WindowView,
    secret::{DOTS, SecretPermit},
};

/// A password that a model wrote in clear, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypedPassword {
    /// The dots that stand for it.
    pub dots: String,
    /// The application that it may be typed into, by its short name.
    pub application: String,
    /// The host of the page that it may be typed into; `None` if it was in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Origin of the password, if the user has not provided it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// `true` if it is hidden in every text. A password that occurs in text of the application is not hidden: it is
    /// no secret there.
    pub everywhere: bool,
    /// Position in the session's plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<SessionTextSpan>,
}

/// A text that was withheld and is no password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisclosedText {
    /// The dots that stood for it.
    pub dots: String,
    /// The text.
    pub text: String,
}

/// A part of a text that a session has: of the words of the user in order, then of the sub-task and its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTextSpan {
    /// The index of the text.
    pub text: usize,
    /// Start, in bytes.
    pub start: usize,
    /// Length, in bytes.
    pub length: usize,
}

/// The most texts that are withheld in a session; further ones are recorded as they are.
const WITHHELD_MAX: usize = 4_000;

/// The texts that this process keeps behind dots.
#[derive(Clone, Copy)]
pub struct KeptTexts<'a> {
    /// The dots that stand for a text.
    pub dots_of: &'a dyn Fn(&str) -> Option<String>,
    /// The text behind dots.
    pub value_of: &'a dyn Fn(&str) -> Option<String>,
}

impl KeptTexts<'_> {
    /// No texts.
    pub const NONE: KeptTexts<'static> = KeptTexts { dots_of: &|_| None, value_of: &|_| None };
}

/// Texts hidden in a reply that have no dots so far, with their values, which must not be displayed or stored.
#[derive(Default)]
pub struct ConcealedTexts {
    /// Passwords.
    pub passwords: Vec<(TypedPassword, String)>,
    /// Texts whose field is not known yet, by their dots.
    pub withheld: Vec<(String, String)>,
}

impl Session {
    /// Puts dots in place of the passwords that a reply types into fields for them, and of the texts that may be passwords because their
    /// field is not known yet. Returns those that have no dots so far.
    pub fn conceal(&self, reply: &mut ModelReply, kept: &KeptTexts<'_>) -> ConcealedTexts {
        let mut concealed = ConcealedTexts::default();
        let SessionStage::App(worker, StepPhase::Asking(observed)) = self.stage() else { return concealed };
        let Observation::Window(view) = &observed.observation else { return concealed };
        // A text that was withheld may have a field by now.
        let plain = disclosed_reply(&reply.text, &self.withheld_values(kept));
        let text = plain.as_ref().unwrap_or(&reply.text);
        let entries = match App(*worker).parse(self, observed, text) {
            Ok(SmallModelDecision::Finally(decision)) => {
                self.entries_of(*worker, &observed.observation, &decision)
            }
            Ok(SmallModelDecision::Further(_)) => Vec::new(),
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
                    self.dots_for(&kept_as, place, (*worker, view), kept, &mut concealed)
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
                let found = concealed.passwords.iter().map(|(password, _)| password);
                let password = found.chain(&self.passwords).find(|one| one.dots == *dots);
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
        &self,
        value: &str,
        place: Option<PasswordPlace>,
        (worker, view): (SubtaskWorker, &WindowView),
        kept: &KeptTexts<'_>,
        concealed: &mut ConcealedTexts,
    ) -> Option<String> {
        let is_known = |dots: &String| {
            self.withheld.contains(dots) || self.passwords.iter().any(|one| one.dots == *dots)
        };
        let kept = (kept.dots_of)(value).filter(is_known);
        let new = || {
            let known = self.passwords.len().saturating_add(self.withheld.len());
            let found = concealed.passwords.len().saturating_add(concealed.withheld.len());
            format!("{DOTS}{}", known.saturating_add(found).saturating_add(1))
        };
        match (kept, place) {
            (Some(dots), None) => Some(dots),
            (Some(dots), Some(place)) if self.is_typed_into(&dots, &place) => Some(dots),
            (None, None) if self.withheld.len() >= WITHHELD_MAX => None,
            (None, None) => {
                let dots = new();
                concealed.withheld.push((dots.clone(), value.to_owned()));
                Some(dots)
            }
            (kept, Some(place)) => {
                // One that was typed elsewhere gets other dots there; one that was withheld keeps its own.
                let is_withheld = |dots: &String| self.passwords.iter().all(|one| one.dots != *dots);
                let dots = kept.filter(is_withheld).unwrap_or_else(new);
                let password = self.password(dots.clone(), value, place, (worker, view));
                concealed.passwords.push((password, value.to_owned()));
                Some(dots)
            }
        }
    }

    /// Returns `true` if a password may be typed into such a field.
    fn is_typed_into(&self, dots: &str, place: &PasswordPlace) -> bool {
        self.passwords
            .iter()
            .any(|one| one.dots == dots && one.application == place.application && one.host == place.host)
    }

    fn password(
        &self,
        dots: String,
        value: &str,
        place: PasswordPlace,
        (worker, view): (SubtaskWorker, &WindowView),
    ) -> TypedPassword {
        TypedPassword {
            dots,
            everywhere: !is_shown(view, value),
            at: self.standing(worker, value),
            application: place.application,
            host: place.host,
            from: place.from,
        }
    }

    /// The texts that are withheld and that this process knows.
    pub(super) fn withheld_values(&self, kept: &KeptTexts<'_>) -> Values {
        let is_password = |dots: &String| self.passwords.iter().any(|one| one.dots == *dots);
        let withheld = self.withheld.iter().filter(|dots| !is_password(dots));
        withheld.filter_map(|dots| Some((dots.clone(), (kept.value_of)(dots)?))).collect()
    }

    /// Returns the event that discloses withheld texts according to another look, with the values of those that are
    /// passwords. The event has to be applied before the look. `None` if nothing changes.
    pub fn disclose(
        &self,
        observation: &Observation,
        kept: &KeptTexts<'_>,
    ) -> Option<(SessionEvent, Vec<(TypedPassword, String)>)> {
        let SessionStage::App(worker, StepPhase::Looking(acting)) = self.stage() else { return None };
        let Observation::Window(view) = observation else { return None };
        let values = self.withheld_values(kept);
        let mut waiting = acting.waiting().to_vec();
        super::hiding::disclose(&mut waiting, &values);
        let used = |(dots, _): &&(String, String)| {
            acting.waiting().iter().any(|one| one.arguments.values().any(|value| has_text(value, dots)))
        };
        let mut entries = self.entries_in(*worker, observation, waiting);
        let (mut texts, mut passwords) = (Vec::new(), Vec::new());
        for (dots, value) in values.iter().filter(used) {
            let is_it = |one: &CommandTextEntry| one.text == *value || one.written.as_ref() == Some(value);
            let known = entries.iter_mut().find(|one| is_it(one) && one.place.is_some());
            match known.and_then(|entry| Some((entry.place.take()?, entry.text.clone()))) {
                Some((place, text)) => {
                    let password = self.password(dots.clone(), &text, place, (*worker, view));
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
    fn standing_texts(&self, worker: Option<SubtaskWorker>) -> Vec<&str> {
        let app = worker.and_then(|worker| self.app(worker));
        let given = app.into_iter().flat_map(|app| std::iter::once(&app.subtask).chain(&app.message));
        self.said.texts().chain(given.map(String::as_str)).collect()
    }

    fn standing(&self, worker: SubtaskWorker, value: &str) -> Option<SessionTextSpan> {
        let texts = self.standing_texts(Some(worker));
        texts.iter().enumerate().find_map(|(text, words)| {
            let start = places(words, value).next()?;
            Some(SessionTextSpan { text, start, length: value.len() })
        })
    }

    /// The passwords that an event is the first to hide, with the dots that stand for them, as far as the session has them in clear.
    /// It has to be asked before the event is applied.
    pub fn passwords_of(&self, record: &EventRecord) -> Vec<(TypedPassword, String)> {
        let (SessionEvent::Replied { passwords, .. } | SessionEvent::Disclosed { passwords, .. }) =
            &record.event
        else {
            return Vec::new();
        };
        let worker = if let SessionStage::App(worker, _) = self.stage() { Some(*worker) } else { None };
        let texts = self.standing_texts(worker);
        let value = |password: &TypedPassword| {
            let at = password.at?;
            texts.get(at.text)?.get(at.start..at.start.saturating_add(at.length)).map(str::to_owned)
        };
        passwords.iter().filter_map(|one| Some((one.clone(), value(one)?))).collect()
    }

    /// Takes in the passwords of a reply: where they may be typed, and that dots stand for them in all that the session has.
    pub(super) fn take_passwords(&mut self, record: &EventRecord) {
        let passwords = if let SessionEvent::Replied { passwords, withheld, .. } = &record.event {
            self.withheld.extend(withheld.iter().cloned());
            passwords
        } else if let SessionEvent::Disclosed { passwords, texts } = &record.event {
            let values = texts.iter().map(|one| (one.dots.clone(), one.text.clone())).collect();
            super::hiding::disclose(&mut self.stage, &values);
            passwords
        } else {
            return;
        };
        if passwords.is_empty() {
            return;
        }
        let values = self.passwords_of(record);
        let values: Values = values
            .into_iter()
            .filter(|(password, _)| password.everywhere)
            .map(|(password, value)| (password.dots, value))
            .collect();
        self.passwords.extend(passwords.iter().cloned());
        if values.is_empty() {
            return;
        }
        hide(&mut self.said, &values);
        hide(&mut self.blackboard, &values);
        hide(&mut self.returned, &values);
        hide(&mut self.heard, &values);
        hide(&mut self.host, &values);
        hide(&mut self.apps, &values);
        hide(&mut self.round, &values);
        hide(&mut self.grants, &values);
        if let SessionStage::App(_, StepPhase::Asking(observed)) = &mut self.stage {
            hide(&mut observed.messages, &values);
            hide(&mut observed.step, &values);
        }
    }

    /// Returns the permits for typing secrets: those of the configuration, and passwords that were typed before.
    pub fn secrets(&self) -> Vec<SecretPermit> {
        let typed = self.passwords.iter().map(|password| SecretPermit {
            name: password.dots.clone(),
            application: password.application.clone(),
            role: Role::PASSWORD_TEXT.name().to_owned(),
            host: password.host.clone(),
            window: "*".to_owned(),
        });
        let is_password = |dots: &&String| self.passwords.iter().any(|one| one.dots == **dots);
        let withheld = self.withheld.iter().filter(|dots| !is_password(dots));
        let withheld = withheld.map(|dots| SecretPermit::withheld(dots.clone()));
        self.config.secrets.iter().cloned().chain(typed).chain(withheld).collect()
    }
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
