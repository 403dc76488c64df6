//! The view of a window as text, in full and in pages.

use std::collections::HashSet;

use super::{
    items::{ListedElement, ViewItem, items},
    lines::{cost, lines, usually_listed, worth_listing},
    rank::choose,
};
use crate::prompt::window_line;
use deskhand_ui::{
    CellRef, ElementSource, IncompleteTreeCause, Role, Surface, WindowView, ids::ElementId, text::untrusted,
};

/// Options of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewListOptions {
    /// Token limit (estimated); the least relevant elements are omitted.
    pub tokens_max: usize,
    /// Keywords that make an element relevant, in lower case; see [`super::relevant_words`].
    pub words: Vec<String>,
}

impl ViewListOptions {
    /// Default of [`ViewListOptions::tokens_max`].
    pub const TOKENS_MAX: usize = 4_000;
}

impl Default for ViewListOptions {
    fn default() -> Self {
        Self { tokens_max: Self::TOKENS_MAX, words: Vec::new() }
    }
}

/// The surfaces of a window, topmost first, because a dialog in front matters most.
pub fn view_text(view: &WindowView, options: &ViewListOptions) -> String {
    let mut left = options.tokens_max;
    let mut parts = Vec::new();
    for surface in view.surfaces.iter().rev() {
        let part = surface_text(surface, &ViewListOptions { tokens_max: left, words: options.words.clone() });
        left = left.saturating_sub(deskhand_ui::text::tokens(&part));
        parts.push(untrusted("screen", &part));
    }
    parts.join("\n")
}

/// Returns the content of the full listing of a window, as data.
pub(crate) fn listed_elements(view: &WindowView) -> Vec<ListedElement> {
    let of = |surface: &Surface| -> Vec<ListedElement> {
        items(&surface.window, &surface.tree).iter().map(ViewItem::listed).collect()
    };
    view.surfaces.iter().flat_map(of).collect()
}

/// The elements that can be worked with or read, those of a dialog in front first: each with a title, and what else its line says.
/// What has no name, or only groups others, is left out.
pub(crate) fn titled_elements(view: &WindowView) -> Vec<TitledElement> {
    let of = |surface: &Surface| -> Vec<TitledElement> {
        let items = items(&surface.window, &surface.tree);
        let listed = usually_listed(&items, &surface.window);
        let is_told = |item: &&ViewItem<'_>| {
            let is_named = !item.is_empty() || !item.is_alone() || !item.element.description.is_empty();
            is_named && !item.element.role.is_structural()
        };
        let titled = |item: &ViewItem<'_>| TitledElement {
            id: item.element.id,
            title: item.title(),
            more: item.state_text().trim().to_owned(),
            acts: item.element.role.is_interactive() && item.element.states.takes_input(),
        };
        listed.into_iter().filter_map(|place| items.get(place)).filter(is_told).map(titled).collect()
    };
    split_at_dialog(view).1.iter().rev().flat_map(of).collect()
}

/// An element under a title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TitledElement {
    pub(crate) id: ElementId,
    /// Role and name: `push button "Save"`.
    pub(crate) title: String,
    /// Its state, value and text, as listings have them.
    pub(crate) more: String,
    /// `true` if it supports actions beyond reading it.
    pub(crate) acts: bool,
}

/// One surface, without the untrusted mark.
pub(super) fn surface_text(surface: &Surface, options: &ViewListOptions) -> String {
    let items = items(&surface.window, &surface.tree);
    let (chosen, left_out) = choose(&items, &surface.window, &options.words, options.tokens_max);
    let mut text = vec![window_line(&surface.window)];
    text.extend(lines(&items, &chosen));
    if items.is_empty() && surface.tree.partial.is_none() {
        text.push("(no elements: the application exposes none to assistive technology)".to_owned());
    }
    if left_out > 0 {
        text.push(format!("({left_out} more elements omitted; `more` lists them)"));
    }
    text.extend(surface.tree.partial.map(partial_line).map(str::to_owned));
    text.join("\n")
}

