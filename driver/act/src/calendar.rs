//! Detection of the chosen day in a calendar, which only the picture of the month shows: the mark of the chosen
//! day is on the day that was clicked, and no longer on the one that had it.
//!
//! GTK 3 draws the days, GTK 4 has labels of them that do not say which is chosen.

use std::{ops::RangeInclusive, time::Duration};

use deskhand_desktop::{Desktop, DesktopError, DesktopResult, Picture};
use deskhand_ui::{
    Element, ElementSource, Role, Tree,
    geometry::{Point, Rect, Screen},
    ids::WindowId,
};

use crate::{
    patience::{comes_within, watch_app},
    words::drawn_words,
};

/// The fewest days that are read of a month.
const DAYS_MIN: usize = 18;
/// The fewest weeks that show.
const WEEKS_MIN: usize = 4;
/// The columns: the days of a week, and perhaps its number.
const COLUMNS: RangeInclusive<usize> = 7..=8;
/// The most that the middle of a day may be beside that of its column or row, in pixels.
const ASIDE_MAX: i32 = 5;
/// Maximum distance between days, in pixels: those further away are in another month.
const APART_MAX: i32 = 120;
/// Half of the sides of the part of a day that is looked at, in pixels.
const HALF: (i32, i32) = (9, 6);
/// Maximum difference between two colours, per channel, that does not count.
const LIKE: u8 = 10;

/// The longest wait until the month is drawn anew.
const DRAWN_WITHIN: Duration = Duration::from_secs(1);

/// A colour.
type Colour = [u8; 3];

/// A month with its days, as it was before a click.
#[derive(Debug)]
pub(crate) struct Month {
    /// The middles of the days, week by week.
    days: Vec<Point<Screen>>,
    /// Which of them is clicked.
    target: usize,
    area: Rect<Screen>,
    grounds: Vec<Colour>,
}

impl Month {
    /// The month that a day is in; `None` if the element is none.
    ///
    /// # Errors
    /// The desktop cannot be read.
    pub(crate) async fn of<D: Desktop>(
        desktop: &D,
        (window, tree): (WindowId, &Tree),
        element: &Element,
    ) -> DesktopResult<Option<Self>> {
        let Some(middle) = element.bounds.filter(|_| is_day(element)).map(|bounds| bounds.center()) else {
            return Ok(None);
        };
        let days = match element.source {
            ElementSource::AtSpi => middles(&tree.elements, element),
            ElementSource::Ocr | ElementSource::Omniparser => {
                middles(&drawn_words(desktop, window).await?, element)
            }
        };
        let Some((days, target)) = grid(&days, middle) else { return Ok(None) };
        let cells = days.iter().map(cell);
        let Some(area) = cells.reduce(|one, other| one.enclosing(&other)) else { return Ok(None) };
        let grounds = grounds(&desktop.region(area).await?, &days);
        Ok(Some(Self { days, target, area, grounds }))
    }

    /// Waits until the mark has moved to the day that was clicked; whether it has.
    ///
    /// # Errors
    /// The desktop cannot be read.
    pub(crate) async fn comes_to_show<D: Desktop>(
        &self,
        desktop: &D,
        window: WindowId,
    ) -> DesktopResult<bool> {
        let is_chosen = async || {
            let now = grounds(&desktop.region(self.area).await?, &self.days);
            Ok::<_, DesktopError>(mark_moved(&self.grounds, &now, self.target))
        };
        let watch = watch_app(desktop, window).await?;
        Ok(comes_within(desktop, (window, watch), DRAWN_WITHIN, is_chosen).await?.holds)
    }
}

/// Returns `true` if the mark went from another day to this one, and nothing else changed.
fn mark_moved(before: &[Colour], now: &[Colour], target: usize) -> bool {
    let changed: Vec<usize> = before
        .iter()
        .zip(now)
        .enumerate()
        .filter(|(_, (before, now))| !is_like(before, now))
        .map(|(at, _)| at)
        .collect();
    let [one, two] = changed.as_slice() else { return false };
    let other = if *one == target { two } else { one };
    if ![one, two].contains(&&target) {
        return false;
    }
    let same = |one: Option<&Colour>, other: Option<&Colour>| match (one, other) {
        (Some(one), Some(other)) => is_like(one, other),
        _ => false,
    };
    same(now.get(target), before.get(*other)) && same(now.get(*other), before.get(target))
}

fn is_like(one: &Colour, other: &Colour) -> bool {
    one.iter().zip(other).all(|(one, other)| one.abs_diff(*other) <= LIKE)
}

/// Returns `true` if an element is named as a day of a month, and may be one.
fn is_day(element: &Element) -> bool {
    let is_label = [Role::LABEL, Role::DRAWN_TEXT].contains(&element.role);
    is_label && element.name.trim().parse().is_ok_and(|day: u8| (1..=31).contains(&day))
}

/// The middles of the days that are of the same kind as this one.
fn middles(elements: &[Element], day: &Element) -> Vec<Point<Screen>> {
    let alike = elements.iter().filter(|one| is_day(one) && one.role == day.role);
    alike.filter_map(|one| one.bounds).map(|bounds| bounds.center()).collect()
}

