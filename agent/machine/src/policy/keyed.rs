//! Effects of keys and clicks beyond the names of their targets: letters that press buttons, keys that delete,
//! files that are run when they are opened.

use serde::Serialize;

use super::{subject::Subject, surroundings::TargetContext};
use crate::{command::ToolCommand, intent::Does};
use deskhand_ui::pattern::{NameGlobs, folded, matches};
use deskhand_ui::{
    Element, Role, State, Surface, WindowKind, WindowView,
    keys::{ChordKey, KeyChord, KeyModifier, NamedKey},
};

/// The most elements that a letter may press.
const PRESSABLE_MAX: usize = 20;

/// Applications that show files.
const FILE_MANAGERS: &str = "thunar|nautilus|org.gnome.nautilus|files|nemo|caja|pcmanfm*|dolphin|krusader|konqueror|spacefm|xfdesktop|doublecmd";
/// Applications that show messages.
const MAIL: &str = "*mail*|thunderbird*|betterbird|evolution|geary|org.gnome.geary|sylpheed|balsa|trojita";
/// Applications that run what is entered there: terminals, and dialogs for commands.
const RUN_ENTERED: &str = "*terminal*|*xterm*|kitty|alacritty|st|st-*|stterm|urxvt*|rxvt*|mrxvt|aterm|eterm|konsole|yakuake|guake|tilda|tilix|\
                           terminator|terminology|sakura|roxterm|wezterm*|org.wezfurlong.wezterm|foot|footclient|ghostty|com.mitchellh.ghostty|\
                           termite|cool-retro-term|hyper|tabby|warp|kgx|org.gnome.console|ptyxis|black box|blackbox|rio|contour|deepin-terminal|\
                           krunner|rofi|dmenu|gmrun|xfce4-appfinder|xfrun4|fuzzel|wofi|bemenu|ulauncher|albert|synapse|lxqt-runner|mate-run";
/// Names of the fields of editors that are terminals.
const TERMINAL_FIELDS: &str = "terminal|terminal *|terminal,*";
/// Names of files that are run when they are opened, or that install something.
const RUNS: &str = "*.desktop|*.sh|*.bash|*.csh|*.zsh|*.py|*.pl|*.rb|*.run|*.appimage|*.bin|*.exe|*.jar|*.deb|*.rpm|*.flatpak|\
                    *.flatpakref|*.snap|*.bat|*.lnk";
/// Roles that show a file.
const FILES: &str = "icon|table cell|list item|tree item|tree table|layered pane|drawn *";
/// Labels that open what is chosen.
pub(super) const OPENS: &[&str] = &[
    "Open|Execute|Run|Run in Terminal|Launch|Öffnen|Ausführen|Ouvrir|Exécuter|Abrir|Ejecutar|Executar|Apri|Esegui|Openen|Uitvoeren",
    "Otwórz|Uruchom|Otevřít|Spustit|Открыть|Выполнить|Запустить|Відкрити|Виконати|Запустити|Öppna|Kör|Åbn|Åpne|Kør|Kjør|Avaa|Suorita",
    "Aç|Çalıştır|Megnyitás|Futtatás|Deschide|Execută|Άνοιγμα|Εκτέλεση|開く|実行|打开|執行|执行|运行|열기|실행",
];

/// An element that a key may press without naming it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pressable {
    /// Its role.
    pub role: Role,
    /// Its name.
    pub name: String,
    /// Surroundings of the element.
    pub surroundings: TargetContext,
}

impl Subject {
    /// Notes what the keys and the clicks of a command amount to in a window.
    pub(super) fn amounts_to(&mut self, command: &ToolCommand, view: &WindowView) {
        self.may_press =
            command.intent.chords().flat_map(|chord| pressable(chord, view)).take(PRESSABLE_MAX).collect();
        let shows_terminal = view.elements().any(|one| one.role == Role::TERMINAL);
        self.feeds_terminal = shows_terminal && command.intent.chords().any(feeds_terminal);
        self.enters_line = self.runs_entered(command, view)
            && (self.presses_return
                || command.intent.chords().any(|chord| feeds_terminal(chord) || runs_line(chord))
                || pastes_by_click(command));
        let chosen = || {
            view.elements().filter(|one| one.states.has(State::Selected) || one.states.has(State::Focused))
        };
        let shows = |application: &str| {
            [&self.application, &self.application_root].into_iter().any(|name| matches(application, name))
        };
        let types =
            view.elements().any(|one| one.states.has(State::Focused) && one.states.has(State::Editable));
        self.deletes_chosen =
            command.intent.chords().any(deletes) && !types && (shows(FILE_MANAGERS) || shows(MAIL));
        if !shows(FILE_MANAGERS) || !command.intent.does.activates() {
            return;
        }
        let is_file = |one: &&Element| matches(FILES, one.role.name()) && matches(RUNS, &one.name);
        let targets = || view.elements().filter(|one| self.elements.iter().any(|judged| judged.id == one.id));
        let opens_chosen =
            self.presses_return || self.labels.iter().any(|label| NameGlobs::new(OPENS).have(&folded(label)));
        let opened = if opens_chosen { chosen().find(is_file) } else { None };
        let opened =
            opened.or_else(|| targets().find(is_file).filter(|_| opens_chosen || opens_target(command)));
        self.runs = opened.map(|one| one.name.clone());
    }
}