pub(super) const fn partial_line(partial: IncompleteTreeCause) -> &'static str {
    match partial {
        IncompleteTreeCause::NodeLimit => "(partial: the window has more elements than the limit)",
        IncompleteTreeCause::Deadline => "(partial: reading the window timed out)",
        IncompleteTreeCause::NotAnswering => "(partial: the application did not respond for some elements)",
    }
}

/// A page request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageQuery {
    /// Only descendants of this element.
    pub inside: Option<ElementId>,
    /// Only elements with this text, case-insensitive.
    pub find: Option<String>,
    /// Page number, from 1.
    pub page: usize,
}

/// A page of all listed elements of a window, in reading order, with the number of pages.
pub fn view_page(view: &WindowView, query: &PageQuery, tokens_max: usize) -> String {
    let wanted = query.find.as_ref().map(|text| text.to_lowercase());
    let mut pages: Vec<Vec<String>> = Vec::new();
    let mut count = 0;
    for surface in view.surfaces.iter().rev() {
        let items = items(&surface.window, &surface.tree);
        let inside: Option<HashSet<ElementId>> =
            query.inside.map(|id| surface.tree.descendants(id).map(|element| element.id).collect());
        let fits = |item: &ViewItem<'_>| {
            inside.as_ref().is_none_or(|inside| inside.contains(&item.element.id))
                && wanted.as_ref().is_none_or(|wanted| item.words().contains(wanted.as_str()))
        };
        let fitting = worth_listing(&items)
            .into_iter()
            .filter_map(|place| items.get(place).filter(|item| fits(item)).map(|item| (place, cost(item))));
        let mut page: HashSet<usize> = HashSet::new();
        let mut left = tokens_max;
        let mut close = |page: &mut HashSet<usize>| {
            if !page.is_empty() {
                let mut text = vec![window_line(&surface.window)];
                text.extend(lines(&items, page));
                pages.push(text);
                page.clear();
            }
        };
        for (place, cost) in fitting {
            count += 1;
            if cost > left {
                close(&mut page);
                left = tokens_max;
            }
            left = left.saturating_sub(cost);
            page.insert(place);
        }
        close(&mut page);
    }
    let number = query.page.max(1);
    match pages.get(number - 1) {
        Some(page) => {
            format!("page {number} of {}, {count} elements in all\n{}", pages.len(), page.join("\n"))
        }
        None if pages.is_empty() => "no matching element".to_owned(),
        None => {
            format!("page {number} does not exist; there are {}, with {count} elements in all", pages.len())
        }
    }
}

/// Splits the surfaces into those blocked by a modal dialog and those in front.
pub(crate) fn split_at_dialog(view: &WindowView) -> (&[Surface], &[Surface]) {
    let from = view.surfaces.iter().rposition(Surface::is_modal).unwrap_or(0);
    view.surfaces.split_at_checked(from).unwrap_or((&view.surfaces, &[]))
}

/// The elements to annotate in the view's picture: those listed within the same limit that something can be done with now. Cells that
/// are called by their place need no number: the sheet shows its letters and numbers, and marks would hide what it says.
pub fn marked_elements(view: &WindowView, options: &ViewListOptions) -> Vec<ElementId> {
    let mut marked = Vec::new();
    let mut left = options.tokens_max;
    for surface in split_at_dialog(view).1.iter().rev() {
        let items = items(&surface.window, &surface.tree);
        let (chosen, _) = choose(&items, &surface.window, &options.words, left);
        let listed = ViewListOptions { tokens_max: left, words: options.words.clone() };
        left = left.saturating_sub(deskhand_ui::text::tokens(&surface_text(surface, &listed)));
        let acts = |item: &ViewItem<'_>| {
            let element = item.element;
            let is_placed_cell = element.role == Role::TABLE_CELL && element.name.parse::<CellRef>().is_ok();
            let is_control = element.role.is_interactive() && element.states.takes_input() && !is_placed_cell;
            (is_control || element.source != ElementSource::AtSpi) && element.bounds.is_some()
        };
        let of_surface =
            items.iter().enumerate().filter(|(place, item)| chosen.contains(place) && acts(item));
        marked.extend(of_surface.map(|(_, item)| item.element.id));
    }
    marked
}
