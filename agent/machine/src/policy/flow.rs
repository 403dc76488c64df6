//! Flow of values that a workflow has read: into an address, to another application, to a program, to a page,
//! to a recipient.
//!
//! No user has seen a value that a step reads while the workflow runs. So it stays where it was read, unless
//! the user has seen that it is passed on, or approves it:
//!
//! - of a workflow that was made here: every flow that it was learned with. An address with a value that was
//!   read is covered if the workflow itself writes its host in front of the value.
//! - of a workflow that the user trusts: fields of other applications, the clipboard and other pages, and
//!   nothing that leaves them at once.
//! - of a stranger's workflow: nothing.

use deskhand_ui::address::host_of;
use std::{fmt, sync::LazyLock};

use super::{
    address::{AddressTarget, opened},
    envelope::{BROWSERS, pastes_clipboard},
    origin::ValueKind,
    subject::Subject,
    values::ValueContext,
};
use crate::{
    command::ToolCommand,
    intent::{Does, Takes},
    observation::Observation,
    provenance::{CarriedValue, Provenance},
};
use deskhand_ui::pattern::{NameGlobs, folded, matches};
use deskhand_ui::{Role, State};

/// Labels that copy what is chosen.
static COPIES: LazyLock<NameGlobs> = LazyLock::new(|| {
    NameGlobs::new(&[
        "Copy|Cut|Kopieren|Ausschneiden|Copier|Couper|Copiar|Cortar|Recortar|Copia|Taglia|Kopiëren|Knippen|Kopiuj|Wytnij|Kopírovat|Vyjmout",
        "Копировать|Вырезать|Копіювати|Вирізати|Kopiera|Klipp ut|Kopier|Kopiér|Klip|Kopioi|Leikkaa|Kopyala|Kes|Másolás|Kivágás|Copiere",
        "Copiază|Taie|Decupează|Αντιγραφή|Αποκοπή|コピー|切り取り|复制|剪切|複製|剪下|복사|잘라내기",
    ])
});
/// Labels that paste.
static PASTES: LazyLock<NameGlobs> = LazyLock::new(|| {
    NameGlobs::new(&[
        "Paste|Paste *|Einfügen|Coller|Pegar|Incolla|Colar|Plakken|Wklej|Vložit|Вставить|Вставити|Klistra in|Indsæt|Lim inn|Liitä|Yapıştır",
        "Beillesztés|Lipire|Lipește|Επικόλληση|貼り付け|粘贴|貼上|붙여넣기|Einfügen *|Coller *|Pegar *|Incolla *",
    ])
});

/// Returns `true` if a command that was judged by these names copies what is chosen.
pub(crate) fn copies_by_name(names: &[String]) -> bool {
    names.iter().any(|name| COPIES.have(&folded(name)))
}

/// Destination of a value that was read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
enum ValueSink {
    /// An address, of this host if that is known.
    Address(Option<String>),
    /// A recipient.
    Recipient,
    /// A page that gets a file.
    Upload,
    /// A program that is started with it, or a file that is opened by its name.
    Program(String),
    /// A command line, a terminal, or a tool of another source.
    Command,
    /// Fields of another application.
    Application(String),
    /// A page of another host.
    Page(String),
    /// The clipboard, which every application can read.
    Clipboard,
}

/// A value that leaves where it was read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ValueFlow {
    carried: CarriedValue,
    into: ValueSink,
}

impl ValueFlow {
    /// Returns `true` if whoever made the workflow, or trusts it, was shown that the value goes there.
    fn is_covered(&self) -> bool {
        match (self.carried.provenance, &self.into) {
            (Provenance::Stranger, _) => false,
            (Provenance::Made, ValueSink::Address(host)) => {
                host.is_some() && *host == self.carried.fixed_host
            }
            (Provenance::Made, _)
            | (Provenance::Trusted, ValueSink::Application(_) | ValueSink::Page(_) | ValueSink::Clipboard) => {
                true
            }
            (
                Provenance::Trusted,
                ValueSink::Address(_)
                | ValueSink::Recipient
                | ValueSink::Upload
                | ValueSink::Program(_)
                | ValueSink::Command,
            ) => false,
        }
    }
}

