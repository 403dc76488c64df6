//! What a desktop can do, as small traits by capability. Linux and the fake implement the same traits and
//! pass the same contract suite; the verified actions in [`crate::act`] are written against them alone.
//!
//! Nothing here waits for a fixed time: a wait is for an event, with a bound.

use std::time::Duration;

use deskhand_core::{
    geometry::{Point, Rect, Screen, Size},
    ids::{ElementId, WindowId},
    ui::{CellRange, CellRef, Element, TableContent, Tree, WindowInfo},
};
use serde::Serialize;

use crate::{
    DesktopResult,
    keys::{KeyChord, Modifier},
    picture::Picture,
};

/// A whole desktop.
pub trait Desktop: Windowing + UiTree + Input + Clipboard + Capture + Settling + Sync + Send {
    /// What works on this desktop, told up front.
    fn capabilities(&self) -> Capabilities;

    /// All that can be seen of a window: the elements of its tree, and what else is known of it.
    ///
    /// # Errors
    /// As [`UiTree::tree`]. What could not be used for the look is a notice and no error.
    fn see(&self, window: WindowId, limits: TreeLimits) -> impl Future<Output = DesktopResult<Sight>> + Send;

    /// An id that no element has, and that none of its own will get.
    fn reserve_element_id(&self) -> ElementId;
}

/// What is seen of a window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sight {
    /// Its elements.
    pub tree: Tree,
    /// What could not be used to find them, why, and what to do about it.
    pub notices: Vec<String>,
}

/// What works on a desktop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// `linux-x11`, `fake`, …
    pub platform: &'static str,
    /// The size of the screen.
    pub screen: Size,
    /// Whether windows can be listed and managed.
    pub windowing: bool,
    /// Whether applications show their elements.
    pub ui_tree: bool,
    /// Whether real input events can be sent.
    pub input: bool,
    /// Whether pictures can be taken.
    pub capture: bool,
}

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchRequest {
    /// The name of a desktop entry (`LibreOffice Calc`, `libreoffice-calc`, `libreoffice-calc.desktop`) or a
    /// command that is found on `PATH`.
    pub program: String,
    /// Arguments after the ones of the desktop entry, most often files to open. Passed as they are; no shell.
    pub arguments: Vec<String>,
}

/// A program that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launched {
    /// Its process. The window may come from another one: some programs hand over to a running instance.
    pub pid: u32,
    /// The application that the desktop entry names, where there is one.
    pub name: String,
    /// The window class that the desktop entry announces (`StartupWMClass`), lower case.
    pub wm_class: Option<String>,
}

/// Windows and the programs behind them.
pub trait Windowing {
    /// Every top-level window that is mapped, pop-ups and dialogs included, bottom-most first.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn windows(&self) -> impl Future<Output = DesktopResult<Vec<WindowInfo>>> + Send;

