//! Gestures to acts: what each was aimed at, and what came of it.

use std::{sync::Arc, time::Instant};

use deskhand_desktop::{
    PersonInput,
    keys::{ChordKey, KeyChord, KeyModifier, NamedKey},
};
use deskhand_machine::{
    command::{CallResult, CallStatus, ToolCommand, ToolSpec},
    intent,
};
use deskhand_ui::{
    Element, Role, State, Surface, WindowInfo, WindowKind, WindowView,
    action::{CallReport, Verdict},
    geometry::{Point, Screen},
    ids::{ElementId, WindowId},
    text::excerpt,
};
use serde_json::{Map, Value, json};

use super::{
    gestures::{PersonGesture, TimedGesture, gestures},
    looks::{Demonstration, LookedAt},
    shown::{DemonstratedActs, ShownAct},
    typed::{TypedTextRetention, kept, replaces, source},
};

/// The most characters of a name that are shown.
const NAME_MAX: usize = 60;

/// Roles of elements that only contain other elements: a click on one hits nothing.
const HOLDERS: [Role; 8] = [
    Role::TOOL_BAR,
    Role::MENU_BAR,
    Role::STATUS_BAR,
    Role::PANEL,
    Role::FILLER,
    Role::SCROLL_PANE,
    Role::VIEWPORT,
    Role::ROOT_PANE,
];

/// Location of a gesture.
struct GestureLocation {
    view: Arc<WindowView>,
    /// The control there, or the window alone.
    element: Option<Element>,
    /// `true` if the control is a part of a spreadsheet.
    in_sheet: bool,
    /// The kind of the window, dialog or pop-up.
    kind: WindowKind,
}

impl GestureLocation {
    fn main(&self) -> Option<&WindowInfo> {
        self.view.surfaces.first().map(|surface| &surface.window)
    }
}

impl Demonstration {
    /// Interprets the demonstration. `request` is the person's description of it; `leaves_out` selects windows that
    /// are no part of it, such as the terminal from which the recording runs.
    pub fn shown(
        &self,
        request: &str,
        tools: &[ToolSpec],
        leaves_out: &dyn Fn(&WindowInfo) -> bool,
    ) -> DemonstratedActs {
        let focus = |at: Instant| self.before(at).and_then(LookedAt::focused).map(|element| element.id);
        let divides = |one: Instant, other: Instant| focus(one) != focus(other);
        let made = gestures(&self.inputs, &divides);
        let mut teller = DemonstrationTranslator {
            all: self,
            request,
            tools,
            leaves_out,
            shown: DemonstratedActs::default(),
        };
        let pauses =
            || self.inputs.iter().filter(|done| done.input == PersonInput::Pause).map(|done| done.at);
        for (index, one) in made.iter().enumerate() {
            // What came of it is not what was done during a pause.
            let pause = pauses().find(|at| *at >= one.to);
            let next = made.get(index + 1).map(|next| next.from).into_iter().chain(pause).min();
            teller.tell(one, next);
        }
        teller.finds_documents();
        teller.unwatched();
        teller.shown
    }
}

struct DemonstrationTranslator<'a> {
    all: &'a Demonstration,
    request: &'a str,
    tools: &'a [ToolSpec],
    leaves_out: &'a dyn Fn(&WindowInfo) -> bool,
    shown: DemonstratedActs,
}

