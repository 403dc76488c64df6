//! What the tools of earlier journals did: before format version 5, tools declared nothing.

use deskhand_core::{
    agent::AgentHome,
    command::ToolSpec,
    intent::{Does, Takes},
    session::SessionConfig,
};

/// The first format version in which tools declare what they do.
const DECLARED_SINCE: u32 = 5;

/// Adds the declarations that the tools of an earlier journal would have had.
pub(super) fn declare(config: &mut SessionConfig, version: u32) {
    // Before that was asked about, rules did not see arguments.
    if config.applications.is_none() {
        for rule in &mut config.policy.rules {
            rule.arguments.get_or_insert_with(|| "*".to_owned());
        }
    }
    if version >= DECLARED_SINCE {
        return;
    }
    let of_agents = config.agents.iter_mut().flat_map(|agent| match &mut agent.home {
        AgentHome::Steps(steps) => steps.tools.iter_mut(),
        AgentHome::Delegate | AgentHome::Machine => [].iter_mut(),
    });
    for tool in config.host_tools.iter_mut().chain(&mut config.app_tools).chain(of_agents) {
        // A later program that resumed the session recorded what its tools declare.
        if tool.does != Does::Other {
            continue;
        }
        let (does, takes) = declared(&tool.name);
        tool.does = does;
        tool.takes = takes
            .iter()
            .filter(|(name, _)| has_argument(tool, name))
            .map(|(name, takes)| ((*name).to_owned(), *takes))
            .collect();
    }
}

fn has_argument(tool: &ToolSpec, name: &str) -> bool {
    tool.parameters.pointer(&format!("/properties/{name}")).is_some()
}

/// The tools of format versions 1 to 4.
fn declared(tool: &str) -> (Does, &'static [(&'static str, Takes)]) {
    use Takes::{Across, Down, Element, Files, Item, Keys, Name, Path, Program, Text, Window};
    const ELEMENT: &[(&str, Takes)] = &[("id", Element), ("name", Name)];
    match tool {
        "click_element" | "invoke_action" => (Does::Press, ELEMENT),
        "visit" => (Does::Press, &[("path", Path)]),
        "select" => (Does::Press, &[("id", Element), ("item", Item)]),
        "press_keys" => (Does::Press, &[("keys", Keys)]),
        "click_on_coordinates" => (Does::Press, &[("x", Across), ("y", Down)]),
        "type_text" | "paste_text" => (Does::Type, &[("text", Text), ("id", Element), ("name", Name)]),
        "write_clipboard" => (Does::Type, &[]),
        "drag" => (Does::Drag, &[("from", Element), ("to", Element)]),
        "drag_on_coordinates" => {
            (Does::Drag, &[("start_x", Across), ("start_y", Down), ("end_x", Across), ("end_y", Down)])
        }
        "set_value" | "set_checked" | "expand" | "write_table" => (Does::Set, ELEMENT),
        "focus_element" | "scroll" | "scroll_into_view" | "select_text" | "select_cells" => {
            (Does::Point, ELEMENT)
        }
        "read_text" | "read_table" => (Does::Read, ELEMENT),
        "read_clipboard" | "more" | "summary" => (Does::Read, &[]),
        "wait" | "wait_for" => (Does::Wait, &[]),
        "launch_application" => (Does::Open, &[("name", Program), ("files", Files)]),
        "select_application_window" => (Does::Switch, &[("id", Window)]),
        "close_application" => (Does::Close, &[("id", Window)]),
        "run_command" => (Does::Run, &[("program", Program), ("arguments", Files)]),
        _ => (Does::Other, &[]),
    }
}
