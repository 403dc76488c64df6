//! What leaves the envelope of what the user asked for: another application, a recipient without an address, a file for a page, a
//! password. The safe guard asks about it.

use super::{
    address::{mail_addresses, reached_in},
    guard::SAVES,
    keyed::OPENS,
    origin::{CommandValue, Texts, ValueKind, ValueOrigin, has_words},
    passwords::origin_of_secret,
    subject::Subject,
    values::{ValueContext, is_for_recipients, is_named_for_files, typed_by},
};
use crate::{
    command::ToolCommand,
    intent::{CommandAim, Does},
    observation::Observation,
};
use deskhand_ui::pattern::{NameGlobs, folded, matches};
use deskhand_ui::{
    Element, InstalledApplication, Role, State, Surface, WindowKind, WindowView,
    keys::{ChordKey, KeyChord, KeyModifier, NamedKey},
    text::clip,
};

/// The longest name of a recipient, in characters: what is longer is a text.
const RECIPIENT_CHARS_MAX: usize = 200;
/// The shortest word of an application's name that names it, in letters.
const NAMING_MIN: usize = 4;
/// The shortest name of an application that is looked for in texts, in letters.
const HEARD_MIN: usize = 3;
/// The shortest sentence of a sub-task that is looked for in texts, in letters.
const SENTENCE_MIN: usize = 12;
/// The shortest label that is looked for in texts, in letters.
const LABEL_MIN: usize = 3;
/// The shortest password that is looked for in texts, in characters.
const PASSWORD_MIN: usize = 4;
/// Maximum length of a stored sub-task, in characters.
const SUBTASK_CHARS_MAX: usize = 200;
/// Applications that show pages.
pub(super) const BROWSERS: &str = "*chrom*|firefox*|*epiphany*|*falkon*|*konqueror*|*midori*|*brave*|vivaldi*|opera*|*edge*|*librewolf*|*browser*";
/// The most files that a question about a dialog names.
const DRAWN_MAX: usize = 5;
/// The name of a file in a dialog in which nothing can be read.
const UNREADABLE: &str = "whatever is chosen there";
/// Labels that take what is chosen, besides those that open it.
const TAKES: &[&str] = &[
    "Select|Choose|Upload|OK|Auswählen|Hochladen|Sélectionner|Choisir|Seleccionar|Elegir|Subir|Seleziona|Scegli",
];
/// Names of the field that holds where a journey or a range begins. Its *To* names no recipient.
const BEGINS: &[&str] = &[
    "From|Origin|Von|De|Desde|Da|Van|Od|Z|Odkud|Из|Откуда|Від|Fra|Från|Mistä|Nereden|Honnan|Από|出発地|从|출발",
];

impl Subject {
    /// Notes what leaves the envelope.
    pub(super) fn leaves(&mut self, command: &ToolCommand, reading: &ValueContext<'_>) {
        self.opens_in_files();
        self.goes_elsewhere(command, reading);
        if self.does.activates() {
            self.told = self.labels.iter().find_map(|label| label_told(label, reading.texts));
        }
        if let Observation::Window(view) = reading.observation {
            let own = Own::of(command, view, reading);
            self.fills_password = own.password(command, reading.texts);
            self.uploads = own.upload(self, command, reading);
            let recipients = own.recipients(self.presses_return, reading.texts);
            self.values.extend(recipients);
            self.standing.extend(contacts(view, reading.texts));
        }
        // Whoever names a file means the one at hand: another one in a place of secrets is not what they named.
        if self.does == Does::Open || self.does == Does::Read {
            for value in &mut self.values {
                means(value, self.document.as_deref(), reading);
            }
        }
    }

