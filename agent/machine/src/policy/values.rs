//! The values of a command that name who or what is reached: hosts, recipients, files, programs.

use super::{
    address::{AddressTarget, foreign_host, host_typed, mail_addresses, opened},
    looks::KnownNames,
    origin::{CommandValue, Texts, ValueKind, ValueOrigin, has_words},
    path::PathRoots,
    subject::{HARMLESS, Subject},
};
use deskhand_ui::address::host_of;
use deskhand_ui::pattern::matches;
use std::sync::LazyLock;

use crate::{
    command::{ToolCommand, ToolSpec},
    intent::{CommandAim, Does, JudgementBasis, Takes},
    observation::Observation,
};
use deskhand_ui::{
    Element, InstalledApplication, Role, State, Surface, WindowKind, WindowView,
    keys::{ChordKey, KeyChord, KeyModifier},
};

/// Names of the fields that take the recipients of a message.
static RECIPIENTS: LazyLock<KnownNames> = LazyLock::new(|| KnownNames::new(RECIPIENT));

const RECIPIENT: &[&str] = &[
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

/// Names of the fields that take the name or the place of a file.
static PLACES: LazyLock<KnownNames> = LazyLock::new(|| {
    KnownNames::new(&[
        "Name|File name|Filename|File name:|Location|Path|Dateiname|Ort|Nom|Nom du fichier|Emplacement|Nombre|Nombre de archivo|Lugar|Nome",
        "Nome file|Nome do arquivo|Posizione|Naam|Bestandsnaam|Locatie|Nazwa|Nazwa pliku|Położenie|Název|Název souboru|Umístění|Имя",
        "Имя файла|Адрес|Назва|Назва файлу|Namn|Filnamn|Navn|Filnavn|Nimi|Tiedostonimi|Ad|Dosya adı|Konum|Név|Fájlnév|Hely|Nume|Nume fișier",
        "Όνομα|Όνομα αρχείου|名前|ファイル名|場所|名称|文件名|位置|名稱|檔案名稱|이름|파일 이름|위치",
    ])
});

/// Roles that hold recipients: fields, and what a field keeps its recipients in.
const HOLDS_RECIPIENTS: &str =
    "entry|text|combo box|section|panel|list|list box|grouping|form|filler|autocomplete";
/// The most recipients that are looked at.
const RECIPIENTS_MAX: usize = 50;
/// The shortest argument of a program that is looked up, in characters: short ones stand in any text.
const ARGUMENT_MIN: usize = 4;
/// The most arguments from outside.
const ARGUMENTS_MAX: usize = 20;

/// Context from which the values of a command are read.
pub(crate) struct ValueContext<'a> {
    /// The tools that the agent may use.
    pub(crate) tools: &'a [ToolSpec],
    /// The commands of the same step before this one.
    pub(crate) before: &'a [ToolCommand],
    /// Observation that the agent received.
    pub(crate) observation: &'a Observation,
    /// Folders that paths are relative to.
    pub(crate) places: &'a PathRoots,
    /// The applications that may be started without a question.
    pub(crate) applications: Option<&'a [InstalledApplication]>,
    /// Texts in which values are looked up.
    pub(crate) texts: &'a dyn Texts,
}

impl Subject {
    /// The same with the values of its command, and where they come from.
    #[must_use]
    pub(crate) fn with_values(mut self, command: &ToolCommand, reading: &ValueContext<'_>) -> Self {
        let mut found: Vec<(ValueKind, String)> = Vec::new();
        self.calls(command, reading.tools);
        self.answers_question(command, reading.tools);
        for aimed in &command.intent.aims {
            match aimed {
                CommandAim::Program { name } => found.push((ValueKind::Program, name.trim().to_owned())),
                CommandAim::Files { files } => {
                    for file in files {
                        self.file(file, reading, &mut found);
                    }
                }
                CommandAim::Element { .. }
                | CommandAim::Name { .. }
                | CommandAim::Path { .. }
                | CommandAim::Place { .. }
                | CommandAim::Item { .. }
                | CommandAim::Keys { .. }
                | CommandAim::Text { .. }
                | CommandAim::Secret { .. }
                | CommandAim::Window { .. }
                | CommandAim::Replaces => {}
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
                ValueKind::Recipient | ValueKind::Program | ValueKind::Address | ValueKind::Argument => {}
            }
        }
        self.values =
            found.into_iter().map(|(kind, text)| CommandValue::new(kind, text, reading.texts)).collect();
        self.reaches(reading);
        if let Observation::Window(view) = reading.observation {
            self.drawn_there(command, view);
            let files =
                view.surfaces.iter().filter_map(|surface| surface.window.document.as_ref()?.path.as_deref());
            self.document = files.filter_map(|path| reading.places.absolute(path)).next();
        }
        if command.intent.aims.contains(&CommandAim::Replaces) {
            self.replaces(reading);
        }
        self.leaves(command, reading);
        self.writes(command, reading.places, &reading.texts.made());
        self.carries(command, reading);
        self
    }

