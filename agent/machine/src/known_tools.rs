//! The tools that core writes by name, because a short form of a reply, a gesture or a name of the reference stands for them. What a
//! tool does is never told by its name: tools declare it ([`crate::intent`]).

/// Starts an application; `apps_to_open` of a reply is its older form.
pub const LAUNCH: &str = "launch_application";
/// Selects a window; `control_label` of a reply is its short form.
pub const SELECT_WINDOW: &str = "select_application_window";
/// Clicks an element.
pub const CLICK: &str = "click_element";
/// Clicks a place of the window.
pub const CLICK_AT: &str = "click_on_coordinates";
/// Drags one element onto another.
pub const DRAG: &str = "drag";
/// Drags between two places of the window.
pub const DRAG_AT: &str = "drag_on_coordinates";
/// Waits for an element.
pub const WAIT_FOR: &str = "wait_for";
/// Waits.
pub const WAIT: &str = "wait";
/// Types a text.
pub const TYPE: &str = "type_text";
/// Presses keys.
pub const PRESS_KEYS: &str = "press_keys";
/// Gives an element the focus.
pub const FOCUS: &str = "focus_element";
/// Scrolls.
pub const SCROLL: &str = "scroll";
/// Shows a part of the window as a picture.
pub const ZOOM: &str = "zoom";
/// Reads a text.
pub const READ_TEXT: &str = "read_text";
/// Reads the clipboard.
pub const READ_CLIPBOARD: &str = "read_clipboard";
/// Hands a sub-task to an agent that works on its own. It is no tool: a reply asks for it with ASSIGN, and rules match it.
pub const DELEGATE: &str = "delegate_subtask";
/// Looks up what the session has read or written down.
pub const RECALL: &str = "recall";
/// Runs a workflow; a reply also asks for it with a target that is one.
pub const RUN_WORKFLOW: &str = "run_workflow";
/// Runs a program without a window.
pub const RUN_COMMAND: &str = "run_command";
