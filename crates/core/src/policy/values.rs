//! The values of a command that name who or what is reached: hosts, recipients, files, programs.

use super::{
    address::{host_of, host_typed, mail_addresses},
    origin::{Origin, Texts, Value, ValueKind},
    path::Places,
    pattern::{Names, folded, matches},
    subject::{HARMLESS, Subject},
};
use crate::{
    command::{Command, ToolSpec},
    intent::{Aimed, Does, Judged, Takes},
    keys::{Key, KeyChord, Modifier},
    observation::{Observation, Surface, WindowView},
    ui::{Element, Role, State},
};

/// Names of the fields that take the recipients of a message.
const RECIPIENTS: &[&str] = &[
    "To|Cc|Bcc|Recipient*|Send to*|Add recipient*|To recipients|Cc recipients|Bcc recipients",
    "An|Kopie|Blindkopie|Empfänger*",
    "À|Pour|Cci|Destinataire*",
    "Para|CO|CCO|Destinatari*|Para:*",
    "A|Ccn|Destinatari*",
    "Aan|Naar|Ontvanger*",
    "Do|DW|UDW|Odbiorca*|Adresat*",
    "Komu|Kopie|Skrytá|Příjemce*|Adresát*",
    "Кому|Копия|Скрытая|Получател*|Копія|Одержувач*",
    "Till|Kopia|Dold kopia|Mottagare*|Til|Kopi|Blindkopi|Modtager*|Mottaker*",
    "Vastaanottaja*|Kopio|Piilokopio",
    "Kime|Bilgi|Gizli|Alıcı*",
    "Címzett*|Másolat|Titkos másolat",
    "Către|Destinatar*",
    "Προς|Κοιν.|Κρυφή κοιν.|Παραλήπτ*",
    "宛先|宛先*|収件者|收件人*|抄送*|密送*|副本|密件副本|받는 사람*|참조|숨은 참조",
];

/// What the values of a command are read from.
pub(crate) struct Reading<'a> {
    /// The tools that the agent may use.
    pub(crate) tools: &'a [ToolSpec],
    /// The commands of the same step before this one.
    pub(crate) before: &'a [Command],
    /// What the agent was shown.
    pub(crate) observation: &'a Observation,
    /// What paths are relative to.
    pub(crate) places: &'a Places,
    /// Where values are looked up.
    pub(crate) texts: &'a dyn Texts,
}

impl Subject {
    /// The same with the values of its command, and where they come from.
    #[must_use]
    pub(crate) fn with_values(mut self, command: &Command, reading: &Reading<'_>) -> Self {
        let mut found: Vec<(ValueKind, String)> = Vec::new();
        for aimed in &command.intent.aims {
            match aimed {
                Aimed::Program { name } => found.push((ValueKind::Program, name.trim().to_owned())),
                Aimed::Files { files } => {
                    for file in files {
                        self.file(file, reading.places, &mut found);
                    }
                }
                Aimed::Element { .. }
                | Aimed::Name { .. }
                | Aimed::Path { .. }
                | Aimed::Place { .. }
                | Aimed::Item { .. }
                | Aimed::Keys { .. }
                | Aimed::Text { .. }
                | Aimed::Window { .. } => {}
            }
        }
        if let Observation::Window(view) = reading.observation {
            self.shows_page = view.elements().any(is_page);
            self.typed(command, view, reading, &mut found);
        }
        found.dedup();
        for (kind, text) in &found {
            match kind {
                ValueKind::Host => self.hosts.push(text.clone()),
                ValueKind::Path => self.paths.push(text.clone()),
                ValueKind::Recipient | ValueKind::Program => {}
            }
        }
        self.values = found.into_iter().map(|(kind, text)| Value::new(kind, text, reading.texts)).collect();
        self
    }

    /// The values in an argument that names a file or an address.
    fn file(&self, file: &str, places: &Places, found: &mut Vec<(ValueKind, String)>) {
        match self.does {
            Does::Open | Does::Save => match (host_of(file), places.absolute(file)) {
                (Some(host), _) => found.push((ValueKind::Host, host)),
                (None, Some(path)) => found.push((ValueKind::Path, path)),
                (None, None) => {}
            },
            // Any word of a command line may be an address.
            Does::Run => found.extend(host_typed(file).map(|host| (ValueKind::Host, host))),
            Does::Other
            | Does::Press
            | Does::Type
            | Does::Drag
            | Does::Set
            | Does::Point
            | Does::Switch
            | Does::Close
            | Does::Delegate
            | Does::Read
            | Does::Wait => {}
        }
    }