    /// Notes the application that it goes to, and the sub-task that it hands on.
    fn goes_elsewhere(&mut self, command: &ToolCommand, reading: &ValueContext<'_>) {
        match self.does {
            Does::Open | Does::Switch => {
                let names = self.names_of_application(command, reading.applications);
                let Some(name) = names.first() else { return };
                let value = CommandValue {
                    kind: ValueKind::Program,
                    text: name.clone(),
                    origin: called(&names, reading.texts),
                };
                let is_outside = matches!(value.origin, ValueOrigin::Outside { .. });
                // A window that nobody has named is no value that rules about values are meant for.
                if self.does == Does::Switch && !is_outside {
                    return;
                }
                self.values.retain(|value| value.kind != ValueKind::Program);
                // What is no installed application is asked about with its whole command line.
                self.elsewhere = (is_outside && self.stranger.is_none()).then(|| value.clone());
                self.values.push(value);
            }
            Does::Delegate => {
                let subtasks: Vec<String> = self.arguments.clone();
                for subtask in &subtasks {
                    for (kind, text) in reached_in(subtask) {
                        if kind == ValueKind::Host {
                            self.hosts.push(text.clone());
                        }
                        self.values.push(CommandValue::new(kind, text, reading.texts));
                    }
                    let (kind, text) = (ValueKind::Argument, clip(subtask, SUBTASK_CHARS_MAX));
                    self.values.push(CommandValue {
                        kind,
                        text,
                        origin: subtask_from(subtask, reading.texts),
                    });
                }
            }
            Does::Other
            | Does::Press
            | Does::Type
            | Does::Drag
            | Does::Set
            | Does::Point
            | Does::Save
            | Does::Close
            | Does::Run
            | Does::Read
            | Does::Wait => {}
        }
    }

    /// All names of the application that a command starts or switches to.
    fn names_of_application(
        &self,
        command: &ToolCommand,
        applications: Option<&[InstalledApplication]>,
    ) -> Vec<String> {
        let mut names = Vec::new();
        for aimed in &command.intent.aims {
            if let CommandAim::Program { name } = aimed {
                names.push(name.clone());
            }
            if let CommandAim::Window { .. } = aimed {
                names.extend([self.application.clone(), self.application_root.clone()]);
            }
        }
        names.retain(|name| !name.trim().is_empty());
        let named = names.clone();
        let same =
            applications.into_iter().flatten().filter(|one| named.iter().any(|name| one.is_named(name)));
        for one in same {
            let last = one.id.rsplit('.').next().unwrap_or_default();
            names.extend([one.name.as_str(), &one.id, last, &one.program].map(str::to_owned));
        }
        names.retain(|name| !name.trim().is_empty());
        names
    }
}

/// Returns the origin of an application's name: the user and the plan name it by one of its words, a text by
/// all of them.
fn called(names: &[String], texts: &dyn Texts) -> ValueOrigin {
    let names_it = |text: &&str| {
        names.iter().any(|name| {
            let mut words = name.split(|c: char| !c.is_alphanumeric());
            has_words(text, name)
                || words.any(|word| word.chars().count() >= NAMING_MIN && has_words(text, word))
        })
    };
    if texts.said().iter().any(names_it) {
        return ValueOrigin::User;
    }
    // What a stranger has planned names nothing for the user.
    if texts.stranger().is_none() && texts.planned().iter().any(names_it) {
        return ValueOrigin::Model;
    }
    let names = names.iter().map(|name| name.trim()).filter(|name| name.chars().count() >= HEARD_MIN);
    let names: Vec<&str> = names.collect();
    ValueOrigin::of_heard(&names, texts)
}

/// Returns the origin of the words of a sub-task.
fn subtask_from(subtask: &str, texts: &dyn Texts) -> ValueOrigin {
    let plain = subtask.trim();
    if texts.said().iter().any(|said| has_words(said, plain)) {
        return ValueOrigin::User;
    }
    let sentences = plain.split(['.', '\n', ';', '!', '?']).map(str::trim);
    let long: Vec<&str> = sentences.filter(|one| one.chars().count() >= SENTENCE_MIN).collect();
    ValueOrigin::of_heard(&long, texts)
}

/// The label of what is pressed, if a text from outside has it and the user has not said it.
fn label_told(label: &str, texts: &dyn Texts) -> Option<CommandValue> {
    if label.chars().count() < LABEL_MIN || texts.said().iter().any(|said| has_words(said, label)) {
        return None;
    }
    let origin = ValueOrigin::of_heard(&[label], texts);
    matches!(origin, ValueOrigin::Outside { .. }).then(|| CommandValue {
        kind: ValueKind::Argument,
        text: label.to_owned(),
        origin,
    })
}

