//! Passwords that a model writes in clear: from the reply on that types one into a field for passwords, dots stand for it.
//!
//! The runtime asks [`Session::conceal`] before it records a reply. What is recorded and applied has the dots, and where the session
//! has the password in clear already ([`TypedPassword::at`]), so that a replay hides it in the same texts without knowing it.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    app::App,
    event::{Event, EventRecord},
    gate::Judging,
    phases::Observed,
    state::{Phase, Session, Stage},
    step::{Acts as _, Asks as _},
    words::AtHand,
};
use crate::{
    agent::Worker,
    intent,
    model::ModelReply,
    observation::{Observation, WindowView},
    policy::PasswordEntry,
    secret::{AFTER, DOTS, SecretPermit, is_dots},
    small::Decided,
    ui::Role,
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
    /// Where it comes from, if the user has not said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Whether it is hidden in every text. One that stands in what the application shows is not: it is no secret there.
    pub everywhere: bool,
    /// Where the session has it in clear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Standing>,
}

/// A part of a text that a session has: of the words of the user in order, then of the sub-task and its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The index of the text.
    pub text: usize,
    /// Where it begins, in bytes.
    pub start: usize,
    /// How long it is, in bytes.
    pub length: usize,
}

/// The longest password, in characters.
const VALUE_MAX: usize = 1_000;

/// The values of passwords, with the dots that stand for them.
type Values = Vec<(String, String)>;

impl Session {
    /// Puts dots in place of the passwords that a reply types into fields for them, and returns those that have none so far, with their
    /// values, which must not be shown or stored. `known` gives the dots of a password that was typed before.
    pub fn conceal(
        &self,
        reply: &mut ModelReply,
        known: &dyn Fn(&str) -> Option<String>,
    ) -> Vec<(TypedPassword, String)> {
        let Stage::App(worker, Phase::Asking(observed)) = self.stage() else { return Vec::new() };
        let Observation::Window(view) = &observed.observation else { return Vec::new() };
        let mut found: Vec<(TypedPassword, String)> = Vec::new();
        let mut values: Values = Vec::new();
        for entry in self.passwords_in(*worker, observed, &reply.text) {
            let value = entry.text.trim_end_matches(AFTER).to_owned();
            let is_typable =
                (1..=VALUE_MAX).contains(&value.chars().count()) && !value.chars().any(char::is_control);
            if !is_typable || is_dots(&value) || values.iter().any(|(_, one)| *one == value) {
                continue;
            }
            let is_there = |dots: &String| {
                let is_it = |one: &TypedPassword| {
                    one.dots == *dots && one.application == entry.application && one.host == entry.host
                };
                self.passwords.iter().any(is_it)
            };
            if let Some(dots) = known(&value).filter(is_there) {
                values.push((dots, value));
                continue;
            }
            let number = self.passwords.len().saturating_add(found.len()).saturating_add(1);
            let password = TypedPassword {
                dots: format!("{DOTS}{number}"),
                everywhere: !is_shown(view, &value),
                at: self.standing(*worker, &value),
                application: entry.application,
                host: entry.host,
                from: entry.from,
            };
            values.push((password.dots.clone(), value.clone()));
            found.push((password, value));
        }
        if !values.is_empty() {
            let hidden = |dots: &String| {
                let mut all = found.iter().map(|(password, _)| password).chain(&self.passwords);
                all.any(|one| one.dots == *dots && one.everywhere)
            };
            reply.text = concealed_text(&reply.text, &values, &hidden);
            // They may say a password in any form, and nothing is decided by them.
            reply.reasoning.clear();
        }
        found
    }

    /// What a reply types into fields for passwords.
    fn passwords_in(&self, worker: Worker, observed: &Observed, text: &str) -> Vec<PasswordEntry> {
        let (agent, observation) = (App(worker), &observed.observation);
        let Ok(Decided::Finally(reply)) = agent.parse(self, observed, text) else { return Vec::new() };
        let tools = agent.tools(self);
        let secrets = self.secrets();
        let judging = Judging {
            policy: &self.config.policy,
            grants: &self.grants,
            observation,
            tools: &tools,
            applications: self.config.applications.as_deref(),
            secrets: &secrets,
            places: &self.config.places,
            texts: &AtHand::new(self, observation),
            effect: self.next_effect_id(),
        };
        let mut before = Vec::new();
        let mut found = Vec::new();
        for mut command in agent.proposal(self, &reply).commands {
            if intent::read(&mut command, &tools).is_ok() {
                let reading = judging.reading(&before, self.config.policy.guard);
                found.extend(PasswordEntry::of(&command, &reading));
            }
            before.push(command);
        }
        found
    }

    /// The texts of the session that may have a password in clear.
    fn standing_texts(&self, worker: Option<Worker>) -> Vec<&str> {
        let app = worker.and_then(|worker| self.app(worker));
        let given = app.into_iter().flat_map(|app| std::iter::once(&app.subtask).chain(&app.message));
        self.said.texts().chain(given.map(String::as_str)).collect()
    }

    fn standing(&self, worker: Worker, value: &str) -> Option<Standing> {
        let texts = self.standing_texts(Some(worker));
        texts.iter().enumerate().find_map(|(text, words)| {
            let start = places(words, value).next()?;
            Some(Standing { text, start, length: value.len() })
        })
    }