impl Subject {
    /// Returns `true` if what is entered is run: in a terminal that may not say that it is one, in a dialog for commands, in the terminal of
    /// an editor.
    fn runs_entered(&self, command: &ToolCommand, view: &WindowView) -> bool {
        let takes_lines = |one: &Element| {
            matches("terminal|*text*|entry|document*|paragraph", one.role.name())
                && (one.role == Role::TERMINAL || matches(TERMINAL_FIELDS, &one.name))
        };
        let aimed = || view.elements().filter(|one| command.intent.elements().any(|id| id == one.id));
        let focused = || view.elements().filter(|one| one.states.has(State::Focused));
        [&self.application, &self.application_root].into_iter().any(|name| matches(RUN_ENTERED, name))
            || aimed().any(takes_lines)
            || (aimed().next().is_none() && focused().any(takes_lines))
    }

    /// Notes the file that an application for files is started with, if opening it runs it.
    pub(super) fn opens_in_files(&mut self) {
        if self.does == Does::Open && matches(FILE_MANAGERS, &self.application) {
            self.runs = self.arguments.iter().find(|file| matches(RUNS, file)).cloned();
        }
    }

    /// Notes the words that were read in a picture where a command clicks, if nothing else there has a name. A button that is drawn is
    /// larger than the words on it, by up to their height on each side.
    pub(super) fn drawn_there(&mut self, command: &ToolCommand, view: &WindowView) {
        let Some(bounds) = view.surfaces.first().map(|surface| surface.window.bounds) else { return };
        let points = command.intent.places().filter_map(|(x, y)| bounds.at_fraction(x, y));
        if !self.labels.is_empty() {
            return;
        }
        for point in points.take(PRESSABLE_MAX) {
            let covers = |one: &&Element| {
                one.bounds.is_some_and(|words| words.grown_by(words.height).contains(&point))
            };
            let drawn = view.elements().filter(|one| one.role == Role::DRAWN_TEXT).filter(covers);
            self.labels.extend(drawn.map(|one| one.name.clone()).take(PRESSABLE_MAX));
        }
        self.drawn_there = !self.labels.is_empty();
    }
}

/// Returns `true` if a command opens the element that it is aimed at: by a double click or by an action of the application.
fn opens_target(command: &ToolCommand) -> bool {
    let clicks = command.arguments.get("count").and_then(serde_json::Value::as_u64);
    let twice = command.arguments.get("double").and_then(serde_json::Value::as_bool) == Some(true);
    command.intent.does == Does::Press
        && (twice || clicks.is_some_and(|count| count > 1) || command.arguments.contains_key("action"))
}

/// Returns `true` if a chord ends a line of a terminal as Return does, or pastes, which may bring lines.
fn feeds_terminal(chord: &KeyChord) -> bool {
    let with = |modifier: KeyModifier| chord.modifiers.contains(&modifier);
    match chord.key {
        ChordKey::Char(letter) if with(KeyModifier::Ctrl) => "mjv".contains(letter.to_ascii_lowercase()),
        ChordKey::Named(NamedKey::Insert) => with(KeyModifier::Shift) || with(KeyModifier::Ctrl),
        ChordKey::Char(_) | ChordKey::Named(_) => false,
    }
}

/// Returns `true` if a chord runs the line of a shell and brings the next one.
fn runs_line(chord: &KeyChord) -> bool {
    chord.modifiers.contains(&KeyModifier::Ctrl) && matches!(chord.key, ChordKey::Char('o' | 'O'))
}

/// Returns `true` if a command clicks with the button that pastes what is selected.
fn pastes_by_click(command: &ToolCommand) -> bool {
    command.arguments.get("button").and_then(serde_json::Value::as_str) == Some("middle")
}

/// Returns `true` if a chord deletes what is chosen.
fn deletes(chord: &KeyChord) -> bool {
    chord.key == ChordKey::Named(NamedKey::Delete)
        && chord.modifiers.iter().all(|one| matches!(one, KeyModifier::Ctrl | KeyModifier::Shift))
}

/// Returns the elements that a letter may press: with Alt a button or a menu of the window, alone an entry of
/// an open menu.
fn pressable(chord: &KeyChord, view: &WindowView) -> Vec<Pressable> {
    let ChordKey::Char(letter) = chord.key else { return Vec::new() };
    let with_alt = chord.modifiers.contains(&KeyModifier::Alt);
    if !with_alt && !chord.modifiers.iter().all(|one| *one == KeyModifier::Shift) {
        return Vec::new();
    }
    let surfaces =
        view.surfaces.iter().filter(|surface| with_alt || surface.window.kind == WindowKind::Popup);
    let starts = |name: &str| {
        let mut words = name.split(|c: char| !c.is_alphanumeric());
        let first = |word: &str| word.chars().next().map(|c| c.to_lowercase().collect::<String>());
        let letter = Some(letter.to_lowercase().collect::<String>());
        words.any(|word| first(word) == letter)
    };
    let fits = |one: &&Element, surface: &Surface| {
        let in_menu = surface.window.kind == WindowKind::Popup && !with_alt;
        let roles: &[Role] = if in_menu {
            &[Role::MENU_ITEM, Role::CHECK_MENU_ITEM, Role::RADIO_MENU_ITEM]
        } else {
            &[Role::PUSH_BUTTON, Role::TOGGLE_BUTTON, Role::MENU_ITEM, Role::LINK]
        };
        roles.contains(&one.role) && one.states.has(State::Showing) && starts(&one.name)
    };
    let of = |one: &Element, surface: &Surface| Pressable {
        role: one.role.clone(),
        name: one.name.clone(),
        surroundings: TargetContext::of(one.id, surface),
    };
    let each = surfaces.flat_map(|surface| {
        let found = surface.tree.elements.iter().filter(move |one| fits(one, surface));
        found.map(move |one| of(one, surface))
    });
    each.take(PRESSABLE_MAX).collect()
}
