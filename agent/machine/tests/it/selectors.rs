//! Selectors: elements found again in windows that have drifted, and never another one.

mod drifts;
mod world;

use std::collections::BTreeMap;

use deskhand_machine::workflow::selector::{Selector, SelectorMatch, SelectorMatchRule, find};
use deskhand_ui::{Role, State, Surface, WindowView, ids::ElementId};
use world::World;

/// A window of the file.
pub(crate) fn window(name: &str) -> World {
    let all = include_str!("selectors/windows.txt");
    let start = all.find(&format!("[{name}]\n")).unwrap_or_else(|| panic!("no window {name}"));
    let body = all[start..].split_once('\n').unwrap().1;
    World::read(body.split("\n[").next().unwrap())
}

pub(crate) fn words() -> BTreeMap<String, String> {
    let lines = include_str!("selectors/words.txt").lines();
    lines
        .filter_map(|line| line.split_once('|'))
        .map(|(one, other)| (one.to_owned(), other.to_owned()))
        .collect()
}

/// A case: where, what, the edits, and what is expected.
struct Case<'t> {
    window: &'t str,
    target: &'t str,
    edits: Vec<&'t str>,
    expected: &'t str,
}

fn cases() -> Vec<Case<'static>> {
    let lines =
        include_str!("selectors/cases.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut cases: Vec<Case<'_>> = Vec::new();
    for line in lines {
        if let Some((window, target)) = line.strip_prefix("in ").and_then(|rest| rest.split_once(": ")) {
            cases.push(Case { window, target, edits: Vec::new(), expected: "" });
        } else if let Some(expected) = line.strip_prefix("=> ") {
            cases.last_mut().unwrap().expected = expected;
        } else {
            cases.last_mut().unwrap().edits.push(line);
        }
    }
    cases
}

/// Carries out one edit of a case.
fn edit(world: &mut World, target: ElementId, text: &str) {
    let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
    let id = |world: &World, text: &str| if text == "target" { target } else { world.id(text) };
    let pair = |between: &str| rest.split_once(between).unwrap_or((rest, ""));
    match verb {
        "rename" | "rerole" => {
            let (what, new) = pair(" -> ");
            let what = id(world, what);
            world.change(what, |element| match verb {
                "rename" => element.name = new.to_owned(),
                _ => element.role = Role::new(new.to_owned()),
            });
        }
        "remove" => {
            let what = id(world, rest);
            world.remove(what);
        }
        "move" | "copy" | "insert" => {
            let (rest, line) = rest.split_once(" : ").unwrap_or((rest, ""));
            let is_after = rest.contains("after ");
            let (what, beside) = rest.split_once(if is_after { "after " } else { "before " }).unwrap();
            let beside = id(world, beside);
            match verb {
                "insert" => {
                    world.add(line);
                    let branch = world.roots.pop().unwrap();
                    world.put(branch, beside, is_after);
                }
                "copy" => {
                    let what = id(world, what.trim());
                    world.copy(what, beside);
                }
                _ => {
                    let what = id(world, what.trim());
                    world.relocate(what, beside, is_after);
                }
            }
        }
        "swap" => {
            let (one, other) = pair(" | ");
            let (one, other) = (id(world, one), id(world, other));
            world.swap(one, other);
        }
        _ => edit_window(world, target, verb, rest),
    }
}

/// Carries out an edit of the target's states or of the whole window.
fn edit_window(world: &mut World, target: ElementId, verb: &str, rest: &str) {
    match verb {
        "hide" => world.change(target, |element| element.states.remove(State::Showing)),
        "disable" => world.change(target, |element| element.states.remove(State::Enabled)),
        "scale" => world.scale = rest.parse().unwrap(),
        "shift" => world.shift = rest.parse().unwrap(),
        "translate" => world.translate(&words()),
        "dialog" | "sidebar" => {
            let modal = if verb == "dialog" { " !modal" } else { "" };
            world.add(&format!("dialog \"{rest}\"{modal}\n  label \"Something happened\"\n  push button \"Save\"\n  push button \"Delete\"\n  push button \"OK\""));
        }
        "page" => world.change_all(|element| {
            if element.address.is_some() {
                element.address = Some(rest.to_owned());
            }
        }),
        "tab" => {
            // Another tab: other controls in the panel, one of which may have the same name.
            let old = world.id("panel");
            world.add(&format!(
                "panel\n  slider \"{rest}\" ~ 0..100\n  filler\n    entry\n    push button \"Browse\""
            ));
            let branch = world.roots.pop().unwrap();
            world.put(branch, old, false);
            world.remove(old);
        }
        "modal" => {
            let buttons: String =
                rest.split(' ').skip(1).map(|name| format!("  push button \"{name}\"\n")).collect();
            world.add(&format!("dialog \"Question\" !modal\n{buttons}"));
            let branch = world.roots.pop().unwrap();
            let beside = world.roots[0].children[0].element.id;
            world.put(branch, beside, false);
        }
        _ => panic!("unknown edit {verb} {rest}"),
    }
}