impl fmt::Display for ValueFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CarriedValue { value, read, .. } = &self.carried;
        match &self.into {
            ValueSink::Address(Some(host)) => write!(f, "it tells `{host}` in an address")?,
            ValueSink::Address(None) => f.write_str("it puts into an address")?,
            ValueSink::Recipient => f.write_str("it puts among the recipients")?,
            ValueSink::Upload => f.write_str("it gives a file to a page that is named by")?,
            ValueSink::Program(program) => write!(f, "it gives `{program}` on its command line")?,
            ValueSink::Command => f.write_str("it gives to a command")?,
            ValueSink::Application(application) => write!(f, "it enters into `{application}`")?,
            ValueSink::Page(host) => write!(f, "it enters into a page of `{host}`")?,
            ValueSink::Clipboard => f.write_str("it puts on the clipboard")?,
        }
        write!(f, " `{value}`, which ")?;
        if read.step.is_empty() {
            f.write_str("the workflow has not put there itself")
        } else {
            write!(f, "step {} has read with `{}`", read.step, read.tool)?;
            if read.application.is_empty() { Ok(()) } else { write!(f, " in `{}`", read.application) }
        }
    }
}

impl Subject {
    /// Notes the value that leaves where it was read without anybody having been shown that.
    pub(super) fn carries(&mut self, command: &ToolCommand, reading: &ValueContext<'_>) {
        let by_name = self.does.activates() && self.labels.iter().any(|label| PASTES.have(&folded(label)));
        let pastes = by_name || command.intent.chords().any(pastes_clipboard);
        let pasted = pastes.then(|| reading.texts.pasted()).flatten();
        let carried = command.carries.iter().chain(&pasted);
        let flows = carried.filter_map(|carried| {
            let into = self.sink(carried, command, reading)?;
            Some(ValueFlow { carried: carried.clone(), into })
        });
        self.flow = flows.into_iter().find(|flow| !flow.is_covered());
    }

    /// Returns the destination of a value in this command; `None` if it stays where it was read.
    fn sink(
        &self,
        carried: &CarriedValue,
        command: &ToolCommand,
        reading: &ValueContext<'_>,
    ) -> Option<ValueSink> {
        let takes = command.takes_in(reading.tools);
        let takes = takes.iter().find(|(name, _)| *name == carried.argument).map(|(_, takes)| *takes);
        let argument = command.arguments.get(&carried.argument);
        let mut texts = Vec::new();
        argument.into_iter().for_each(|argument| texts_in(argument, &mut texts));
        let address = || {
            let found = texts.iter().find_map(|text| opened(text))?;
            Some(ValueSink::Address(match found {
                AddressTarget::Host(host) => Some(host),
                AddressTarget::Script(_) => None,
            }))
        };
        if takes == Some(Takes::Address) {
            return Some(address().unwrap_or(ValueSink::Address(None)));
        }
        if self.source.is_some() {
            return Some(ValueSink::Command);
        }
        match self.does {
            Does::Read | Does::Wait | Does::Point | Does::Close | Does::Switch => None,
            Does::Open if takes == Some(Takes::Chosen) && self.is_browser() => Some(ValueSink::Upload),
            Does::Open if takes == Some(Takes::Chosen) => self.other_application(carried),
            Does::Open => address().or_else(|| Some(ValueSink::Program(self.program()))),
            Does::Run | Does::Delegate => Some(ValueSink::Command),
            Does::Save => address().or_else(|| self.other_application(carried)),
            Does::Other | Does::Press | Does::Type | Does::Drag | Does::Set => {
                self.entered(carried, takes, (command, &texts), reading)
            }
        }
    }

