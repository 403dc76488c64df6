//! Text that was typed where no element tells what stands there: it is proven by the words that are read in the picture of the window.
//!
//! They have to be read exactly, once more than before, inserted into a line that read the same without them, and where the target is
//! if it has a place; without a named target, a caret has to be seen there. Words that were there before, or that came elsewhere, prove
//! nothing.

use std::time::Duration;

use deskhand_desktop::{
    Desktop, DesktopError, DesktopResult, Picture, QuietLimits, TreeLimits,
    alike::{alike, essence},
};
use deskhand_ui::{
    Element, ElementSource, Role, WindowInfo,
    geometry::{Rect, Screen},
    ids::WindowId,
    text::clip,
};

use crate::{caret::CaretPictures, words::is_drawn_word};

/// Letter that a caret is often read as, as [`essence`] spells it.
const CARET: char = 'l';
/// The fewest letters and digits of a piece of text that is looked for: fewer may be read by chance.
const LETTERS_MIN: usize = 3;
/// A gap up to this many times the height of the letters does not divide a line.
const GAP_MAX: i32 = 2;
/// From which share of the lower one two words of one line are high in common, in per cent.
const SAME_LINE: i32 = 50;
/// The longest line that is quoted, in characters.
const QUOTE_MAX: usize = 160;
/// Maximum number of reads of the window after text was typed: it may be drawn late, and beside a blinking
/// caret it is read better while the caret is off.
const LOOKS_MAX: usize = 3;
/// Maximum time to wait for the next change between the looks: carets blink more often.
const BLINK: Duration = Duration::from_millis(700);

/// Text that is read in a window.
#[derive(Debug)]
pub(crate) struct DrawnWindowText {
    /// All windows: what one of them covers cannot be read.
    windows: Vec<WindowId>,
    lines: Vec<DrawnLine>,
    /// Its picture; `None` if it is off the screen.
    picture: Option<Picture>,
}

/// Words side by side.
#[derive(Debug, Clone, PartialEq)]
struct DrawnLine {
    text: String,
    bounds: Rect<Screen>,
}

/// The line that shows what was typed.
#[derive(Debug, Clone, PartialEq)]
struct TypedLineMatch {
    text: String,
    /// Bounds of the typed text in it, by the number of letters.
    part: Rect<Screen>,
    /// Returns `true` if the caret behind it is read as a letter.
    has_caret: bool,
}

/// Returns `true` if pictures alone show the text of an element, if anything does: it is one of them, or an area that exposes nothing.
pub(crate) fn is_told_by_pictures(element: Option<&Element>) -> bool {
    const AREAS: &[Role] = &[
        Role::CANVAS,
        Role::DRAWING_AREA,
        Role::FILLER,
        Role::FRAME,
        Role::PANEL,
        Role::SCROLL_PANE,
        Role::UNKNOWN,
        Role::VIEWPORT,
    ];
    element.is_none_or(|element| element.source != ElementSource::AtSpi || AREAS.contains(&element.role))
}

impl DrawnWindowText {
    /// Reads a window. `None` if it is gone or cannot be read.
    pub(crate) async fn read<D: Desktop>(desktop: &D, surface: &WindowInfo) -> DesktopResult<Option<Self>> {
        let limits = TreeLimits { cells: false, ..TreeLimits::default() };
        let sight = match desktop.see(surface.id, limits).await {
            Err(DesktopError::NoWindow(_) | DesktopError::NotAnswering { .. }) => return Ok(None),
            other => other?,
        };
        // Without what reads, nothing would be there before and everything after.
        if !sight.notices.is_empty() {
            return Ok(None);
        }
        let picture = match desktop.region(surface.bounds).await {
            Err(DesktopError::Failed { .. }) => None,
            other => Some(other?),
        };
        let windows = desktop.windows().await?.iter().map(|info| info.id).collect();
        let lines = lines(sight.tree.elements.iter().filter(|one| is_drawn_word(one)));
        Ok(Some(Self { windows, lines, picture }))
    }

    /// Returns the evidence in the window of the text that was typed since. `place` is its required position, if
    /// there is one.
    pub(crate) async fn shows_typed<D: Desktop>(
        &self,
        desktop: &D,
        surface: &WindowInfo,
        typed: &str,
        place: Option<Rect<Screen>>,
    ) -> DesktopResult<TypedTextEvidence> {
        let (mut looks_otherwise, mut last) = (false, None);
        for _ in 0..LOOKS_MAX {
            let watch = desktop.watch(Some(surface.id)).await?;
            let Some(now) = Self::read(desktop, surface).await? else { break };
            if now.windows != self.windows {
                break;
            }
            let looks = CaretPictures {
                before: self.picture.as_ref(),
                last: last.as_ref(),
                now: now.picture.as_ref(),
            };
            // Without a named target, a label that repeats what was typed elsewhere looks the same but for the caret.
            let is_there =
                |found: &TypedLineMatch| place.is_some() || found.has_caret || looks.show_caret(&found.part);
            if let Some(found) = typed_line(&self.lines, &now.lines, typed, place).filter(is_there) {
                return Ok(TypedTextEvidence::Reads(clip(&found.text, QUOTE_MAX)));
            }
            let is_read = !(now.lines.is_empty() && self.lines.is_empty());
            looks_otherwise |= is_read && now.picture != self.picture;
            last = now.picture;
            let quiet = QuietLimits::default();
            desktop.settle(watch, QuietLimits { first_change: BLINK, ..quiet }).await?;
        }
        Ok(if looks_otherwise { TypedTextEvidence::LooksOtherwise } else { TypedTextEvidence::Nothing })
    }
}