    /// Notes the question that a command answers, which shows in no element.
    fn answers_question(&mut self, command: &ToolCommand, tools: &[ToolSpec]) {
        for (name, takes) in command.takes_in(tools) {
            let Some(value) = command.arguments.get(name) else { continue };
            if *takes == Takes::Question {
                self.surroundings.texts.extend(value.as_str().map(str::to_owned));
            }
            if *takes == Takes::Accepts && value.as_bool() == Some(false) {
                self.label("Cancel");
            }
        }
    }

    /// Notes the source of a tool that is none of ours, with what it is given.
    fn calls(&mut self, command: &ToolCommand, tools: &[ToolSpec]) {
        let Some(source) = command.tool_in(tools).and_then(|tool| tool.source.clone()) else { return };
        self.source = Some(source);
        self.arguments = command.arguments.iter().map(|(name, value)| format!("{name}={value}")).collect();
    }

    /// The values in an argument that names a file or an address.
    fn file(&self, file: &str, reading: &ValueContext<'_>, found: &mut Vec<(ValueKind, String)>) {
        let foreign = foreign_host(file);
        match self.does {
            Does::Open | Does::Save | Does::Read | Does::Set => {
                match (host_of(file).or(foreign), reading.places.absolute(file)) {
                    (Some(host), _) => found.push((ValueKind::Host, host)),
                    (None, Some(path)) => found.push((ValueKind::Path, path)),
                    (None, None) => {}
                }
            }
            // Any word of a command line may be an address.
            Does::Run => found.extend(host_typed(file).map(|host| (ValueKind::Host, host))),
            Does::Other
            | Does::Press
            | Does::Type
            | Does::Drag
            | Does::Point
            | Does::Switch
            | Does::Close
            | Does::Delegate
            | Does::Wait => {}
        }
    }

