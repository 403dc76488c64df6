//! Random drifts of random windows: what is found is the element that was recorded, or nothing.

use deskhand_machine::workflow::selector::{Selector, SelectorAnchor, find};
use deskhand_ui::{Role, State, ids::ElementId};
use proptest::prelude::*;

use super::{words, world::World};

/// Random numbers from a seed, the same for everyone (xorshift64*).
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        (0..8).for_each(|_| {
            dice.roll(2);
        });
        dice
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % sides.max(1)
    }

    fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.roll(from.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }
}

/// Names of controls: words that lists of translations have, and words that none has.
const NAMES: &[&str] = &[
    "Save",
    "Open",
    "New",
    "Delete",
    "Search",
    "Share",
    "Undo",
    "Redo",
    "Print",
    "Cancel",
    "Apply",
    "Close",
    "Reset",
    "Reply",
    "Send",
    "Archive",
    "Add",
    "Next",
    "Back",
    "Import",
    "Export",
    "Copy",
    "Refresh",
    "Properties",
    "Zoom in",
    "Zoom out",
    "Show hidden files",
    "Settings",
    "Rotate left",
    "Rotate right",
    "Crop",
    "Blend",
    "Render",
    "Publish",
    "Merge cells",
    "Sort descending",
    "Toggle grid",
    "Freeze",
    "Calibrate",
    "Solder",
    "Knit",
    "Varnish",
    "Delete all",
    "Save as",
    "Save all",
    "Copy link",
    "Send now",
    "Mark as read",
];
const FIELDS: &[&str] = &[
    "First name:",
    "Last name:",
    "E-mail:",
    "Street:",
    "City:",
    "Phone:",
    "Remarks:",
    "Discount:",
    "Folder:",
    "Tag:",
];
const GROUPS: &[&str] = &["Private", "Company", "Standard", "Formatting", "Layout", "Review", "", ""];
const ROWS: &[&str] = &["Tea", "Milk", "Sugar", "Rice", "Salt", "Beans"];
const BUTTONS: &[&str] = &["push button", "push button", "push button", "toggle button", "check box", "link"];

fn random_window(dice: &mut Dice) -> World {
    let mut text = "frame \"App\"\n  menu bar\n    menu \"File\"\n    menu \"Edit\"\n    menu \"View\"\n    menu \"Help\"\n".to_owned();
    for _ in 0..1 + dice.roll(3) {
        let container = *dice.pick(&["tool bar", "panel", "filler"]);
        let group = *dice.pick(GROUPS);
        text += &format!("  {container} \"{group}\"\n");
        for _ in 0..1 + dice.roll(6) {
            if container == "panel" && dice.chance(45) {
                text += &format!("    filler\n      label \"{}\"\n      entry\n", dice.pick(FIELDS));
            } else {
                let help = if dice.chance(15) {
                    format!(" ? Help on {}", dice.roll(3) + 100)
                } else {
                    String::new()
                };
                text += &format!("    {} \"{}\"{help}\n", dice.pick(BUTTONS), dice.pick(NAMES));
            }
        }
    }
    if dice.chance(40) {
        text += "  table\n    table row\n      column header \"Item\"\n      column header \"Count\"\n      column header \"Action\"\n";
        for row in &ROWS[..1 + dice.roll(ROWS.len())] {
            text += &format!(
                "    table row\n      table cell \"{row}\"\n      table cell \"{}\"\n      push button \"Remove\"\n",
                dice.roll(40)
            );
        }
    }
    World::read(&text)
}

/// What may happen to a window. Each edit keeps the ids of what it moves and changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    Rename,
    RenameTarget,
    WidenTarget,
    Move,
    MoveTarget,
    Delete,
    DeleteTarget,
    Copy,
    CopyTarget,
    Swap,
    SwapTarget,
    Translate,
    Roles,
    RoleOfTarget,
    Insert,
    InsertBesideTarget,
    Dialog,
    Theme,
    Hide,
    HideTarget,
}