/// Evidence in a window of a text that was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TypedTextEvidence {
    /// The text is read in this line.
    Reads(String),
    /// The text is not certainly read, and something is drawn otherwise: a field where a caret blinks is redrawn
    /// all the time.
    LooksOtherwise,
    /// Nothing.
    Nothing,
}

/// The words of each line, from the top.
fn lines<'e>(words: impl Iterator<Item = &'e Element>) -> Vec<DrawnLine> {
    let placed = words.filter_map(|word| Some((word.name.as_str(), word.bounds?)));
    let mut words: Vec<(&str, Rect<Screen>)> = placed.collect();
    words.sort_by_key(|(_, bounds)| bounds.x);
    let mut lines: Vec<DrawnLine> = Vec::new();
    for (text, bounds) in words {
        let joins = |line: &&mut DrawnLine| {
            let gap = bounds.x - line.bounds.right();
            is_one_line(&line.bounds, &bounds) && gap <= GAP_MAX * bounds.height.max(line.bounds.height)
        };
        match lines.iter_mut().find(joins) {
            Some(line) => {
                line.text.push(' ');
                line.text.push_str(text);
                line.bounds = line.bounds.enclosing(&bounds);
            }
            None => lines.push(DrawnLine { text: text.to_owned(), bounds }),
        }
    }
    lines.sort_by_key(|line| (line.bounds.y, line.bounds.x));
    lines
}

/// Returns `true` if two areas stand side by side.
pub(crate) fn is_one_line(one: &Rect<Screen>, other: &Rect<Screen>) -> bool {
    let common = one.bottom().min(other.bottom()) - one.y.max(other.y);
    common * 100 >= SAME_LINE * one.height.min(other.height)
}

/// The last line that shows a piece of what was typed, if every piece is shown.
fn typed_line(
    before: &[DrawnLine],
    now: &[DrawnLine],
    typed: &str,
    place: Option<Rect<Screen>>,
) -> Option<TypedLineMatch> {
    let pieces = typed.split(['\n', '\t']).filter(|piece| !piece.trim().is_empty());
    let mut shown = None;
    for piece in pieces {
        shown = Some(line_of_piece(before, now, &essence(piece), place)?);
    }
    shown
}

/// The only line that has a piece of text, and had only the rest before.
fn line_of_piece(
    before: &[DrawnLine],
    now: &[DrawnLine],
    piece: &str,
    place: Option<Rect<Screen>>,
) -> Option<TypedLineMatch> {
    if piece.chars().count() < LETTERS_MIN {
        return None;
    }
    let count = |lines: &[DrawnLine]| {
        lines.iter().map(|line| essence(&line.text).matches(piece).count()).sum::<usize>()
    };
    if count(now) != count(before) + 1 {
        return None;
    }
    let has_it = |line: &&DrawnLine| {
        place.is_none_or(|place| line.bounds.intersection(&place).is_some())
            && is_inserted(&line_at(before, &line.bounds), &essence(&line.text), piece)
    };
    let mut found = now.iter().filter(has_it);
    let line = found.next()?;
    found.next().is_none().then(|| found_in(line, piece)).flatten()
}

/// Finds a piece of text in a line.
fn found_in(line: &DrawnLine, piece: &str) -> Option<TypedLineMatch> {
    let (said, bounds) = (essence(&line.text), &line.bounds);
    let (head, rest) = said.split_at(said.rfind(piece)?);
    let count = |text: &str| i32::try_from(text.chars().count()).unwrap_or(0);
    let along = |letters: i32| bounds.x + bounds.width * letters / count(&said).max(1);
    let (left, right) = (along(count(head)), along(count(head) + count(piece)));
    let part = Rect::new(left, bounds.y, right - left, bounds.height);
    let has_caret = rest.strip_prefix(piece).is_some_and(|tail| tail.len() == 1 && tail.starts_with(CARET));
    Some(TypedLineMatch { text: line.text.clone(), part, has_caret })
}

/// Returns the text that was read before at the position of a line.
fn line_at(before: &[DrawnLine], bounds: &Rect<Screen>) -> String {
    let here = before
        .iter()
        .filter(|line| is_one_line(&line.bounds, bounds) && line.bounds.intersection(bounds).is_some());
    here.map(|line| essence(&line.text)).collect()
}

/// Returns `true` if a line is the one of before with a piece inserted, but for misread letters of the rest. The caret behind the piece is
/// often read as a letter.
fn is_inserted(before: &str, now: &str, piece: &str) -> bool {
    now.match_indices(piece).any(|(at, _)| {
        let (head, rest) = now.split_at(at);
        let tail = rest.strip_prefix(piece).unwrap_or(rest);
        let tails = [Some(tail), tail.strip_prefix(CARET)];
        tails.into_iter().flatten().any(|tail| alike(&format!("{head}{tail}"), before))
    })
}

#[cfg(test)]
#[path = "type_drawn_tests.rs"]
mod tests;
