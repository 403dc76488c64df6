//! Capabilities of elements besides their position in the tree: actions, values, text and cells.

use deskhand_ui::{CellRange, CellRef, Element, TableContent, ids::ElementId};

use crate::DesktopResult;

/// An operation on an element through the accessibility interface.
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
    /// `Value.SetCurrentValue` of a scroll bar, or of the part of one that has its value; of nothing else.
    MoveBar(f64),
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

/// Peculiarities of the toolkit of an element that require a different way for actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quirks {
    /// `true` if it ignores clicks on the options of a list for a while after the list opened.
    pub ignores_clicks_in_fresh_lists: bool,
    /// `true` if it reports the items of its menus at wrong positions.
    pub misplaces_menu_items: bool,
    /// `true` if it runs actions to their end before it answers. While a dialog that one of them opened is open,
    /// it reports nothing to assistive technology, and a key that is pressed then may stop it for good.
    pub blocks_in_actions: bool,
    /// Timers of its own are always due soon, so that one that is due says nothing about the effect of an input.
    pub runs_timers: bool,
    /// `true` if it accepts the value of a spin button and drops it; text typed into the field inside counts.
    pub drops_values: bool,
    /// By the wheel, its long lists skip rows. Their scroll bars go where they are sent.
    pub skips_rows_by_wheel: bool,
    /// The media type of rows of cells that it pastes without a question: cells are separated by tabs, rows by line feeds.
    pub pastes_cells_as: Option<&'static str>,
}

/// The patterns of elements: actions, values, text and tables. Success reported by a toolkit proves nothing: callers
/// read the state back.
pub trait ElementPatterns {
    /// Acts on an element.
    ///
    /// # Errors
    /// [`crate::DesktopError::NotOffered`] if the element lacks the pattern, `NoElement` if it is gone, `Failed` if
    /// the toolkit refuses.
    fn perform(
        &self,
        id: ElementId,
        action: &ElementAction,
    ) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Returns the peculiarities of the toolkit of an element; the default if it is gone.
    fn quirks(&self, id: ElementId) -> Quirks;

    /// The names of the actions of an element.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoElement`] if it is gone.
    fn action_names(&self, id: ElementId) -> impl Future<Output = DesktopResult<Vec<String>>> + Send;

    /// The text of an element (`Text.GetText`), at most `max` characters.
    ///
    /// # Errors
    /// [`crate::DesktopError::NotOffered`] if it has no text.
    fn text(&self, id: ElementId, max: usize) -> impl Future<Output = DesktopResult<String>> + Send;

    /// The selected part of an element's text, as the first character and the one after the last; `None` if nothing is selected.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoElement`] if it is gone.
    fn text_selection(
        &self,
        id: ElementId,
    ) -> impl Future<Output = DesktopResult<Option<(usize, usize)>>> + Send;

    /// The place of the caret in an element's text, as the number of characters before it; `None` if it has no caret.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoElement`] if it is gone.
    fn caret(&self, id: ElementId) -> impl Future<Output = DesktopResult<Option<usize>>> + Send;

    /// The text of the cells of a table, as shown.
    ///
    /// # Errors
    /// [`crate::DesktopError::NotOffered`] if it is not a table, `Failed` if the range is outside it.
    fn cells(
        &self,
        table: ElementId,
        range: CellRange,
    ) -> impl Future<Output = DesktopResult<TableContent>> + Send;

    /// The element of one cell.
    ///
    /// # Errors
    /// [`crate::DesktopError::NotOffered`] if it is not a table, `Failed` if the cell is outside it.
    fn cell(&self, table: ElementId, cell: CellRef) -> impl Future<Output = DesktopResult<Element>> + Send;

    /// The formula of one cell, without the leading `=`: empty if it has none, `None` if the application does not tell.
    /// One of which the application tells only the beginning ends with `…`.
    ///
    /// # Errors
    /// As [`Self::cell`].
    fn formula(
        &self,
        table: ElementId,
        cell: CellRef,
    ) -> impl Future<Output = DesktopResult<Option<String>>> + Send;
}
