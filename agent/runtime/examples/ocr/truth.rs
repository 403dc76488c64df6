//! Which words are drawn in a window.

use std::collections::HashMap;

use deskhand_ui::{
    Element, Role, Tree,
    geometry::{Point, Rect, Screen},
};

/// The least width of a letter in pixels: a text that would not fit into its element is not drawn there, as with buttons of icons.
const LETTER_WIDTH_MIN: i32 = 4;
/// The least room beside the text of a button, in pixels.
const BUTTON_EDGES: i32 = 12;
/// The least height of a line, in pixels.
const LINE_HEIGHT_MIN: i32 = 8;
/// How far letters may be outside of their element, in pixels.
const MARGIN: i32 = 3;

/// The roles whose name is drawn in full.
const NAMED: &[Role] = &[
    Role::CHECK_BOX,
    Role::HEADING,
    Role::LABEL,
    Role::LINK,
    Role::LIST_ITEM,
    Role::MENU,
    Role::MENU_ITEM,
    Role::PAGE_TAB,
    Role::PUSH_BUTTON,
    Role::RADIO_BUTTON,
    Role::STATIC,
    Role::TABLE_CELL,
    Role::TREE_ITEM,
];
/// The roles whose text is drawn.
const WRITTEN: &[Role] = &[Role::ENTRY, Role::PARAGRAPH, Role::TABLE_CELL, Role::TEXT];

/// The words that are drawn in a window.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    pub(crate) words: Vec<String>,
    /// Where all words are known; `None` for the whole window.
    places: Option<Vec<Rect<Screen>>>,
}

impl Drawn {
    /// What a program was told to show.
    pub(crate) fn told(text: &str) -> Self {
        Self { words: words_of(text), places: None }
    }

    /// What the elements of a window say.
    pub(crate) fn of_tree(tree: &Tree, window: &Rect<Screen>) -> Self {
        let mut said: Vec<(String, Rect<Screen>)> = Vec::new();
        for element in &tree.elements {
            let Some(bounds) = element.bounds.filter(|bounds| bounds.intersection(window) == Some(*bounds))
            else {
                continue;
            };
            let in_tool_bar = tree.ancestors(element.id).any(|one| one.role == Role::TOOL_BAR);
            let Some(text) =
                text_of(element).filter(|text| !in_tool_bar && fits(text, &element.role, &bounds))
            else {
                continue;
            };
            let is_same = |(other, place): &(String, Rect<Screen>)| {
                *other == text && place.intersection(&bounds).is_some()
            };
            if !said.iter().any(is_same) {
                said.push((text, bounds));
            }
        }
        let words = said.iter().flat_map(|(text, _)| words_of(text)).collect();
        let places = said.into_iter().map(|(_, place)| place);
        Self { words, places: Some(places.collect()) }
    }

    /// Returns `true` if it is known what is drawn at a point.
    fn is_known(&self, point: &Point<Screen>) -> bool {
        let around = |place: &Rect<Screen>| {
            Rect::new(place.x - MARGIN, place.y - MARGIN, place.width + 2 * MARGIN, place.height + 2 * MARGIN)
        };
        self.places.as_ref().is_none_or(|places| places.iter().any(|place| around(place).contains(point)))
    }

    /// Compares what was read with what is drawn.
    pub(crate) fn compare(&self, read: &[(String, Rect<Screen>)]) -> Score {
        let placed = read.iter().flat_map(|(text, place)| placed_words(text, place));
        let (judged, elsewhere): (Vec<_>, Vec<_>) = placed.partition(|(_, at)| self.is_known(at));
        let mut left = counts(self.words.iter());
        let mut right = 0;
        let mut wrong = Vec::new();
        for (word, _) in &judged {
            match left.get_mut(word.as_str()).filter(|count| **count > 0) {
                Some(count) => {
                    *count -= 1;
                    right += 1;
                }
                None => wrong.push(word.clone()),
            }
        }
        let mut missed: Vec<String> =
            left.into_iter().flat_map(|(word, count)| std::iter::repeat_n(word.to_owned(), count)).collect();
        missed.sort_unstable();
        Score {
            right,
            drawn: self.words.len(),
            read: judged.len(),
            elsewhere: elsewhere.len(),
            missed,
            wrong,
        }
    }
}

/// How well a reader did, in words.
#[derive(Debug)]
pub(crate) struct Score {
    pub(crate) right: usize,
    pub(crate) drawn: usize,
    pub(crate) read: usize,
    /// Words where it is not known what is drawn.
    pub(crate) elsewhere: usize,
    pub(crate) missed: Vec<String>,
    pub(crate) wrong: Vec<String>,
}

fn text_of(element: &Element) -> Option<String> {
    let text = element.text.as_deref().unwrap_or_default();
    if WRITTEN.contains(&element.role) && !text.trim().is_empty() {
        return Some(text.to_owned());
    }
    (NAMED.contains(&element.role) && !element.name.trim().is_empty()).then(|| element.name.clone())
}

/// Returns `true` if a text has room in an element: in several lines only where text is wrapped, and beside an edge in a button.
fn fits(text: &str, role: &Role, bounds: &Rect<Screen>) -> bool {
    const WRAPPED: &[Role] = &[Role::HEADING, Role::LABEL, Role::PARAGRAPH, Role::STATIC, Role::TEXT];
    let letters = i32::try_from(text.chars().count()).unwrap_or(i32::MAX);
    let lines = if WRAPPED.contains(role) { bounds.height / LINE_HEIGHT_MIN } else { 1 };
    let edges = if *role == Role::PUSH_BUTTON { BUTTON_EDGES } else { 0 };
    bounds.height >= LINE_HEIGHT_MIN
        && lines.saturating_mul(bounds.width - edges) >= letters.saturating_mul(LETTER_WIDTH_MIN)
}

/// The words of a text, without signs around them.
fn words_of(text: &str) -> Vec<String> {
    text.split_whitespace().map(plain).filter(|word| !word.is_empty()).collect()
}

fn plain(word: &str) -> String {
    word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_owned()
}

/// The words of a text that was read, each with where its middle is about.
fn placed_words(text: &str, place: &Rect<Screen>) -> Vec<(String, Point<Screen>)> {
    let all = i32::try_from(text.chars().count()).unwrap_or(i32::MAX).max(1);
    let mut from = 0;
    let mut words = Vec::new();
    for part in text.split(char::is_whitespace) {
        let length = i32::try_from(part.chars().count()).unwrap_or(i32::MAX);
        let word = plain(part);
        if !word.is_empty() {
            let x = place.x + place.width * (2 * from + length) / (2 * all);
            words.push((word, Point::new(x, place.y + place.height / 2)));
        }
        from += length + 1;
    }
    words
}

fn counts<'w>(words: impl Iterator<Item = &'w String>) -> HashMap<&'w str, usize> {
    let mut counts = HashMap::new();
    for word in words {
        *counts.entry(word.as_str()).or_default() += 1;
    }
    counts
}