/// A file of a place of secrets, or of a folder that is not the user's, is theirs only if they mean that place.
fn means(value: &mut CommandValue, document: Option<&str>, reading: &ValueContext<'_>) {
    let is_named = value.kind == ValueKind::Path && value.origin == ValueOrigin::User;
    if is_named
        && (reading.places.is_secret(&value.text) || !reading.places.is_in_folder(&value.text))
        && !reading.places.is_meant(&value.text, document, &reading.texts.said())
    {
        value.origin = ValueOrigin::of_unnamed(&value.text, reading.texts);
    }
}

/// Input of a command, and the field that receives it.
pub(super) struct Own<'a> {
    pub(super) field: Option<&'a Element>,
    /// The surface of the field.
    pub(super) surface: Option<&'a Surface>,
    view: &'a WindowView,
    /// `true` if the command is aimed at an element.
    is_aimed: bool,
    sets: bool,
    /// Text that the command types.
    pub(super) typed: String,
    /// The same with what the step has typed into the field before.
    letters: String,
}

impl<'a> Own<'a> {
    pub(super) fn of(command: &ToolCommand, view: &'a WindowView, reading: &ValueContext<'_>) -> Self {
        let shown = |id| view.elements().find(|one| one.id == id);
        let aimed = command.intent.elements().find_map(shown);
        let focused = view.elements().filter(|one| one.states.has(State::Focused)).last();
        // The step may have moved the focus by aiming at a field.
        let moved = reading.before.iter().rev().find_map(|one| one.intent.elements().last().and_then(shown));
        let field = aimed.or(moved).or(focused);
        let into_field = |one: &&ToolCommand| {
            let to = one.intent.elements().last();
            to.is_none() || to == field.map(|field| field.id)
        };
        let typed = typed_by(command, reading.tools);
        let before: String =
            reading.before.iter().filter(into_field).map(|one| typed_by(one, reading.tools)).collect();
        Self {
            field,
            surface: field
                .and_then(|field| view.surfaces.iter().find(|one| one.tree.find(field.id).is_some())),
            view,
            is_aimed: aimed.is_some(),
            sets: command.intent.does == Does::Set,
            letters: format!("{before}{typed}"),
            typed,
        }
    }

    /// Returns the place of the text for a password field, if the user has not named it.
    pub(super) fn password(&self, command: &ToolCommand, texts: &dyn Texts) -> Option<String> {
        self.field.filter(|field| field.role == Role::PASSWORD_TEXT)?;
        if command.intent.aims.iter().any(|aimed| matches!(aimed, CommandAim::Secret { .. })) {
            return origin_of_secret(command, texts);
        }
        if command.intent.chords().any(pastes_clipboard) {
            return Some("what the clipboard holds".to_owned());
        }
        let (own, all) = (self.typed.trim(), self.letters.trim());
        let is_said = |word: &str| texts.said().iter().any(|said| has_words(said, word));
        if own.is_empty() || is_said(own) || is_said(all) {
            return None;
        }
        let long = |word: &str| word.chars().count() >= PASSWORD_MIN;
        let found = texts
            .read()
            .into_iter()
            .find(|one| [own, all].iter().any(|word| long(word) && one.text.contains(*word)));
        Some(found.map_or_else(|| "no text at hand".to_owned(), |one| one.place))
    }

    /// The recipients without an address in what stands in a field for recipients by now.
    fn recipients(&self, presses_return: bool, texts: &dyn Texts) -> Vec<CommandValue> {
        let Some(field) = self.field.filter(|field| takes_contacts(field, self.view)) else {
            return Vec::new();
        };
        if self.typed.is_empty() {
            return Vec::new();
        }
        let shown =
            field.text.as_deref().filter(|_| !self.sets).unwrap_or_default().trim_end_matches(['\n', '\r']);
        let content = format!("{shown}{}", self.letters);
        // A name that is being typed begins like the one that it becomes.
        let begins = |part: &str| {
            let part = part.to_lowercase();
            let said = texts.said();
            let mut words =
                said.iter().flat_map(|said| said.split_whitespace().chain(said.split(['"', '<', '@'])));
            !presses_return && words.any(|word| word.to_lowercase().starts_with(&part))
        };
        let mut found = Vec::new();
        for part in parts(&self.letters) {
            let mut wholes = pieces(&content).filter(|whole| whole.ends_with(part));
            // What becomes a mail address is judged as one.
            if begins(part) || wholes.any(|whole| begins(whole) || !mail_addresses(whole).is_empty()) {
                continue;
            }
            let mut value = CommandValue::new(ValueKind::Recipient, part, texts);
            if value.origin != ValueOrigin::User
                && let Some(whole) = parts(&content).find(|whole| whole.ends_with(part))
            {
                value = CommandValue::new(ValueKind::Recipient, whole, texts);
            }
            found.push(value);
        }
        found
    }