    /// The passwords that an event is the first to hide, with the dots that stand for them, as far as the session has them in clear.
    /// It has to be asked before the event is applied.
    pub fn passwords_of(&self, record: &EventRecord) -> Vec<(TypedPassword, String)> {
        let Event::Replied { passwords, .. } = &record.event else { return Vec::new() };
        let worker = if let Stage::App(worker, _) = self.stage() { Some(*worker) } else { None };
        let texts = self.standing_texts(worker);
        let value = |password: &TypedPassword| {
            let at = password.at?;
            texts.get(at.text)?.get(at.start..at.start.saturating_add(at.length)).map(str::to_owned)
        };
        passwords.iter().filter_map(|one| Some((one.clone(), value(one)?))).collect()
    }

    /// Takes in the passwords of a reply: where they may be typed, and that dots stand for them in all that the session has.
    pub(super) fn take_passwords(&mut self, record: &EventRecord) {
        let Event::Replied { passwords, .. } = &record.event else { return };
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
        if let Stage::App(_, Phase::Asking(observed)) = &mut self.stage {
            hide(&mut observed.messages, &values);
            hide(&mut observed.step, &values);
        }
    }

    /// Where secrets may be typed: those of the configuration, and passwords that were typed before.
    pub fn secrets(&self) -> Vec<SecretPermit> {
        let typed = self.passwords.iter().map(|password| SecretPermit {
            name: password.dots.clone(),
            application: password.application.clone(),
            role: Role::PASSWORD_TEXT.name().to_owned(),
            host: password.host.clone(),
            window: "*".to_owned(),
        });
        self.config.secrets.iter().cloned().chain(typed).collect()
    }
}

/// Whether what is shown has a text, besides fields for passwords, in any case.
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

/// A reply with dots in place of passwords: for each text that is one, and in every text for those that are hidden everywhere.
fn concealed_text(text: &str, values: &Values, hidden: &dyn Fn(&String) -> bool) -> String {
    let everywhere: Values = values.iter().filter(|(dots, _)| hidden(dots)).cloned().collect();
    if let Ok(mut json) = serde_json::from_str::<Value>(text.trim()) {
        conceal_in(&mut json, values, &everywhere);
        return json.to_string();
    }
    // Not strict JSON: as it would be written there.
    let mut text = text.to_owned();
    for (dots, value) in values {
        let written = Value::String(value.clone()).to_string();
        let inner = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
        for (open, close) in [("\"", "\""), ("\"", "\\n\""), ("\"", "\\t\""), ("'", "'")] {
            text = text.replace(&format!("{open}{inner}{close}"), &format!("{open}{dots}{close}"));
        }
        if hidden(dots) {
            text = replaced(&text, &[(dots.clone(), inner.to_owned())]).unwrap_or(text);
        }
    }
    text
}

fn conceal_in(json: &mut Value, values: &Values, everywhere: &Values) {
    match json {
        Value::String(text) => {
            let plain = text.trim_end_matches(AFTER);
            if let Some((dots, _)) = values.iter().find(|(_, value)| value == plain) {
                *text = format!("{dots}{}", text.get(plain.len()..).unwrap_or_default());
            } else if let Some(hidden) = replaced(text, everywhere) {
                *text = hidden;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| conceal_in(item, values, everywhere)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| conceal_in(field, values, everywhere));
        }
        // A password of digits that was given as a number.
        Value::Number(number) => {
            let number = number.to_string();
            if let Some((dots, _)) = values.iter().find(|(_, value)| *value == number) {
                *json = Value::String(dots.clone());
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// Hides passwords in all texts of some data.
fn hide<T: Serialize + DeserializeOwned>(data: &mut T, values: &Values) {
    let Ok(mut json) = serde_json::to_value(&*data) else { return };
    if hide_in(&mut json, values)
        && let Ok(hidden) = serde_json::from_value(json)
    {
        *data = hidden;
    }
}

fn hide_in(json: &mut Value, values: &Values) -> bool {
    match json {
        Value::String(text) => {
            let hidden = replaced(text, values);
            let is_changed = hidden.is_some();
            *text = hidden.unwrap_or_else(|| std::mem::take(text));
            is_changed
        }
        Value::Array(items) => items.iter_mut().fold(false, |changed, item| hide_in(item, values) | changed),
        Value::Object(fields) => {
            fields.values_mut().fold(false, |changed, field| hide_in(field, values) | changed)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The text with dots in place of passwords; `None` if there is none in it.
fn replaced(text: &str, values: &[(String, String)]) -> Option<String> {
    let mut hidden: Option<String> = None;
    for (dots, value) in values {
        let now = hidden.as_deref().unwrap_or(text);
        let mut next = String::new();
        let mut from = 0;
        for at in places(now, value) {
            next.push_str(now.get(from..at).unwrap_or_default());
            next.push_str(dots);
            from = at.saturating_add(value.len());
        }
        if from > 0 {
            next.push_str(now.get(from..).unwrap_or_default());
            hidden = Some(next);
        }
    }
    hidden
}

/// Where a password stands in a text, in bytes: one that is a word only as a whole, and none that is too short to be told from others.
fn places<'a>(text: &'a str, value: &'a str) -> impl Iterator<Item = usize> + 'a {
    const CHARACTERS_MIN: usize = 4;
    let is_long = value.chars().filter(|c| !c.is_whitespace()).count() >= CHARACTERS_MIN;
    let is_word = value.chars().all(char::is_alphabetic);
    let is_apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let fits = move |at: &usize| {
        let before = text.get(..*at).and_then(|head| head.chars().next_back());
        let after = text.get(at.saturating_add(value.len())..).and_then(|tail| tail.chars().next());
        !is_word || (is_apart(before) && is_apart(after))
    };
    text.match_indices(value).map(|(at, _)| at).filter(move |_| is_long).filter(fits)
}