const EDITS: &[Edit] = &[
    Edit::Rename,
    Edit::RenameTarget,
    Edit::WidenTarget,
    Edit::Move,
    Edit::MoveTarget,
    Edit::Delete,
    Edit::DeleteTarget,
    Edit::Copy,
    Edit::CopyTarget,
    Edit::Swap,
    Edit::SwapTarget,
    Edit::Translate,
    Edit::Roles,
    Edit::RoleOfTarget,
    Edit::Insert,
    Edit::InsertBesideTarget,
    Edit::Dialog,
    Edit::Theme,
    Edit::Hide,
    Edit::HideTarget,
];

fn is_control(role: &Role) -> bool {
    role.is_interactive() && ![Role::MENU, Role::TABLE, Role::TABLE_CELL].contains(role)
}

fn controls(world: &World) -> Vec<ElementId> {
    world.all().into_iter().filter(|element| is_control(&element.role)).map(|element| element.id).collect()
}

fn is_in_row(world: &World, id: ElementId) -> bool {
    world.all().iter().any(|element| element.id == id && element.name == "Remove")
}

/// Carries out an edit; `copies` are the copies of the target.
fn apply(edit: Edit, world: &mut World, target: ElementId, copies: &mut Vec<ElementId>, dice: &mut Dice) {
    let others: Vec<ElementId> =
        controls(world).into_iter().filter(|id| *id != target && !is_in_row(world, *id)).collect();
    if others.is_empty() || !controls(world).contains(&target) {
        return;
    }
    // What a button in a row does depends on its row: one that changes rows is another one.
    if is_in_row(world, target) && [Edit::MoveTarget, Edit::SwapTarget, Edit::CopyTarget].contains(&edit) {
        return;
    }
    let (one, other) = (*dice.pick(&others), *dice.pick(&others));
    let fresh = format!("{} {}", dice.pick(&["Quux", "Frob", "Plugh"]), dice.pick(&["zap", "zip", "zop"]));
    match edit {
        Edit::Rename => world.change(world.named_by(one), |element| element.name.clone_from(&fresh)),
        Edit::RenameTarget => {
            let plain = dice.chance(30);
            world.change(world.named_by(target), |element| {
                element.name = if plain { fresh.clone() } else { format!("{} file", element.name) };
            });
        }
        Edit::WidenTarget => world.change(world.named_by(target), |element| element.name.push_str(" all")),
        Edit::Move => world.relocate(world.unit(one), world.unit(other), dice.chance(50)),
        Edit::MoveTarget => world.relocate(world.unit(target), world.unit(one), dice.chance(50)),
        Edit::Delete => {
            world.remove(world.unit(one));
            copies.retain(|copy| *copy != one);
        }
        Edit::DeleteTarget => {
            world.remove(world.unit(target));
        }
        Edit::Copy => {
            world.copy(world.unit(one), world.unit(other));
        }
        Edit::CopyTarget => {
            let first = world.next;
            world.copy(world.unit(target), world.unit(one));
            copies.extend((first..world.next).map(ElementId));
        }
        Edit::Swap => world.swap(world.unit(one), world.unit(other)),
        Edit::SwapTarget => {
            let all = world.all();
            let name = |id: &ElementId| {
                all.iter().find(|one| one.id == world.named_by(*id)).map(|one| one.name.clone())
            };
            // Two of the same name are the same after they changed places.
            for id in others.iter().filter(|id| name(id) != name(&target)) {
                if dice.chance(30) {
                    world.swap(world.unit(target), world.unit(*id));
                    break;
                }
            }
        }
        Edit::Translate => world.translate(&words()),
        Edit::Roles | Edit::RoleOfTarget => {
            let what = if edit == Edit::Roles { one } else { target };
            let role = *dice.pick(&["toggle button", "push button", "link", "check box", "text", "entry"]);
            world.change(what, |element| element.role = Role::new(role));
        }
        Edit::Insert | Edit::InsertBesideTarget => {
            world.add(&format!("push button \"{}\"", dice.pick(NAMES)));
            let branch = world.roots.pop().unwrap();
            let beside = world.unit(if edit == Edit::Insert { one } else { target });
            world.put(branch, beside, dice.chance(50));
        }
        Edit::Dialog => add_dialog(world, dice),
        Edit::Theme => (world.scale, world.shift) = (80 + dice.roll(90) as i32, dice.roll(300) as i32),
        Edit::Hide => world.change(one, |element| element.states.remove(State::Showing)),
        Edit::HideTarget => world.change(target, |element| element.states.remove(State::Showing)),
    }
}