impl DemonstrationTranslator<'_> {
    fn tell(&mut self, made: &TimedGesture, next: Option<Instant>) {
        match &made.gesture {
            PersonGesture::Click { button, at, count, held } => {
                self.click(made, next, (*button, *at, *count), held);
            }
            PersonGesture::Drag { from, to } => self.drag(made, next, *from, *to),
            PersonGesture::Text(text) => self.text(made, next, text),
            PersonGesture::Keys(chords) => self.keys(made, next, chords),
        }
    }

    fn click(
        &mut self,
        made: &TimedGesture,
        next: Option<Instant>,
        (button, at, count): (u32, Point<Screen>, u32),
        held: &[KeyModifier],
    ) {
        let Some(spot) = self.spot(made.from, at) else { return };
        let Some(element) = spot.element.clone() else {
            let window = spot.main().map(|window| window.title.clone()).unwrap_or_default();
            return self.note(format!("a click beside the controls of {window} is left out"));
        };
        let id = element.id;
        let earlier = self.shown.acts.last().cloned();
        let is_plain = held.is_empty();
        if let Some(combo) = earlier.filter(|last| is_plain && is_choice(last, &element, &spot)) {
            self.shown.acts.pop();
            let chosen = combo.command.arguments.get("id").cloned().unwrap_or_default();
            let arguments = json!({"id": chosen, "item": element.name});
            return self.act(made, next, (&combo.view, "select"), arguments);
        }
        if button == 1
            && count == 1
            && is_item(&element.role)
            && let Some((path, view)) = self.take_menus(&element)
        {
            return self.act(made, next, (&view, "visit"), json!({"path": path}));
        }
        let arguments = match &element.role {
            role if is_plain
                && button == 1
                && count == 1
                && [Role::CHECK_BOX, Role::CHECK_MENU_ITEM].contains(role) =>
            {
                let checked = self.is_checked(made, next, id).unwrap_or(!element.states.has(State::Checked));
                return self.act(
                    made,
                    next,
                    (&spot.view, "set_checked"),
                    json!({"id": id, "checked": checked}),
                );
            }
            _ if is_plain && spot.in_sheet && button == 1 && count == 1 && is_address(&element.name) => {
                return self.act(made, next, (&spot.view, "select_cells"), json!({"range": element.name}));
            }
            _ => {
                let mut arguments = Map::from_iter([("id".to_owned(), json!(id))]);
                if button != 1 {
                    let word = if button == 3 { "right" } else { "middle" };
                    arguments.insert("button".to_owned(), json!(word));
                }
                if count > 1 {
                    arguments.insert("count".to_owned(), json!(count));
                }
                if !is_plain {
                    let names: Vec<String> = held.iter().map(ToString::to_string).collect();
                    arguments.insert("hold".to_owned(), json!(names.join("+")));
                }
                Value::Object(arguments)
            }
        };
        self.act(made, next, (&spot.view, "click_element"), arguments);
    }

    /// The names of the menus that were just opened and that of an item of theirs, with what was there before; their acts are taken back.
    fn take_menus(&mut self, item: &Element) -> Option<(Vec<String>, Arc<WindowView>)> {
        let mut path = vec![item.name.clone()];
        let mut view = None;
        while let Some(last) = self.shown.acts.last().filter(|last| opens_menu(last)) {
            let name = last.target().map(|element| element.name.clone()).unwrap_or_default();
            path.insert(0, name);
            view = Some(Arc::clone(&last.view));
            self.shown.acts.pop();
        }
        view.map(|view| (path, view))
    }

    fn is_checked(&self, made: &TimedGesture, next: Option<Instant>, id: ElementId) -> Option<bool> {
        let after = self.all.after(made.to, next)?;
        let now = after.view.as_ref()?.elements().find(|element| element.id == id)?;
        Some(now.states.has(State::Checked))
    }

    fn drag(&mut self, made: &TimedGesture, next: Option<Instant>, from: Point<Screen>, to: Point<Screen>) {
        let (Some(begun), Some(ended)) = (self.spot(made.from, from), self.spot(made.from, to)) else {
            return;
        };
        let (Some(one), Some(other)) = (&begun.element, &ended.element) else {
            return self.note("a drag beside the controls is left out".to_owned());
        };
        if begun.in_sheet && is_address(&one.name) && is_address(&other.name) {
            let arguments = json!({"range": format!("{}:{}", one.name, other.name)});
            return self.act(made, next, (&begun.view, "select_cells"), arguments);
        }
        if one.id == other.id {
            return self.note(format!("what was selected with the mouse in {} is left out", one.label()));
        }
        self.act(made, next, (&begun.view, "drag"), json!({"from": one.id, "to": other.id}));
    }

    fn text(&mut self, made: &TimedGesture, next: Option<Instant>, text: &str) {
        let before = self.all.before(made.from);
        let after = self.all.after(made.to, next);
        let Some(view) =
            before.and_then(|look| look.view.clone()).or(after.and_then(|look| look.view.clone()))
        else {
            return;
        };
        let Some(window) = view.surfaces.first().map(|surface| surface.window.clone()) else { return };
        if (self.leaves_out)(&window) || text.is_empty() {
            return;
        }
        let field = before.and_then(LookedAt::focused).or(after.and_then(LookedAt::focused)).cloned();
        let is_seen = |field: &&Element| view.elements().any(|element| element.id == field.id);
        let field = field.as_ref().filter(is_seen);
        let text = match kept(text, field, [before, after]) {
            TypedTextRetention::Text(text) => text,
            TypedTextRetention::Password(name) => {
                self.shown.hide(text);
                self.note(format!(
                    "a password was typed into “{name}”; it is not kept: set it as the secret `password`"
                ));
                "secret:password".to_owned()
            }
            TypedTextRetention::Nothing => {
                let place = field.map_or_else(|| window.title.clone(), Element::label);
                return self.note(format!(
                    "what was typed into {place} is not kept, because {} does not show it",
                    window.app.name
                ));
            }
        };
        self.read_before(made, &text, &window);
        let (tool, arguments) = match field.filter(|field| is_field(field)) {
            Some(field) if replaces(&text, field, after) => {
                ("set_value", json!({"id": field.id, "value": text}))
            }
            Some(field) => ("type_text", json!({"id": field.id, "text": text})),
            None => ("type_text", json!({"text": text})),
        };
        // A click that only put the focus there says nothing more.
        if let Some(field) = field
            && self.shown.acts.last().is_some_and(|last| is_focusing(last, field.id))
        {
            self.shown.acts.pop();
        }
        self.act(made, next, (&view, tool), arguments);
    }

    /// A text that stood in another window, and not in the request, was read there.
    fn read_before(&mut self, made: &TimedGesture, text: &str, into: &WindowInfo) {
        if self.request.to_lowercase().contains(&text.trim().to_lowercase()) {
            return;
        }
        let until = self.all.looks.iter().take_while(|look| look.to <= made.from).count();
        let looks = self.all.looks.get(..until).unwrap_or_default();
        let Some((view, window, element)) = source(text, into, looks) else { return };
        let mut act = self.made(made, &view, "read_text", json!({"id": element.id}));
        act.about = format!("read {} of {}", excerpt(&element.label(), NAME_MAX), window.app.name);
        act.result.effect = None;
        act.result.output = json!({"text": text.trim()});
        self.shown.acts.push(act);
    }

    fn keys(&mut self, made: &TimedGesture, next: Option<Instant>, chords: &[KeyChord]) {
        let view = self.all.before(made.from).and_then(|look| look.view.clone());
        let Some(view) = view else { return };
        if view.surfaces.first().is_none_or(|surface| (self.leaves_out)(&surface.window)) {
            return;
        }
        // The window of a step says where it is done.
        let wanted = chords.iter().filter(|chord| !switches(chord));
        let keys: Vec<String> = wanted.map(ToString::to_string).collect();
        if !keys.is_empty() {
            self.act(made, next, (&view, "press_keys"), json!({"keys": keys.join(" ")}));
        }
    }

    /// Finds the element at a point, in the topmost window there. `None` if the point is no part of the
    /// demonstration.
    fn spot(&mut self, at: Instant, point: Point<Screen>) -> Option<GestureLocation> {
        let window = self
            .all
            .windows_at(at)?
            .iter()
            .rev()
            .find(|window| window.kind != WindowKind::Tooltip && window.bounds.contains(&point));
        let Some(window) = window.filter(|window| window.kind != WindowKind::Panel) else {
            self.note("a click on the desktop or a panel is left out".to_owned());
            return None;
        };
        let surface_of = |view: &Arc<WindowView>| -> Option<Surface> {
            view.surfaces.iter().find(|surface| surface.window.id == window.id).cloned()
        };
        let seen = |look: &LookedAt| {
            let view = look.view.as_ref()?;
            // A window that has just opened has no elements yet.
            let surface = surface_of(view).filter(|surface| !surface.tree.elements.is_empty())?;
            Some((Arc::clone(view), surface))
        };
        // A window in the background was seen when it was active, or is seen once it is.
        let earlier = self.all.looks.iter().rev().filter(|look| look.to <= at).find_map(seen);
        if earlier.is_none()
            && let Some((view, item)) = item_of_menu_bar(&self.all.looks, window, at, point)
        {
            let is_left_out = view.surfaces.first().is_some_and(|main| (self.leaves_out)(&main.window));
            let spot = GestureLocation { element: Some(item), in_sheet: false, view, kind: window.kind };
            return Some(spot).filter(|_| !is_left_out);
        }
        let Some((view, surface)) = earlier.or_else(|| self.all.looks.iter().find_map(seen)) else {
            let what = if window.kind == WindowKind::Popup { "a menu or list" } else { &window.title };
            self.note(format!(
                "a click in {what} is left out, because it came before its elements were seen"
            ));
            return None;
        };
        if view.surfaces.first().is_some_and(|main| (self.leaves_out)(&main.window)) {
            return None;
        }
        let element = control_at(&surface, point);
        let in_sheet = element.as_ref().is_some_and(|element| {
            surface.tree.ancestors(element.id).any(|above| above.role == Role::DOCUMENT_SPREADSHEET)
        });
        Some(GestureLocation { element, in_sheet, view, kind: window.kind })
    }

    fn act(
        &mut self,
        made: &TimedGesture,
        next: Option<Instant>,
        (view, tool): (&Arc<WindowView>, &str),
        arguments: Value,
    ) {
        let mut act = self.made(made, view, tool, arguments);
        let (before, after) = (self.all.before(made.from), self.all.after(made.to, next));
        let is_new = |window: &&WindowInfo| {
            before.is_none_or(|before| before.windows.iter().all(|known| known.id != window.id))
        };
        act.result.window = after
            .and_then(|after| {
                after.windows.iter().rev().filter(is_new).find(|new| new.kind == WindowKind::Dialog)
            })
            .cloned();
        let differs = match (before, after) {
            (Some(before), Some(after)) => before.view != after.view || before.windows != after.windows,
            (_, _) => false,
        };
        act.result.effect = Some(if differs { Verdict::Seen } else { Verdict::Unknown });
        self.shown.acts.push(act);
    }

    fn made(&self, made: &TimedGesture, view: &Arc<WindowView>, tool: &str, arguments: Value) -> ShownAct {
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Map::new()
            }
        };
        let window: Option<WindowId> = view.surfaces.first().map(|surface| surface.window.id);
        let mut command = ToolCommand { tool: tool.to_owned(), arguments, window, ..ToolCommand::default() };
        // What cannot be read is no call of a tool that there is; the learner leaves it out by name.
        let _ = intent::read(&mut command, self.tools);
        let result = CallResult {
            status: CallStatus::Success,
            effect: None,
            report: CallReport::text("done by a person"),
            ..CallResult::failure(None, "")
        };
        let act = ShownAct { about: String::new(), command, result, view: Arc::clone(view), at: made.from };
        ShownAct { about: in_words(&act), ..act }
    }

    fn note(&mut self, note: String) {
        if !self.shown.notes.contains(&note) {
            self.shown.notes.push(note);
        }
    }

    /// Finds what was open from the beginning.
    fn finds_documents(&mut self) {
        let Some(first) = self.all.looks.first() else { return };
        for surface in self.shown.acts.iter().filter_map(|act| act.view.surfaces.first()) {
            let window = first.windows.iter().find(|window| window.id == surface.window.id);
            let path = window.and_then(|window| window.document.as_ref()?.path.clone());
            if let Some(path) = path.filter(|path| !self.shown.documents.contains(path)) {
                self.shown.documents.push(path);
            }
        }
    }

    /// Says what was not watched.
    fn unwatched(&mut self) {
        if self.all.cut {
            self.note("it took too long: what came after the limit is left out".to_owned());
        }
    }
}