    /// Waits until the set of windows, a title or the active window differs from `known`, at most `bound`, and
    /// returns the windows as they are then. Changes between `known` being read and this call are not missed.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn windows_changed(
        &self,
        known: &[WindowInfo],
        bound: Duration,
    ) -> impl Future<Output = DesktopResult<Vec<WindowInfo>>> + Send;

    /// Brings a window to the front and gives it the focus (`_NET_ACTIVE_WINDOW`); returns when it has it.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoWindow`] when it is gone, `NotAnswering` when it does not take the focus.
    fn activate(&self, window: WindowId) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Asks a window to close (`_NET_CLOSE_WINDOW`). The application may answer with a question.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoWindow`] when it is gone already.
    fn close(&self, window: WindowId) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Starts a program as the calling user. Does not wait for its window.
    ///
    /// # Errors
    /// [`crate::DesktopError::Launch`] when there is no such program, with the nearest names.
    fn launch(&self, request: &LaunchRequest) -> impl Future<Output = DesktopResult<Launched>> + Send;

    /// Whether a process that was launched here still runs, or how it ended (`exit status: 1`).
    fn process_ended(&self, pid: u32) -> Option<String>;
}

/// Bounds of one read of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLimits {
    /// The most elements to return.
    pub nodes_max: usize,
    /// A node with more children than this is never enumerated; only its visible part is read.
    pub children_max: u32,
    /// The time after which what was read so far is returned.
    pub deadline: Duration,
}

impl Default for TreeLimits {
    fn default() -> Self {
        Self { nodes_max: 4_000, children_max: 200, deadline: Duration::from_secs(5) }
    }
}

/// Something done to an element through the accessibility interface.
#[derive(Debug, Clone, PartialEq)]
pub enum ElementAction {
    /// The action that a click stands for (`click`, `press`, `activate`, `toggle`, … whichever comes first).
    Default,
    /// An action by its name (`expand or contract`).
    Named(String),
    /// `Component.GrabFocus`
    Focus,
    /// `Component.ScrollTo`
    ScrollIntoView,
    /// `EditableText.SetTextContents`
    SetText(String),
    /// `Value.SetCurrentValue`
    SetValue(f64),
    /// `Selection.SelectChild` on the parent.
    Select,
    /// `Text.SetSelection`
    SelectText {
        /// The first character, from 0.
        start: usize,
        /// The one after the last.
        end: usize,
    },
}

/// The elements of windows. A `true` from a toolkit proves nothing: callers read back.
pub trait UiTree {
    /// The showing elements of one window, within `limits`; a tree that is cut says so.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoWindow`] when it is gone; an application that does not answer gives a partial tree.
    fn tree(&self, window: WindowId, limits: TreeLimits) -> impl Future<Output = DesktopResult<Tree>> + Send;

    /// One element, read afresh (`depth` is 0).
    ///
    /// # Errors
    /// [`crate::DesktopError::NoElement`] when it is gone.
    fn element(&self, id: ElementId) -> impl Future<Output = DesktopResult<Element>> + Send;

    /// The children of an element, showing or not, read afresh; at most `max`. Never for a virtual table.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoElement`] when it is gone.
    fn children(&self, id: ElementId, max: usize)
    -> impl Future<Output = DesktopResult<Vec<Element>>> + Send;

    /// The children of an element that are selected (`Selection`), at most a few.
    ///
    /// # Errors
    /// [`crate::DesktopError::NotOffered`] when it does not select among its children.
    fn selected(&self, id: ElementId) -> impl Future<Output = DesktopResult<Vec<Element>>> + Send;

    /// The deepest element of `window` at a point of the screen, where the toolkit can tell.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoWindow`] when the window is gone.
    fn element_at(
        &self,
        window: WindowId,
        point: Point<Screen>,
    ) -> impl Future<Output = DesktopResult<Option<Element>>> + Send;

    /// Whether `id` is `ancestor` or lies in it.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoElement`] when one is gone.
    fn is_within(
        &self,
        id: ElementId,
        ancestor: ElementId,
    ) -> impl Future<Output = DesktopResult<bool>> + Send;

    /// Does something to an element.
    ///
    /// # Errors
    /// [`crate::DesktopError::NotOffered`] when the element lacks the pattern, `NoElement` when it is gone,
    /// `Failed` when the toolkit says no.
    fn perform(
        &self,
        id: ElementId,
        action: &ElementAction,
    ) -> impl Future<Output = DesktopResult<()>> + Send;

    /// The names of the actions that an element offers.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoElement`] when it is gone.
    fn action_names(&self, id: ElementId) -> impl Future<Output = DesktopResult<Vec<String>>> + Send;

    /// The text of an element (`Text.GetText`), at most `max` characters.
    ///
    /// # Errors
    /// [`crate::DesktopError::NotOffered`] when it has no text.
    fn text(&self, id: ElementId, max: usize) -> impl Future<Output = DesktopResult<String>> + Send;

    /// The part of the text of an element that is selected, as characters from and to; none where nothing is.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoElement`] when it is gone.
    fn text_selection(
        &self,
        id: ElementId,
    ) -> impl Future<Output = DesktopResult<Option<(usize, usize)>>> + Send;

    /// The cells of a table, as the user reads them.
    ///
    /// # Errors
    /// [`crate::DesktopError::NotOffered`] when it is no table, `Failed` when the range lies outside of it.
    fn cells(
        &self,
        table: ElementId,
        range: CellRange,
    ) -> impl Future<Output = DesktopResult<TableContent>> + Send;

    /// The element of one cell.
    ///
    /// # Errors
    /// [`crate::DesktopError::NotOffered`] when it is no table, `Failed` when the cell lies outside of it.
    fn cell(&self, table: ElementId, cell: CellRef) -> impl Future<Output = DesktopResult<Element>> + Send;
}

/// A mouse button.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Button {
    /// The main one.
    #[default]
    Left,
    /// The wheel.
    Middle,
    /// The one for context menus.
    Right,
}

/// What is held down while something is dragged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    /// The button that takes it.
    pub button: Button,
    /// The keys that say what dropping it means, such as Ctrl for a copy.
    pub modifiers: Vec<Modifier>,
}

/// Real input events, as from a person's mouse and keyboard (XTEST).
pub trait Input {
    /// Moves the pointer and presses a button `count` times (1 to 3).
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn click(
        &self,
        at: Point<Screen>,
        button: Button,
        count: u8,
    ) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Presses modifiers and a button at `from`, moves to `to` in small steps and lets go there, of the button first.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn drag(
        &self,
        from: Point<Screen>,
        to: Point<Screen>,
        held: &Held,
    ) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Turns the wheel by `down` notches (negative: up) and `right` notches (negative: left).
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn scroll(
        &self,
        at: Point<Screen>,
        right: i32,
        down: i32,
    ) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Presses and releases a chord such as `ctrl+shift+s`.
    ///
    /// # Errors
    /// [`crate::DesktopError::Key`] when the keyboard has no such key.
    fn press(&self, chord: &KeyChord) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Types any Unicode text; `\n` is Return, `\t` is Tab.
    ///
    /// # Errors
    /// [`crate::DesktopError::Key`] for a character that cannot be typed.
    fn type_text(&self, text: &str) -> impl Future<Output = DesktopResult<()>> + Send;
}