    /// The values in what is typed: an address for the address field of a browser, recipients in a field for these.
    fn typed(
        &mut self,
        command: &ToolCommand,
        view: &WindowView,
        reading: &ValueContext<'_>,
        found: &mut Vec<(ValueKind, String)>,
    ) {
        let text = typed_by(command, reading.tools);
        if text.is_empty() && !self.presses_return {
            return;
        }
        let judged = &self.elements;
        let field = judged.iter().find_map(|judged| view.elements().find(|one| one.id == judged.id));
        let field = field.or_else(|| view.elements().filter(|one| one.states.has(State::Focused)).last());
        let surface = field.and_then(|field| surface_of(field, view));
        // Without an element, keys may have moved the focus since, and the clipboard goes anywhere.
        let is_aimed = command.intent.elements().next().is_some();
        let jumps = |one: &ToolCommand| one.intent.chords().any(|chord| !chord.modifiers.is_empty());
        let may_have_moved = !is_aimed
            && (command.intent.does == Does::Type || jumps(command) || reading.before.iter().any(jumps));
        // What stands in the field by now: what was seen in it, and what the step has typed.
        let before: String = reading.before.iter().map(|one| typed_by(one, reading.tools)).collect();
        let shown = field.and_then(|field| field.text.as_deref()).filter(|_| self.presses_return);
        let all = [text.clone(), format!("{before}{text}"), shown.unwrap_or_default().to_owned()];
        let in_page =
            surface.zip(field).is_some_and(|(surface, field)| surface.tree.page_of(field.id).is_some());
        if self.presses_return {
            self.dictated =
                field.and_then(|field| dictated(field, &format!("{before}{text}"), reading.texts));
        }
        if self.shows_page && (may_have_moved || !in_page) {
            found.extend(all.iter().filter_map(|text| opened(text)).map(AddressTarget::value));
        }
        // A field for the place of a file takes those of other machines, too.
        // A path in a text or in a cell is written nowhere.
        let is_entry = field.is_none_or(|field| field.role == Role::ENTRY);
        self.types_place = !in_page
            && (is_entry || field.zip(surface).is_some_and(|(field, surface)| takes_place(field, surface)));
        if !in_page && field.zip(surface).is_some_and(|(field, surface)| takes_place(field, surface)) {
            found
                .extend(all.iter().filter_map(|text| foreign_host(text)).map(|host| (ValueKind::Host, host)));
            let runs = all.iter().find(|text| !text.contains(['\n', '\r']) && PathRoots::may_run(text));
            self.writes_executed = runs.map(|name| name.trim().to_owned());
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
        let holds_one = in_page
            && field.is_some_and(|field| !field.states.has(State::MultiLine))
            && all.iter().any(|text| is_address_alone(text));
        let takes_recipients = field.is_some_and(is_for_recipients) || holds_one;
        // A tab or a click of the same step may have moved the focus to such a field.
        let moved = !is_aimed && !reading.before.is_empty();
        if takes_recipients || (moved && view.elements().any(is_for_recipients)) {
            found.extend(self.recipients(&all, field, &format!("{before}{text}"), reading.texts));
        }
    }

    /// The recipients that stand in a field by now: those that are typed, and what the letters typed so far make of what stood there.
    fn recipients(
        &self,
        typed: &[String],
        field: Option<&Element>,
        letters: &str,
        texts: &dyn Texts,
    ) -> Vec<(ValueKind, String)> {
        let shown = field.and_then(|field| field.text.as_deref()).unwrap_or_default();
        let shown = shown.trim_end_matches(['\n', '\r']);
        // The caret may stand at either end; what is not sent yet is looked at when it is.
        let line = letters.trim_end_matches(['\n', '\r']);
        let before = self.presses_return.then(|| format!("{line}{shown}"));
        let joined = [Some(format!("{shown}{letters}")), before];
        // What is being typed is not yet another address than the one that it becomes.
        let named: Vec<String> = texts.said().iter().flat_map(|said| mail_addresses(said)).collect();
        let begins = |address: &String| {
            !self.presses_return && named.iter().any(|one| one.starts_with(address.as_str()))
        };
        let found = typed.iter().chain(joined.iter().flatten()).flat_map(|text| mail_addresses(text));
        found.filter(|address| !begins(address)).map(|address| (ValueKind::Recipient, address)).collect()
    }

    /// Notes who is reached once what is shown is sent, and the arguments of a program that come from outside.
    fn reaches(&mut self, reading: &ValueContext<'_>) {
        if let Observation::Window(view) = reading.observation {
            let standing = standing(view).into_iter();
            self.standing =
                standing.map(|one| CommandValue::new(ValueKind::Recipient, one, reading.texts)).collect();
        }
        if self.does == Does::Run {
            let words = self.arguments.iter().filter(|word| word.chars().count() >= ARGUMENT_MIN);
            let values = words.map(|word| CommandValue::new(ValueKind::Argument, word.trim(), reading.texts));
            let outside = |value: &CommandValue| matches!(value.origin, ValueOrigin::Outside { .. });
            self.values.extend(values.filter(outside).take(ARGUMENTS_MAX));
        }
    }

    /// Whoever names a file means the one where the session works, or in a folder that they name: another one of the same name is not
    /// what they named, if it is replaced.
    fn replaces(&mut self, reading: &ValueContext<'_>) {
        let document = self.document.as_deref();
        let elsewhere = |value: &&mut CommandValue| {
            value.kind == ValueKind::Path
                && value.origin == ValueOrigin::User
                && !reading.places.is_meant(&value.text, document, &reading.texts.said())
        };
        for value in self.values.iter_mut().filter(elsewhere) {
            value.origin = ValueOrigin::of_unnamed(&value.text, reading.texts);
        }
    }

    /// Notes which files are written that are run without being opened, or that hold something else.
    pub(super) fn writes(&mut self, command: &ToolCommand, places: &PathRoots, made: &[&str]) {
        self.document_runs = self.document.as_ref().is_some_and(|path| places.runs(path));
        if self.does == Does::Save
            || (self.types_place && matches!(self.does, Does::Type | Does::Set | Does::Press))
        {
            let executed = self.paths.iter().find(|path| places.runs(path)).cloned();
            self.writes_executed = executed.or_else(|| self.writes_executed.take());
        }
        if matches!(self.does, Does::Open | Does::Read | Does::Set) {
            let secret = |value: &&CommandValue| {
                value.kind == ValueKind::Path
                    && value.origin != ValueOrigin::User
                    && places.is_secret(&value.text)
            };
            self.opens_secret = self.values.iter().find(secret).cloned();
        }
        if command.intent.aims.contains(&CommandAim::Replaces) {
            let known = |value: &&CommandValue| {
                let is_own =
                    made.contains(&value.text.as_str()) || self.document.as_ref() == Some(&value.text);
                value.kind == ValueKind::Path && value.origin != ValueOrigin::User && !is_own
            };
            self.overwrites = self.values.iter().find(known).cloned();
        }
    }
}

impl AddressTarget {
    fn value(self) -> (ValueKind, String) {
        match self {
            Self::Host(host) => (ValueKind::Host, host),
            Self::Script(address) => (ValueKind::Address, address),
        }
    }
}

/// Returns `true` if a field takes the recipients of a message.
pub(super) fn is_for_recipients(field: &Element) -> bool {
    matches(HARMLESS, field.role.name()) && is_named_for_recipients(field)
}

fn is_named_for_recipients(element: &Element) -> bool {
    RECIPIENTS.seem(&element.name) || RECIPIENTS.seem(&element.description)
}

/// The recipients that stand in the fields of a window.
fn standing(view: &WindowView) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for surface in &view.surfaces {
        let holds =
            |one: &&Element| matches(HOLDS_RECIPIENTS, one.role.name()) && is_named_for_recipients(one);
        for field in surface.tree.elements.iter().filter(holds) {
            let inside = surface.tree.descendants(field.id).take(RECIPIENTS_MAX);
            for one in std::iter::once(field).chain(inside) {
                found.extend(
                    [one.name.as_str(), one.text.as_deref().unwrap_or_default()]
                        .into_iter()
                        .flat_map(mail_addresses),
                );
            }
        }
    }
    found.truncate(RECIPIENTS_MAX);
    found.sort();
    found.dedup();
    found
}