/// Describes an act in words.
fn in_words(act: &ShownAct) -> String {
    let target = act.target().map(|element| format!(" on {}", excerpt(&element.label(), NAME_MAX)));
    let given = act.command.arguments.iter().filter(|(name, _)| *name != "id");
    let given: Vec<String> = given.map(|(name, value)| format!("{name} {value}")).collect();
    let given =
        if given.is_empty() { String::new() } else { format!(" ({})", excerpt(&given.join(", "), NAME_MAX)) };
    format!("{}{}{given}", act.command.tool, target.unwrap_or_default())
}

/// The control at a point: the element there, or the nearest one around it that is acted on as a whole.
fn control_at(surface: &Surface, point: Point<Screen>) -> Option<Element> {
    let spot = surface.tree.at(point)?;
    let around = || std::iter::once(spot).chain(surface.tree.ancestors(spot.id));
    let is_whole = |element: &&Element| {
        element.role.is_interactive()
            && element.role != Role::TABLE
            && element.role != Role::DOCUMENT_SPREADSHEET
    };
    let is_named = |one: &&Element| !one.name.trim().is_empty() && !HOLDERS.contains(&one.role);
    let found = around().find(is_whole).or_else(|| Some(spot).filter(is_named));
    // The window itself is no control.
    found.filter(|element| element.depth > 0).cloned()
}