/// The days of the month that has one of these, week by week, and which one that is. Those that were not read are where their column and
/// their row meet.
fn grid(days: &[Point<Screen>], one: Point<Screen>) -> Option<(Vec<Point<Screen>>, usize)> {
    let columns = lines(days.iter().map(|day| day.x), one.x);
    let in_columns =
        days.iter().filter(|day| columns.iter().any(|column| (column - day.x).abs() <= ASIDE_MAX));
    let rows = lines(in_columns.clone().map(|day| day.y), one.y);
    let count = in_columns.filter(|day| rows.iter().any(|row| (row - day.y).abs() <= ASIDE_MAX)).count();
    (count >= DAYS_MIN && COLUMNS.contains(&columns.len()) && rows.len() >= WEEKS_MIN).then_some(())?;
    let all: Vec<Point<Screen>> =
        rows.iter().flat_map(|row| columns.iter().map(|column| Point::new(*column, *row))).collect();
    let target = all
        .iter()
        .position(|day| (day.x - one.x).abs() <= ASIDE_MAX && (day.y - one.y).abs() <= ASIDE_MAX)?;
    Some((all, target))
}

/// The lines on which at least two of these places lie, without gaps around the one that has `place`.
fn lines(places: impl Iterator<Item = i32>, place: i32) -> Vec<i32> {
    let mut sorted: Vec<i32> = places.collect();
    sorted.sort_unstable();
    let mut found: Vec<Vec<i32>> = Vec::new();
    for one in sorted {
        match found.last_mut() {
            Some(line) if line.first().is_some_and(|first| one - first <= ASIDE_MAX) => line.push(one),
            _ => found.push(vec![one]),
        }
    }
    let lines = found.into_iter().filter(|line| line.len() > 1);
    let middles: Vec<i32> = lines.filter_map(|line| line.get(line.len() / 2).copied()).collect();
    let near = |one: &i32, other: &i32| other - one <= APART_MAX;
    let together =
        middles.chunk_by(near).find(|some| some.iter().any(|line| (line - place).abs() <= ASIDE_MAX));
    together.map(<[i32]>::to_vec).unwrap_or_default()
}

/// The part of a day that is looked at.
fn cell(middle: &Point<Screen>) -> Rect<Screen> {
    let (across, down) = HALF;
    Rect::new(middle.x - across, middle.y - down, across * 2, down * 2)
}

/// The colour of most of each day.
fn grounds(picture: &Picture, days: &[Point<Screen>]) -> Vec<Colour> {
    days.iter().map(|day| ground(picture, cell(day))).collect()
}

fn ground(picture: &Picture, cell: Rect<Screen>) -> Colour {
    let Rect { x, y, width, height, .. } = picture.region;
    let pixel = |across: i32, down: i32| -> Option<Colour> {
        let is_inside = (0..width).contains(&across) && (0..height).contains(&down);
        let at = usize::try_from(down.checked_mul(width)?.checked_add(across)?).ok().filter(|_| is_inside)?;
        picture.rgb.get(at.checked_mul(3)?..)?.first_chunk().copied()
    };
    let all = (cell.y - y..cell.bottom() - y)
        .flat_map(|down| (cell.x - x..cell.right() - x).filter_map(move |across| pixel(across, down)));
    let mut sorted: Vec<Colour> = all.collect();
    sorted.sort_unstable();
    let most = sorted.chunk_by(|one, other| one == other).max_by_key(|same| same.len());
    most.and_then(<[Colour]>::first).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Colour = [255, 255, 255];
    const MARK: Colour = [53, 132, 228];

    #[test]
    fn a_day_is_chosen_if_the_mark_moved_to_it() {
        let month = |marked: &[usize]| -> Vec<Colour> {
            (0..42).map(|day| if marked.contains(&day) { MARK } else { PLAIN }).collect()
        };
        assert!(mark_moved(&month(&[3]), &month(&[20]), 20));
        assert!(!mark_moved(&month(&[3]), &month(&[20]), 21), "another day");
        assert!(!mark_moved(&month(&[3]), &month(&[3]), 3), "nothing changed");
        assert!(!mark_moved(&month(&[]), &month(&[20]), 20), "the pointer is over it");
        assert!(!mark_moved(&month(&[3]), &month(&[3, 20]), 20), "both are marked");
        let mut otherwise = month(&[20]);
        otherwise[20] = [200, 220, 250];
        assert!(!mark_moved(&month(&[3]), &otherwise, 20), "another mark");
    }

    #[test]
    fn days_that_were_not_read_are_where_their_column_and_row_meet() {
        let day = |column: i32, row: i32| Point::new(500 + column * 28, 400 + row * 17);
        let read: Vec<Point<Screen>> = (0..5)
            .flat_map(|row| (0..7).map(move |column| (column, row)))
            .filter(|place| ![(2, 1), (3, 1), (4, 1)].contains(place))
            .map(|(column, row)| day(column, row))
            .collect();
        let (days, target) = grid(&read, Point::new(day(4, 3).x + 1, day(4, 3).y)).unwrap();
        assert_eq!((days.len(), target), (35, 25));
        assert_eq!(days[9], day(2, 1));
        assert_eq!(grid(&read[..16], day(4, 0)), None, "too few");
        let row: Vec<Point<Screen>> = (0..31).map(|column| day(column, 0)).collect();
        assert_eq!(grid(&row, day(3, 0)), None, "no weeks");
    }
}
