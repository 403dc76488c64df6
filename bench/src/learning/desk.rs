//! The Parts Desk: a form that is drawn from a layout, and its log of what was really used.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;

use super::{
    changes::{Change, apply},
    home::Home,
};

/// The program that draws the layout.
const PROGRAM: &str = include_str!("../../fixtures/parts_desk.py");
/// The layout that workflows are learnt on.
const LAYOUT: &str = include_str!("../../fixtures/parts_desk.json");
/// The Python that has the toolkits.
pub(super) const PYTHON: &str = "/usr/bin/python3";
/// The log of a run, below the home folder.
pub(super) const LOG: &str = "work/log.jsonl";

/// The button that ends the task, and the one that must have been pressed before.
const EXPORT: &str = "export";
const SEARCH: &str = "search";

/// What an upgrade of the application changes for the tasks: new names, fields and buttons in another order, another size.
const UPGRADE: &[Change] = &[
    Change::Name("search", "Find"),
    Change::Name("filter", "Conditions"),
    Change::Reverse("taking"),
    Change::Move { id: "maker", into: "filter", at: 4 },
    Change::Size([700, 560]),
];

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Entry {
    /// The identity of the control, whatever it is called.
    control: String,
    /// What the form held when a button was pressed.
    #[serde(default)]
    state: Option<BTreeMap<String, Value>>,
}

/// The layout in a toolkit.
pub(super) fn layout(toolkit: &'static str) -> Result<Value> {
    let mut layout: Value = serde_json::from_str(LAYOUT).context("read the layout of the Parts Desk")?;
    apply(&Change::Toolkit(toolkit), &mut layout)?;
    Ok(layout)
}

/// The layout after an upgrade of the application.
pub(super) fn upgrade(layout: &mut Value) -> Result<()> {
    UPGRADE.iter().try_for_each(|change| apply(change, layout))
}

/// Puts the application into a home folder, with variables for its environment.
pub(super) fn install(home: &Home, layout: &Value, variables: &[(&str, &str)]) -> Result<()> {
    let program = home.write("parts_desk.py", PROGRAM)?;
    let shown = home.write("layout.json", &layout.to_string())?;
    let log = home.path(LOG);
    let set: String = variables.iter().map(|(name, value)| format!("{name}={value} ")).collect();
    let run = format!("env {set}{PYTHON} {} {} {}", program.display(), shown.display(), log.display());
    let entry = format!(
        "[Desktop Entry]\nType=Application\nName=Parts Desk\nExec={run}\nStartupWMClass=parts-desk\n"
    );
    home.write(".local/share/applications/parts-desk.desktop", &entry)?;
    Ok(())
}

/// The entries of a log. A line that is cut off is none.
fn entries(log: &str) -> Vec<Entry> {
    log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The controls that were used, each once, in order.
pub(super) fn used(log: &str) -> Vec<String> {
    let mut used: Vec<String> = Vec::new();
    for entry in entries(log) {
        if !used.contains(&entry.control) {
            used.push(entry.control);
        }
    }
    used
}

/// What was exported, a line for each export: what the form held. Only after one search.
pub(super) fn exports(log: &str) -> String {
    let mut searches = 0_usize;
    let mut lines = Vec::new();
    for entry in entries(log) {
        searches += usize::from(entry.control == SEARCH);
        if entry.control == EXPORT {
            let state = entry.state.unwrap_or_default();
            let fields = state.iter().map(|(name, value)| match value.as_str() {
                Some(text) => format!("{name}={text}"),
                None => format!("{name}={value}"),
            });
            let fields = fields.collect::<Vec<_>>().join(" ");
            lines.push(if searches == 1 { fields } else { format!("{fields} after {searches} searches") });
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "{\"control\": \"part\", \"value\": \"A\"}\n{\"control\": \"search\", \"state\": {\"part\": \"A\"}}\n\
                       {\"control\": \"export\", \"state\": {\"stock\": true, \"part\": \"A\"}}\n{\"contr";

    #[test]
    fn a_log_tells_what_was_used_and_exported() {
        assert_eq!(used(LOG), ["part", "search", "export"]);
        assert_eq!(exports(LOG), "part=A stock=true");
        assert_eq!(exports(&LOG.replace("search", "reset")), "part=A stock=true after 0 searches");
    }

    #[test]
    fn the_upgrade_fits_the_layout() {
        let mut layout = layout("qt").unwrap();
        upgrade(&mut layout).unwrap();
        assert_eq!(layout["toolkit"], "qt");
        assert_eq!(layout.pointer("/body/2/of/1/of/0/id").unwrap(), "copy");
        assert_eq!(layout.pointer("/body/1/of/3/id").unwrap(), "warehouse");
    }
}