/// The clipboard that the applications of a desktop share.
pub trait Clipboard {
    /// Its text; none where it is empty or holds something else.
    ///
    /// # Errors
    /// [`crate::DesktopError::Failed`] when its owner does not hand it over.
    fn clipboard(&self) -> impl Future<Output = DesktopResult<Option<String>>> + Send;

    /// Puts a text on it, or empties it.
    ///
    /// # Errors
    /// [`crate::DesktopError::Failed`] when another program holds it.
    fn set_clipboard(&self, text: Option<&str>) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Waits until an application has fetched the text that was put on it, at most `bound`; whether one has.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn clipboard_taken(&self, bound: Duration) -> impl Future<Output = DesktopResult<bool>> + Send;
}

/// Pictures of the screen.
pub trait Capture {
    /// The whole screen.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn screen(&self) -> impl Future<Output = DesktopResult<Picture>> + Send;

    /// A part of the screen; what lies outside of the screen is cut off.
    ///
    /// # Errors
    /// [`crate::DesktopError::Failed`] when nothing of it is on the screen.
    fn region(&self, region: Rect<Screen>) -> impl Future<Output = DesktopResult<Picture>> + Send;
}

/// Bounds of a wait for quiet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuietLimits {
    /// How long nothing must happen.
    pub quiet: Duration,
    /// How long to wait for the first sign of a change before nothing counts as nothing. The application has
    /// handled what was sent to it by then, whatever this says; ask for longer where it may start late. Zero where no
    /// change is expected: a toolkit that starts late is not waited for then.
    pub first_change: Duration,
    /// The longest wait in all.
    pub bound: Duration,
}

impl QuietLimits {
    /// What was sent before has been handled, as far as the application says; what it goes on with is not waited for.
    /// For a condition that is then read from the application itself.
    pub const HANDLED: Self =
        Self { quiet: Duration::ZERO, first_change: Duration::ZERO, bound: Duration::from_secs(5) };
}

impl Default for QuietLimits {
    fn default() -> Self {
        Self {
            quiet: Duration::from_millis(60),
            first_change: Duration::from_millis(30),
            bound: Duration::from_secs(5),
        }
    }
}

/// One change that an application announced, or that was seen on the screen.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// A window was mapped.
    WindowOpened {
        /// Its title.
        title: String,
    },
    /// A window went away.
    WindowClosed {
        /// Its title.
        title: String,
    },
    /// A title changed.
    TitleChanged {
        /// The new title.
        title: String,
    },
    /// An element's state, name, text, value, selection or children changed.
    Element {
        /// The AT-SPI event, such as `object:state-changed:checked`.
        event: String,
        /// The element, where it is known by an id already.
        element: Option<ElementId>,
    },
    /// The focus moved.
    Focus {
        /// The element that has it, where it is known by an id already.
        element: Option<ElementId>,
    },
}

/// What a wait for quiet waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitedFor {
    /// The application to answer: it was busy.
    Answer,
    /// A first sign that something changes.
    FirstChange,
    /// The end of what the application announced.
    Announcements,
    /// The end of drawing.
    Drawing,
    /// Windows that opened, closed or changed.
    Windows,
}

/// What happened between the start of a watch and quiet.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Settled {
    /// What changed, in order, without repeats; at most [`Settled::CHANGES_MAX`].
    pub changes: Vec<Change>,
    /// Whether pixels of the watched application changed.
    pub damaged: bool,
    /// How long the wait took, in milliseconds.
    pub waited_ms: u64,
    /// Whether the bound was reached before quiet.
    pub timed_out: bool,
    /// What the wait was for, in the order in which it came up.
    pub waited_for: Vec<WaitedFor>,
}

impl Settled {
    /// The most changes that are kept.
    pub const CHANGES_MAX: usize = 200;
}

/// What of an element changes, such as its name or one of its states, as whoever compares them tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Aspect(pub u64);

/// Idle as an event: quiet of accessibility events and screen damage, bounded.
pub trait Settling {
    /// A running watch; started before an action, so that nothing is missed.
    type Watch: Send;

    /// Starts to watch the application of a window (or the whole desktop).
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn watch(&self, window: Option<WindowId>) -> impl Future<Output = DesktopResult<Self::Watch>> + Send;

    /// Waits until the application is quiet and tells what happened since the watch began.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn settle(
        &self,
        watch: Self::Watch,
        limits: QuietLimits,
    ) -> impl Future<Output = DesktopResult<Settled>> + Send;

    /// Which of these elements changed within the last `span` other than as the effect of an action, or have not been watched
    /// for so long: a change of theirs proves nothing by itself. Watches those that it was not asked for before.
    fn restless(&self, elements: &[ElementId], span: Duration) -> Vec<ElementId>;

    /// What an element changed so far was the effect of an action and says nothing of what it does by itself.
    fn explain(&self, element: ElementId);

    /// Something of an element was seen to change again and again with nobody touching it. As long as it goes on, nobody
    /// waits for it.
    fn blame(&self, element: ElementId, aspect: Aspect);

    /// Whether this of an element was blamed not long ago and the element still goes on changing: it proves nothing.
    fn changes_by_itself(&self, element: ElementId, aspect: Aspect) -> bool;
}