fn add_dialog(world: &mut World, dice: &mut Dice) {
    let modal = if dice.chance(50) { " !modal" } else { "" };
    let (first, second) = (dice.pick(NAMES), dice.pick(NAMES));
    world.add(&format!("dialog \"Notice\"{modal}\n  push button \"{first}\"\n  push button \"{second}\""));
}

/// How a drift ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Found,
    /// It is there, and was not found.
    Stopped,
    /// It is not there, and was not found.
    Gone,
    Wrong(String),
}

/// Drifts a random window and looks for a random element. If the target itself was removed, renamed, moved or drawn otherwise, a copy of
/// it, a new control with its name or a related one, or one of its name that took its place in its containers is that one for all that a window tells, and does not count as wrong. Every other element does,
/// and nothing else may be found as long as the target is as it was. An element that is described
/// as the recorded one was, by its name, containers and neighbours, is right, too.
fn drift(seed: u64, edits: &[Edit]) -> Option<End> {
    let dice = &mut Dice::new(seed);
    let mut world = random_window(dice);
    let all = controls(&world);
    let target = *dice.pick(&all);
    let before = world.view();
    let selector = Selector::of(&before, target)?;
    let recorded = world.all().into_iter().find(|element| element.id == target)?;
    let first = find(&selector, &before);
    if let Some(element) = first.element().filter(|element| *element != target) {
        return Some(End::Wrong(format!("{element} in the same window, not {target}")));
    }
    let last_id = world.next;
    let mut copies = Vec::new();
    for edit in edits {
        apply(*edit, &mut world, target, &mut copies, dice);
    }
    let view = world.view();
    let now = world.all();
    let shown = now.iter().find(|element| element.id == target && element.states.has(State::Showing));
    let found = find(&selector, &view);
    let Some(element) = found.element() else {
        return Some(if shown.is_some() { End::Stopped } else { End::Gone });
    };
    let translation = words().remove(&recorded.name).unwrap_or_else(|| recorded.name.clone());
    let has_its_name = |name: &str| {
        name.contains(&recorded.name)
            || recorded.name.contains(name) && !name.is_empty()
            || name == translation
    };
    // One of its name that came into its containers when it left them.
    let has_come = || {
        let was = Selector::of(&before, element);
        let is = Selector::of(&view, element);
        was.zip(is).is_some_and(|(was, is)| {
            was.within != selector.within && is.within == selector.within && is.name == selector.name
        })
    };
    const OF_TARGET: [Edit; 7] = [
        Edit::RenameTarget,
        Edit::WidenTarget,
        Edit::MoveTarget,
        Edit::DeleteTarget,
        Edit::SwapTarget,
        Edit::RoleOfTarget,
        Edit::HideTarget,
    ];
    let is_twin = (shown.is_none() || edits.iter().any(|edit| OF_TARGET.contains(edit)))
        && (has_come()
            || copies.contains(&element)
            || element.0 >= last_id && now.iter().any(|one| one.id == element && has_its_name(&one.name)));
    let is_same_to_all = Selector::of(&view, element).is_some_and(|seen| is_same_control(&seen, &selector));
    let is_right = element == target || is_twin || is_same_to_all;
    Some(if is_right {
        End::Found
    } else {
        End::Wrong(format!("{element}, not {target}: {}", found.explain(&selector)))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_other_element_is_ever_found(seed in any::<u64>(), edits in prop::collection::vec(prop::sample::select(EDITS.to_vec()), 0..5)) {
        if let Some(End::Wrong(what)) = drift(seed, &edits) {
            prop_assert!(false, "{what}");
        }
    }
}

/// Returns `true` if two descriptions are the same but for the place and the rest of the window: two of the same name changed places.
fn is_same_control(one: &Selector, other: &Selector) -> bool {
    let names =
        |anchors: &[SelectorAnchor]| anchors.iter().map(|anchor| anchor.name.clone()).collect::<Vec<_>>();
    let own = |one: &Selector| {
        let around = [&one.within, &one.before, &one.after].map(|anchors| names(anchors));
        (one.role.clone(), one.name.clone(), one.label.clone(), one.help.clone(), around)
    };
    own(one) == own(other)
}

/// How often each edit alone is healed, at least, in percent of the cases in which the element is there.
const HEALED_MIN: &[(Edit, usize)] = &[
    (Edit::Theme, 95),
    (Edit::Rename, 90),
    (Edit::RenameTarget, 35),
    (Edit::Move, 90),
    (Edit::MoveTarget, 60),
    (Edit::Delete, 90),
    (Edit::Copy, 90),
    (Edit::CopyTarget, 35),
    (Edit::Swap, 90),
    (Edit::SwapTarget, 90),
    (Edit::Translate, 25),
    (Edit::Roles, 90),
    (Edit::RoleOfTarget, 25),
    (Edit::Insert, 90),
    (Edit::InsertBesideTarget, 70),
    (Edit::Dialog, 40),
    (Edit::Hide, 90),
];

#[test]
fn most_single_drifts_are_healed_and_none_wrongly() {
    let mut lines = Vec::new();
    let mut problems = Vec::new();
    let (mut healed, mut stopped, mut gone) = (0, 0, 0);
    for edit in EDITS {
        let (mut found, mut missed) = (0, 0);
        for seed in 0..200 {
            match drift(seed, &[*edit]) {
                Some(End::Found) => found += 1,
                Some(End::Stopped) => missed += 1,
                Some(End::Gone) => gone += 1,
                Some(End::Wrong(what)) => problems.push(format!("{edit:?}, seed {seed}: {what}")),
                None => {}
            }
        }
        let percent = found * 100 / (found + missed).max(1);
        lines.push(format!("{edit:?}: {found} found, {missed} stopped, {percent} %"));
        let wanted = HEALED_MIN.iter().find(|(one, _)| one == edit).map_or(0, |(_, least)| *least);
        if percent < wanted {
            problems.push(format!("{edit:?}: {percent} % healed, {wanted} % wanted"));
        }
        (healed, stopped) = (healed + found, stopped + missed);
    }
    println!("{}\n{healed} healed, {stopped} stopped, {gone} gone", lines.join("\n"));
    assert!(problems.is_empty(), "{}\n{}", problems.join("\n"), lines.join("\n"));
}

/// How many windows with several drifts are tried.
const SEEDS: u64 = 4_000;

#[test]
fn several_drifts_at_once_are_never_healed_wrongly() {
    let (mut healed, mut stopped, mut gone) = (0, 0, 0);
    let mut problems = Vec::new();
    for seed in 0..SEEDS {
        let dice = &mut Dice::new(seed ^ 0x5EED);
        let edits: Vec<Edit> = (0..2 + dice.roll(3)).map(|_| *dice.pick(EDITS)).collect();
        match drift(seed, &edits) {
            Some(End::Found) => healed += 1,
            Some(End::Stopped) => stopped += 1,
            Some(End::Gone) => gone += 1,
            Some(End::Wrong(what)) => problems.push(format!("seed {seed}, {edits:?}: {what}")),
            None => {}
        }
    }
    println!("{healed} healed, {stopped} stopped, {gone} gone, {} wrong", problems.len());
    assert!(
        problems.is_empty(),
        "{} wrong:\n{}",
        problems.len(),
        problems[..problems.len().min(25)].join("\n")
    );
    assert!(healed >= 1_200, "{healed} healed, {stopped} stopped, {gone} gone");
}