    /// The values in what is typed: an address for the address field of a browser, recipients in a field for these.
    fn typed(
        &self,
        command: &Command,
        view: &WindowView,
        reading: &Reading<'_>,
        found: &mut Vec<(ValueKind, String)>,
    ) {
        let text = typed_by(command, reading.tools);
        if text.is_empty() && !self.presses_return {
            return;
        }
        let field = self.elements.iter().find_map(|judged| view.elements().find(|one| one.id == judged.id));
        let field = field.or_else(|| view.elements().filter(|one| one.states.has(State::Focused)).last());
        let surface = field.and_then(|field| surface_of(field, view));
        // Without an element, keys may have moved the focus since, and the clipboard goes anywhere.
        let is_aimed = command.intent.elements().next().is_some();
        let jumps = |one: &Command| one.intent.chords().any(|chord| !chord.modifiers.is_empty());
        let may_have_moved = !is_aimed
            && (command.intent.does == Does::Type || jumps(command) || reading.before.iter().any(jumps));
        // What stands in the field by now: what was seen in it, and what the step has typed.
        let before: String = reading.before.iter().map(|one| typed_by(one, reading.tools)).collect();
        let shown = field.and_then(|field| field.text.as_deref()).filter(|_| self.presses_return);
        let all = [text.clone(), format!("{before}{text}"), shown.unwrap_or_default().to_owned()];
        let in_page = surface.zip(field).is_some_and(|(surface, field)| page_of(field, surface).is_some());
        if self.shows_page && (may_have_moved || !in_page) {
            let hosts = all.iter().filter_map(|text| host_typed(text));
            found.extend(hosts.map(|host| (ValueKind::Host, host)));
        }
        // As in the dialog for a file.
        let is_path = |text: &&String| {
            !text.contains(['\n', '\r'])
                && ["/", "~/", "file://"].iter().any(|start| text.trim().starts_with(start))
        };
        if !in_page {
            let paths = all.iter().filter(is_path).filter_map(|text| reading.places.absolute(text));
            found.extend(paths.map(|path| (ValueKind::Path, path)));
        }
        let recipients = Names::new(RECIPIENTS);
        let takes_recipients = field.is_some_and(|field| {
            matches(HARMLESS, field.role.name())
                && [&field.name, &field.description].into_iter().any(|name| recipients.have(&folded(name)))
        });
        if takes_recipients {
            let addresses = all.iter().flat_map(|text| mail_addresses(text));
            found.extend(addresses.map(|address| (ValueKind::Recipient, address)));
        }
    }
}

/// The host of the address that Return opens now, in a field of the window beside its page. One that was not judged comes from
/// nowhere.
pub(super) fn address_now(subject: &Subject, judged: &Judged, live: &Element) -> Option<Value> {
    let in_page = judged.elements.iter().any(|one| one.id == live.id && one.in_page);
    let text = live.text.as_deref().filter(|_| subject.presses_return && judged.shows_page && !in_page)?;
    let host = host_typed(text).filter(|host| !judged.hosts.contains(host))?;
    Some(Value { kind: ValueKind::Host, text: host, origin: Origin::Model })
}

/// The text that a command types, from its arguments and its keys.
fn typed_by(command: &Command, tools: &[ToolSpec]) -> String {
    let mut text = String::new();
    if matches!(command.intent.does, Does::Type | Does::Set) {
        let takes = tools.iter().find(|tool| tool.name == command.tool).map_or(&[][..], |tool| &tool.takes);
        // What an argument does not declare may be a value that is set.
        let is_text = |name: &String| {
            takes.iter().find(|(known, _)| known == name).is_none_or(|(_, takes)| *takes == Takes::Text)
        };
        let given = command.arguments.iter().filter(|(name, _)| is_text(name));
        text.extend(given.filter_map(|(_, value)| value.as_str()));
    }
    text.extend(command.intent.chords().filter_map(letter));
    text
}

/// The letter that a chord types.
fn letter(chord: &KeyChord) -> Option<char> {
    match chord.key {
        Key::Char(letter) if chord.modifiers.iter().all(|one| *one == Modifier::Shift) => Some(letter),
        Key::Char(_) | Key::Named(_) => None,
    }
}

fn surface_of<'a>(element: &Element, view: &'a WindowView) -> Option<&'a Surface> {
    view.surfaces.iter().find(|surface| surface.tree.find(element.id).is_some())
}

/// Whether an element is the document of a page.
fn is_page(element: &Element) -> bool {
    element.role == Role::DOCUMENT_WEB
}

/// The innermost page that an element is in.
pub(super) fn page_of<'a>(element: &Element, surface: &'a Surface) -> Option<&'a Element> {
    if is_page(element) {
        return surface.tree.find(element.id);
    }
    surface.tree.ancestors(element.id).find(|one| is_page(one))
}

/// The host of a page; `None` if the application does not tell its address.
pub(super) fn host_of_page(page: &Element) -> Option<String> {
    host_of(page.address.as_deref()?)
}
