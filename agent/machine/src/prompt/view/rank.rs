//! Ranks items if not all fit.

use std::collections::HashSet;

use super::{
    items::ViewItem,
    lines::{cost, usually_listed},
};
use deskhand_ui::{Role, State, WindowInfo};

/// Stop words.
const COMMON: &[&str] =
    &["and", "are", "for", "from", "has", "into", "its", "not", "of", "that", "the", "this", "with"];
/// The most keywords.
const WORDS_MAX: usize = 40;

/// Keywords of a text, in lower case.
pub fn relevant_words<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for text in texts {
        for word in text.split(|c: char| !c.is_alphanumeric()) {
            let word = word.to_lowercase();
            if word.chars().count() >= 3 && !COMMON.contains(&word.as_str()) && !words.contains(&word) {
                words.push(word);
            }
            if words.len() >= WORDS_MAX {
                return words;
            }
        }
    }
    words
}

/// The most relevant items that fit in `tokens_max`, and the number of those omitted.
pub(super) fn choose(
    items: &[ViewItem<'_>],
    window: &WindowInfo,
    words: &[String],
    tokens_max: usize,
) -> (HashSet<usize>, usize) {
    let mut ranked: Vec<(u32, usize)> = usually_listed(items, window)
        .into_iter()
        .filter_map(|place| items.get(place).map(|item| (score(item, words), place)))
        .collect();
    let all = ranked.len();
    ranked.sort_by_key(|(score, place)| (std::cmp::Reverse(*score), *place));
    let mut chosen = HashSet::new();
    let mut left = tokens_max;
    for (_, place) in ranked {
        let Some(item) = items.get(place) else { continue };
        let Some(rest) = left.checked_sub(cost(item)) else { continue };
        left = rest;
        chosen.insert(place);
    }
    let left_out = all - chosen.len();
    (chosen, left_out)
}

/// Relevance of an item.
fn score(item: &ViewItem<'_>, words: &[String]) -> u32 {
    const HITS_MAX: usize = 3;
    let (element, role) = (item.element, &item.element.role);
    let kind = match () {
        () if [Role::ENTRY, Role::TEXT, Role::PASSWORD_TEXT, Role::TABLE, Role::COMBO_BOX].contains(role) => {
            260
        }
        () if *role == Role::MENU || *role == Role::PAGE_TAB => 240,
        () if role.is_interactive() && !element.states.takes_input() => 60,
        () if role.is_interactive() && *role != Role::TABLE_CELL => 200,
        () if *role == Role::ALERT || *role == Role::HEADING => 180,
        () => 100,
    };
    let focused = if element.states.has(State::Focused) { 500 } else { 0 };
    let said = item.words();
    let hits = words.iter().filter(|word| said.contains(word.as_str())).count().min(HITS_MAX);
    kind + focused + 300 * u32::try_from(hits).unwrap_or(0)
}