    /// The file that is chosen in a dialog of a browser, which gives it to the page.
    fn upload(
        &self,
        subject: &Subject,
        command: &ToolCommand,
        reading: &ValueContext<'_>,
    ) -> Option<CommandValue> {
        let shows_page = subject.shows_page || matches(BROWSERS, &subject.application);
        let dialog = self.view.surfaces.iter().rev().find(|one| chooses_file(one)).filter(|_| shows_page)?;
        let elsewhere = self.surface.is_some_and(|surface| surface.window.id != dialog.window.id);
        if (self.is_aimed && elsewhere) || saves(dialog) {
            return None;
        }
        // A dialog that tells nothing of itself takes whatever is typed.
        let in_field = is_opaque(dialog) || self.field.filter(|_| !elsewhere).is_some_and(takes_file);
        let shown =
            self.field.filter(|_| in_field && subject.presses_return).and_then(|field| field.text.clone());
        let typed = [self.letters.clone(), self.typed.clone(), shown.unwrap_or_default()];
        let is_path = |text: &str| ["/", "~", "file:", "."].iter().any(|start| text.starts_with(start));
        let names = typed.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
        let mut names: Vec<String> =
            names.filter(|text| in_field || is_path(text)).map(str::to_owned).collect();
        let pressed = self.field.filter(|_| self.is_aimed && subject.does.activates() && is_opaque(dialog));
        names.extend(pressed.map(|one| one.name.clone()).filter(|name| name.contains('.')));
        if subject.does == Does::Open {
            names = command.intent.files().cloned().collect();
        }
        if names.is_empty() && opens(subject, command) {
            if is_opaque(dialog) {
                return drawn_file(dialog, reading.texts);
            }
            names = chosen(dialog);
        }
        let judged = names.iter().filter_map(|name| {
            let path = reading.places.absolute(name)?;
            let mut value = CommandValue::new(ValueKind::Path, path, reading.texts);
            means(&mut value, None, reading);
            Some(value)
        });
        let judged: Vec<CommandValue> = judged.collect();
        let is_named = judged.iter().any(|value| value.origin == ValueOrigin::User);
        judged.into_iter().next().filter(|_| !is_named)
    }
}

/// Returns `true` if a chord pastes.
pub(crate) fn pastes_clipboard(chord: &KeyChord) -> bool {
    let with = |modifier: KeyModifier| chord.modifiers.contains(&modifier);
    match chord.key {
        ChordKey::Char(letter) => with(KeyModifier::Ctrl) && letter.eq_ignore_ascii_case(&'v'),
        ChordKey::Named(NamedKey::Insert) => with(KeyModifier::Shift),
        ChordKey::Named(_) => false,
    }
}

/// The names in a field for recipients that are no mail addresses.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |part: &&str| {
        let has_name = part.contains(char::is_alphabetic) || part.starts_with('+');
        has_name && mail_addresses(part).is_empty() && part.chars().count() <= RECIPIENT_CHARS_MAX
    };
    pieces(text).filter(is_name)
}

/// Splits the text of a field for recipients at its separators.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';', '\n', '\r', '\t']).map(str::trim)
}

/// Returns `true` if a field takes recipients by their names: not one that says where a journey ends.
fn takes_contacts(field: &Element, view: &WindowView) -> bool {
    let is_field = |one: &Element| [Role::ENTRY, Role::TEXT].contains(&one.role);
    let begins = NameGlobs::new(BEGINS);
    let is_journey = || view.elements().any(|one| is_field(one) && begins.have(&folded(&one.name)));
    is_field(field) && is_for_recipients(field) && !is_journey()
}

/// The recipients without an address in the fields of a window.
fn contacts(view: &WindowView, texts: &dyn Texts) -> Vec<CommandValue> {
    let fields = view.elements().filter(|one| takes_contacts(one, view));
    let texts_of = fields.filter_map(|field| field.text.as_deref().filter(|text| *text != field.name));
    texts_of.flat_map(parts).map(|part| CommandValue::new(ValueKind::Recipient, part, texts)).collect()
}