/// The result in the words of the cases.
fn word(found: &SelectorMatch) -> String {
    match found {
        SelectorMatch::Exact { .. } => "exact".to_owned(),
        SelectorMatch::Drifted { fit, .. } => match fit {
            SelectorMatchRule::Same => "same",
            SelectorMatchRule::Moved => "moved",
            SelectorMatchRule::OtherRole => "other role",
            SelectorMatchRule::Renamed => "renamed",
            SelectorMatchRule::Translated => "translated",
        }
        .to_owned(),
        SelectorMatch::Ambiguous { .. } => "ambiguous".to_owned(),
        SelectorMatch::Gone { why, .. } => format!("gone {}", format!("{why:?}").split(' ').next().unwrap()),
    }
}

#[test]
fn every_case_ends_as_it_should() {
    let mut problems = Vec::new();
    let (mut healed, mut drifted) = (0, 0);
    let cases = cases();
    for Case { window: name, target, edits, expected } in &cases {
        let mut world = window(name);
        let id = world.id(target);
        let selector = Selector::of(&world.view(), id).expect("it is shown");
        for text in edits {
            edit(&mut world, id, text);
        }
        let found = find(&selector, &world.view());
        let said = word(&found);
        let fits = said == *expected || *expected == "gone any" && found.element().is_none();
        let is_right = found.element().is_none_or(|element| element == id);
        if !edits.is_empty() && !expected.starts_with("gone") && *expected != "ambiguous" {
            drifted += 1;
            healed += usize::from(found.element() == Some(id));
        }
        if !fits || !is_right {
            problems.push(format!(
                "{name}: {target} {edits:?}\n  expected {expected}, got {said}{}\n  {}",
                if is_right { "" } else { " OF ANOTHER ELEMENT" },
                found.explain(&selector)
            ));
        }
    }
    assert!(problems.is_empty(), "{} of {}:\n{}", problems.len(), cases.len(), problems.join("\n"));
    assert!(cases.len() >= 100, "{}", cases.len());
    assert_eq!(healed, drifted);
}

/// Windows recorded from applications.
const RECORDED: [&str; 2] = [include_str!("windows/writer.json"), include_str!("windows/calc.json")];

#[test]
fn elements_of_recorded_windows_are_found_again() {
    for text in RECORDED {
        let surface: Surface = serde_json::from_str(text).unwrap();
        let view = WindowView { surfaces: vec![surface], picture: None, notices: Vec::new() };
        let (mut found, mut ambiguous) = (0, Vec::new());
        for element in view.elements().filter(|element| element.role.is_interactive()) {
            let Some(selector) = Selector::of(&view, element.id) else { continue };
            match find(&selector, &view) {
                SelectorMatch::Exact { element: one } => {
                    assert_eq!(one, element.id, "{}", selector.describe());
                    found += 1;
                }
                other @ (SelectorMatch::Drifted { .. }
                | SelectorMatch::Ambiguous { .. }
                | SelectorMatch::Gone { .. }) => ambiguous.push(format!(
                    "{} {}: {}",
                    element.id,
                    element.label(),
                    other.explain(&selector)
                )),
            }
        }
        let all = found + ambiguous.len();
        assert!(found * 100 >= all * 90, "{found} of {all}:\n{}", ambiguous.join("\n"));
    }
}

#[test]
fn selector_is_stored_in_words() {
    let world = window("editor");
    let selector = Selector::of(&world.view(), world.id("push button \"Save\"")).unwrap();
    let stored = serde_json::to_value(&selector).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&stored).unwrap());
    assert_eq!(serde_json::from_value::<Selector>(stored.clone()).unwrap(), selector);
    assert!(!stored.to_string().contains("null"), "{stored}");
    let mut wrong = stored;
    wrong["nmae"] = "Save".into();
    assert!(serde_json::from_value::<Selector>(wrong).is_err(), "a misspelt field");
}

#[test]
fn row_is_a_parameter() {
    let world = window("orders");
    let mut selector = Selector::of(&world.view(), world.id("push button \"Delete\" 2")).unwrap();
    assert_eq!(
        (selector.row.as_slice(), selector.column.as_deref()),
        (&["Milk".to_owned()][..], Some("Action"))
    );
    for (row, nth) in [("Tea", 1), ("Sugar", 3), ("sugar", 3)] {
        selector.row = vec![row.to_owned()];
        let wanted = world.id(&format!("push button \"Delete\" {nth}"));
        assert_eq!(find(&selector, &world.view()).element(), Some(wanted), "{row}");
    }
    selector.row = vec!["Rice".to_owned()];
    assert_eq!(word(&find(&selector, &world.view())), "gone NoRow");
}

#[test]
fn a_drift_is_explained_and_proposed_as_a_change() {
    let mut world = window("editor");
    let id = world.id("push button \"Search\"");
    let selector = Selector::of(&world.view(), id).unwrap();
    world.change(id, |element| element.name = "Find".to_owned());
    let found = find(&selector, &world.view());
    let updated = selector.updated(&world.view(), id).unwrap();
    insta::assert_snapshot!(format!("{}\n{}", found.explain(&selector), selector.difference(&updated)));
    assert_eq!(find(&updated, &world.view()), SelectorMatch::Exact { element: id });
    assert_eq!(updated.difference(&updated), "");
}
