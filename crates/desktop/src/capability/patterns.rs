//! What elements offer beside their place in the tree: actions, values, text and cells.

use deskhand_core::{
    ids::ElementId,
    ui::{CellRange, CellRef, Element, TableContent},
};

use crate::DesktopResult;

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

/// The patterns that elements offer: actions, values, text and tables. Success reported by a toolkit proves nothing: callers
/// read the state back.
pub trait Patterns {
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

    /// The selected part of an element's text, as the first character and the one after the last; `None` if nothing is selected.
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