/// Returns `true` if a field takes the place of a file: in a dialog for files, or one line beside what a file manager shows.
fn takes_place(field: &Element, surface: &Surface) -> bool {
    let is_line = [Role::ENTRY, Role::TEXT].contains(&field.role) && !field.states.has(State::MultiLine);
    let is_dialog = surface.window.kind == WindowKind::Dialog
        || surface.tree.elements.iter().any(|one| [Role::DIALOG, Role::FILE_CHOOSER].contains(&one.role));
    is_line
        && is_dialog
        && (is_named_for_files(&field.name)
            || surface.tree.elements.iter().any(|one| one.role == Role::FILE_CHOOSER))
}

/// Returns `true` if a field is named for the name or the place of a file.
pub(super) fn is_named_for_files(name: &str) -> bool {
    PLACES.seem(name) || name.trim().is_empty()
}

/// The message that Return sends, if the user has dictated it and the field is named for somebody whom the user has named: `Message to
/// Ada`.
fn dictated(field: &Element, letters: &str, texts: &dyn Texts) -> Option<String> {
    let message = format!("{}{letters}", field.text.as_deref().unwrap_or_default());
    let is_said = |words: &str| texts.said().iter().any(|said| has_words(said, words));
    let whom =
        || field.name.split(|c: char| !c.is_alphanumeric()).skip(1).filter(|word| word.chars().count() > 2);
    let is_told = is_said(&message) && whom().next().is_some() && whom().all(is_said);
    is_told.then(|| message.trim().to_owned())
}

/// Returns `true` if a text is nothing but mail addresses: in a page, whatever field takes it.
fn is_address_alone(text: &str) -> bool {
    let words = text.split([',', ';', ' ', '\n', '\r', '<', '>']).filter(|word| !word.is_empty());
    let mut addresses = words.map(|word| !mail_addresses(word).is_empty()).peekable();
    addresses.peek().is_some() && addresses.all(|is_address| is_address)
}

/// Returns the address that Return opens now, in a field of the window beside its page. `None` if that was
/// judged; otherwise its origin is the model.
pub(super) fn address_now(
    subject: &Subject,
    judged: &JudgementBasis,
    live: &Element,
) -> Option<CommandValue> {
    let in_page = judged.elements.iter().any(|one| one.id == live.id && one.in_page);
    let text = live.text.as_deref().filter(|_| subject.presses_return && judged.shows_page && !in_page)?;
    let (kind, text) = opened(text)?.value();
    let is_judged =
        judged.hosts.contains(&text) || judged.values.iter().any(|one| one.kind == kind && one.text == text);
    (!is_judged).then_some(CommandValue { kind, text, origin: ValueOrigin::Model })
}

/// The text that a command types, from its arguments and its keys.
pub(super) fn typed_by(command: &ToolCommand, tools: &[ToolSpec]) -> String {
    let mut text = String::new();
    if matches!(command.intent.does, Does::Type | Does::Set) {
        let takes = command.takes_in(tools);
        // What an argument does not declare may be a value that is set.
        let is_text = |name: &String| {
            takes.iter().find(|(known, _)| known == name).is_none_or(|(_, takes)| takes.is_text())
        };
        let given = command.arguments.iter().filter(|(name, _)| is_text(name));
        text.extend(given.filter_map(|(_, value)| value.as_str()));
    }
    text.extend(command.intent.chords().filter_map(letter));
    text
}

/// The letter that a chord types.
pub(super) fn letter(chord: &KeyChord) -> Option<char> {
    match chord.key {
        ChordKey::Char(letter) if chord.modifiers.iter().all(|one| *one == KeyModifier::Shift) => {
            Some(letter)
        }
        ChordKey::Char(_) | ChordKey::Named(_) => None,
    }
}

fn surface_of<'a>(element: &Element, view: &'a WindowView) -> Option<&'a Surface> {
    view.surfaces.iter().find(|surface| surface.tree.find(element.id).is_some())
}

/// Returns `true` if an element is the document of a page.
fn is_page(element: &Element) -> bool {
    element.role == Role::DOCUMENT_WEB
}