/// The item at a point of an open menu without elements of its own: some applications have them below the menu bar of the window.
fn item_of_menu_bar(
    looks: &[LookedAt],
    menu: &WindowInfo,
    at: Instant,
    point: Point<Screen>,
) -> Option<(Arc<WindowView>, Element)> {
    let is_open = |look: &&LookedAt| look.to <= at && look.windows.iter().any(|window| window.id == menu.id);
    let is_it = |element: &&Element| {
        (is_item(&element.role) || element.role == Role::MENU)
            && element.bounds.is_some_and(|bounds| bounds.contains(&point))
    };
    looks.iter().rev().filter(is_open).filter_map(|look| look.view.as_ref()).find_map(|view| {
        let item = view.surfaces.first()?.tree.elements.iter().rfind(is_it)?;
        Some((Arc::clone(view), item.clone()))
    })
}

fn is_item(role: &Role) -> bool {
    [Role::MENU_ITEM, Role::CHECK_MENU_ITEM, Role::RADIO_MENU_ITEM].contains(role)
}

/// Returns `true` if an act opened a menu.
fn opens_menu(act: &ShownAct) -> bool {
    act.command.tool == "click_element" && act.target().is_some_and(|element| element.role == Role::MENU)
}

/// Returns `true` if a click chose an item of the combo box that was clicked before.
fn is_choice(last: &ShownAct, item: &Element, spot: &GestureLocation) -> bool {
    let is_combo = last.target().is_some_and(|element| element.role == Role::COMBO_BOX);
    let is_item = item.role == Role::LIST_ITEM || self::is_item(&item.role);
    last.command.tool == "click_element" && is_combo && is_item && {
        let inside = spot.view.surfaces.iter().any(|surface| {
            surface.tree.ancestors(item.id).any(|one| Some(one.id) == last.target().map(|combo| combo.id))
        });
        inside || spot.kind == WindowKind::Popup
    }
}

/// Returns `true` if an act clicked this field, which put the focus there.
fn is_focusing(act: &ShownAct, field: ElementId) -> bool {
    act.command.tool == "click_element"
        && act.command.arguments.len() == 1
        && act.target().is_some_and(|element| element.id == field && is_field(element))
}

/// Returns `true` if a text is typed into it by its id.
fn is_field(element: &Element) -> bool {
    [Role::ENTRY, Role::TEXT, Role::SPIN_BUTTON, Role::PASSWORD_TEXT, Role::COMBO_BOX].contains(&element.role)
}

/// Returns `true` if a name is that of a cell: `B3`.
fn is_address(name: &str) -> bool {
    let letters = name.chars().take_while(char::is_ascii_uppercase).count();
    let digits = name.get(letters..).unwrap_or_default();
    (1..=3).contains(&letters) && !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
}

/// Returns `true` if a chord goes to another window.
fn switches(chord: &KeyChord) -> bool {
    chord.key == ChordKey::Named(NamedKey::Tab) && chord.modifiers.contains(&KeyModifier::Alt)
}