/// Returns `true` if a surface is a dialog for choosing a file.
pub(crate) fn chooses_file(surface: &Surface) -> bool {
    let is_named = |one: &Element| takes_file(one) && !one.name.trim().is_empty();
    surface.tree.elements.iter().any(|one| one.role == Role::FILE_CHOOSER)
        || (surface.window.kind == WindowKind::Dialog
            && (is_opaque(surface)
                || surface.tree.lists_files()
                || surface.tree.elements.iter().any(is_named)))
}

/// Returns `true` if a dialog tells assistive technology nothing of itself, as that for files of a browser may.
fn is_opaque(surface: &Surface) -> bool {
    surface.window.kind == WindowKind::Dialog && surface.tree.has_no_controls()
}

fn takes_file(field: &Element) -> bool {
    [Role::ENTRY, Role::TEXT].contains(&field.role) && is_named_for_files(&field.name)
}

/// Returns `true` if a dialog for a file is one that saves.
fn saves(dialog: &Surface) -> bool {
    let mut buttons =
        dialog.tree.elements.iter().filter(|one| [Role::PUSH_BUTTON, Role::DRAWN_TEXT].contains(&one.role));
    buttons.any(|one| SAVES.seem(&one.name))
}

/// Returns `true` if a command opens what is chosen.
fn opens(subject: &Subject, command: &ToolCommand) -> bool {
    let (opens, takes) = (NameGlobs::new(OPENS), NameGlobs::new(TAKES));
    let accepts = |label: &String| opens.have(&folded(label)) || takes.have(&folded(label));
    subject.presses_return || (command.intent.does.activates() && subject.labels.iter().any(accepts))
}

/// The files that a dialog may give which tells nothing of itself, by what was read in its picture: the one whose place is typed, else
/// any that is shown. `None` if the user has named one of these.
fn drawn_file(dialog: &Surface, texts: &dyn Texts) -> Option<CommandValue> {
    let drawn = || dialog.tree.elements.iter().map(|one| one.name.as_str());
    let name_of = |text: &str| {
        let name = text.rsplit('/').next().unwrap_or_default();
        name.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
    };
    let typed = drawn().find(|text| text.contains('/')).map(name_of).filter(|name| !name.is_empty());
    let is_typed = typed.is_some();
    let shown =
        || drawn().map(name_of).filter(|name| name.contains('.') && name.contains(char::is_alphabetic));
    let files: Vec<String> = typed.map_or_else(|| shown().collect(), |file| vec![file]);
    let is_named =
        |file: &String| CommandValue::new(ValueKind::Path, file.clone(), texts).origin == ValueOrigin::User;
    let mut others: Vec<String> =
        files.iter().filter(|file| !is_named(file)).take(DRAWN_MAX).cloned().collect();
    // The one that they named is there: that it is chosen cannot be seen.
    if files.iter().any(is_named) {
        return None;
    }
    let kind = ValueKind::Path;
    match others.first() {
        Some(first) => {
            let origin = ValueOrigin::of_unnamed(first, texts);
            // What is chosen may be drawn otherwise than the rest, and not be read.
            if !is_typed {
                others.push(UNREADABLE.to_owned());
            }
            Some(CommandValue { kind, text: others.join("` or `"), origin })
        }
        None if files.is_empty() => {
            Some(CommandValue { kind, text: UNREADABLE.to_owned(), origin: ValueOrigin::Model })
        }
        None => None,
    }
}

/// The names that are chosen in a list of files.
fn chosen(dialog: &Surface) -> Vec<String> {
    let cells = [Role::TABLE_CELL, Role::LIST_ITEM, Role::TREE_ITEM, Role::ICON];
    let chosen = dialog
        .tree
        .elements
        .iter()
        .filter(|one| cells.contains(&one.role) && one.states.has(State::Selected));
    let fields = dialog.tree.elements.iter().filter(|one| takes_file(one)).filter_map(|one| one.text.clone());
    let names = fields.chain(chosen.map(|one| one.name.clone()));
    names.filter(|name| !name.trim().is_empty()).collect()
}
