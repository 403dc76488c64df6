//! The tools that core knows by name, because a decision depends on what they do: whether the policy must look at names,
//! whether a window may open, what a name of the reference stands for. Every other tool is a name to core and nothing more.
//!
//! The tools themselves are elsewhere; a test there holds [`ALL`] against them.

/// Starts an application; `apps_to_open` of a reply is its older form.
pub const LAUNCH: &str = "launch_application";
/// Selects a window; `control_label` of a reply is its short form.
pub const SELECT_WINDOW: &str = "select_application_window";
/// Chooses a path of names, such as menu entries.
pub const VISIT: &str = "visit";
/// Clicks an element.
pub const CLICK: &str = "click_element";
/// Invokes an action that an element offers.
pub const INVOKE: &str = "invoke_action";
/// Selects an item.
pub const SELECT: &str = "select";
/// Types a text.
pub const TYPE: &str = "type_text";
/// Pastes a text.
pub const PASTE: &str = "paste_text";
/// Puts a text on the clipboard.
pub const WRITE_CLIPBOARD: &str = "write_clipboard";
/// Presses keys.
pub const PRESS_KEYS: &str = "press_keys";
/// Gives an element the focus.
pub const FOCUS: &str = "focus_element";
/// Scrolls.
pub const SCROLL: &str = "scroll";
/// Reads a text.
pub const READ_TEXT: &str = "read_text";
/// Clicks at a place of a window.
pub const CLICK_PLACE: &str = "click_on_coordinates";
/// Drags from one place of a window to another.
pub const DRAG_PLACES: &str = "drag_on_coordinates";
/// Runs a program without a window.
pub const RUN_COMMAND: &str = "run_command";

/// Who calls a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The HostAgent.
    Host,
    /// AppAgents.
    App,
    /// The agent of the command line.
    Shell,
}

/// What core assumes about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownTool {
    /// Its name.
    pub name: &'static str,
    /// Who calls it.
    pub caller: Caller,
    /// Whether it acts; others only read.
    pub acts: bool,
    /// The arguments that core reads or writes.
    pub arguments: &'static [&'static str],
}

const fn app(name: &'static str, arguments: &'static [&'static str]) -> KnownTool {
    KnownTool { name, caller: Caller::App, acts: true, arguments }
}

/// Every tool that core knows.
pub const ALL: [KnownTool; 16] = [
    KnownTool { name: LAUNCH, caller: Caller::Host, acts: true, arguments: &["name"] },
    KnownTool { name: SELECT_WINDOW, caller: Caller::Host, acts: true, arguments: &["id"] },
    app(VISIT, &["path"]),
    app(CLICK, &["id", "name", "button", "count"]),
    app(INVOKE, &["id", "name"]),
    app(SELECT, &["id", "item"]),
    app(TYPE, &["id", "name", "text", "clear"]),
    app(PASTE, &["id", "text"]),
    app(WRITE_CLIPBOARD, &["text"]),
    app(PRESS_KEYS, &["keys"]),
    app(FOCUS, &["id", "name"]),
    app(SCROLL, &["id", "name", "down"]),
    KnownTool { name: READ_TEXT, caller: Caller::App, acts: false, arguments: &["id", "name"] },
    app(CLICK_PLACE, &["x", "y"]),
    app(DRAG_PLACES, &["start_x", "start_y", "end_x", "end_y"]),
    KnownTool { name: RUN_COMMAND, caller: Caller::Shell, acts: true, arguments: &["program"] },
];