    /// Returns the destination of a value that is entered into a window.
    fn entered(
        &self,
        carried: &CarriedValue,
        takes: Option<Takes>,
        (command, texts): (&ToolCommand, &[&str]),
        reading: &ValueContext<'_>,
    ) -> Option<ValueSink> {
        let Observation::Window(view) = reading.observation else { return Some(ValueSink::Command) };
        let is_entered = takes.is_some() || carried.argument.is_empty();
        let enters_nowhere = command.intent.elements().next().is_none() && !is_entered;
        if enters_nowhere && self.does == Does::Type {
            return Some(ValueSink::Clipboard);
        }
        if self.role.as_deref() == Some(Role::TERMINAL.name()) || self.enters_line || self.feeds_terminal {
            return Some(ValueSink::Command);
        }
        if self.values.iter().any(|value| value.kind == ValueKind::Recipient) {
            return Some(ValueSink::Recipient);
        }
        let named = self.values.iter().find(|value| value.kind == ValueKind::Host);
        if named.is_some() || self.values.iter().any(|value| value.kind == ValueKind::Address) {
            let fixed = carried
                .fixed_host
                .clone()
                .filter(|host| texts.iter().any(|text| host_of(text).as_ref() == Some(host)));
            return Some(ValueSink::Address(fixed.or_else(|| named.map(|value| value.text.clone()))));
        }
        let focused = || view.elements().filter(|one| one.states.has(State::Focused)).last();
        let field = self.elements.iter().find_map(|one| view.elements().find(|shown| shown.id == one.id));
        let in_page = field.or_else(focused).is_some_and(|field| {
            view.surfaces.iter().any(|surface| surface.tree.page_of(field.id).is_some())
        });
        // A field of a browser beside its page is, or may be, that for addresses.
        if self.is_browser() && !in_page {
            return Some(ValueSink::Address(None));
        }
        self.other_application(carried)
    }

    /// The application or the page, if it is not the one where the value was read.
    fn other_application(&self, carried: &CarriedValue) -> Option<ValueSink> {
        let read = &carried.read;
        if read.application.is_empty() || read.application != self.application_root {
            return Some(ValueSink::Application(self.application.clone()));
        }
        if let Some(host) = self.hosts.iter().find(|host| !read.hosts.contains(host)) {
            return Some(ValueSink::Page(host.clone()));
        }
        let is_unknown = self.host_unknown || (self.shows_page && self.hosts.is_empty());
        (is_unknown && !read.hosts.is_empty()).then(|| ValueSink::Page("an unknown host".to_owned()))
    }

    fn is_browser(&self) -> bool {
        self.shows_page || matches(BROWSERS, &self.application) || matches(BROWSERS, &self.application_root)
    }

    /// The program that is started, or what opens the files.
    fn program(&self) -> String {
        self.labels.first().cloned().unwrap_or_else(|| "the application for it".to_owned())
    }
}

/// The texts in an argument.
fn texts_in<'a>(value: &'a serde_json::Value, into: &mut Vec<&'a str>) {
    match value {
        serde_json::Value::String(text) => into.push(text),
        serde_json::Value::Array(values) => values.iter().for_each(|value| texts_in(value, into)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| texts_in(value, into)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

/// The host that a text of a workflow writes in front of its first value: that of `https://example.org/?q={value}`.
pub(crate) fn fixed_host(before: &str) -> Option<String> {
    let (_, rest) = before.split_once("://")?;
    // What follows could still be a part of the host, or its port or password.
    let end = rest.find(['/', '?', '#'])?;
    let is_plain = rest.get(..end).is_some_and(|authority| !authority.contains(['@', '\\']));
    host_of(before).filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_fixed_if_it_stands_whole_before_the_value() {
        #[track_caller]
        fn check(before: &str, host: Option<&str>) {
            assert_eq!(fixed_host(before).as_deref(), host, "{before}");
        }
        check("https://example.org/?q=", Some("example.org"));
        check("http://127.0.0.1:8080/", Some("127.0.0.1"));
        check("https://example.org?q=", Some("example.org"));
        check("https://example.org", None);
        check("https://example.org.", None);
        check("https://example.org:", None);
        check("https://example.org@", None);
        check("https://me@example.org/", None);
        check("https://example.org\\@evil.test/", None);
        check("https://", None);
        check("", None);
        check("javascript:fetch('//evil.test/", None);
    }
}
