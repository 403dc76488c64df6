//! The longest common subsequence of two sequences of moves.

use std::collections::HashMap;

/// The most moves of each side that are aligned exactly, between a common beginning and a common end. What comes after them is not
/// paired.
const EXACT_MAX: usize = 2_000;

/// The places of two sequences in one order: paired where their keys are equal, alone otherwise. Each place occurs once, in order.
pub(super) fn align(left: &[&str], right: &[&str]) -> Vec<(Option<usize>, Option<usize>)> {
    let mut numbers = HashMap::new();
    let left = numbered(left, &mut numbers);
    let right = numbered(right, &mut numbers);
    let head = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    let (left_rest, right_rest) =
        (left.get(head..).unwrap_or_default(), right.get(head..).unwrap_or_default());
    let tail = left_rest.iter().rev().zip(right_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (left_end, right_end) = (left.len() - tail, right.len() - tail);
    let left_middle = left.get(head..left_end).unwrap_or_default();
    let right_middle = right.get(head..right_end).unwrap_or_default();
    let mut places: Vec<_> = (0..head).map(|place| (Some(place), Some(place))).collect();
    let moved = |place: Option<usize>| place.map(|place| place + head);
    places.extend(middle(left_middle, right_middle).into_iter().map(|(a, b)| (moved(a), moved(b))));
    places.extend((0..tail).map(|place| (Some(left_end + place), Some(right_end + place))));
    places
}

/// Equal keys get equal numbers.
fn numbered<'a>(keys: &[&'a str], numbers: &mut HashMap<&'a str, usize>) -> Vec<usize> {
    let mut number = |key: &'a str| {
        let next = numbers.len();
        *numbers.entry(key).or_insert(next)
    };
    keys.iter().map(|key| number(key)).collect()
}

fn middle(left: &[usize], right: &[usize]) -> Vec<(Option<usize>, Option<usize>)> {
    let (rows, columns) = (left.len().min(EXACT_MAX), right.len().min(EXACT_MAX));
    let lengths = lengths(left.get(..rows).unwrap_or(left), right.get(..columns).unwrap_or(right));
    // The length of the longest common subsequence of what is left from these places on.
    let length = |row: usize, column: usize| lengths.get(row * (columns + 1) + column).copied().unwrap_or(0);
    let (mut row, mut column) = (0, 0);
    let mut places = Vec::new();
    while row < rows && column < columns {
        if left.get(row) == right.get(column) {
            places.push((Some(row), Some(column)));
            (row, column) = (row + 1, column + 1);
        } else if length(row + 1, column) >= length(row, column + 1) {
            places.push((Some(row), None));
            row += 1;
        } else {
            places.push((None, Some(column)));
            column += 1;
        }
    }
    places.extend((row..left.len()).map(|row| (Some(row), None)));
    places.extend((column..right.len()).map(|column| (None, Some(column))));
    places
}

/// The lengths for all suffixes of both, row by row; the last row and column are 0.
fn lengths(left: &[usize], right: &[usize]) -> Vec<u16> {
    let width = right.len() + 1;
    let mut lengths = vec![0_u16; (left.len() + 1) * width];
    for (row, a) in left.iter().enumerate().rev() {
        let (above, below) = lengths.split_at_mut((row + 1) * width);
        let Some(above) = above.get_mut(row * width..) else { continue };
        let mut to_the_right = 0;
        for (column, b) in right.iter().enumerate().rev() {
            let next = |column: usize| below.get(column).copied().unwrap_or(0);
            let best =
                if a == b { next(column + 1).saturating_add(1) } else { next(column).max(to_the_right) };
            if let Some(place) = above.get_mut(column) {
                *place = best;
            }
            to_the_right = best;
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::align;

    fn keys(text: &str) -> Vec<String> {
        text.chars().map(String::from).collect()
    }

    fn aligned(left: &str, right: &str) -> Vec<(Option<usize>, Option<usize>)> {
        let (left, right) = (keys(left), keys(right));
        let left: Vec<&str> = left.iter().map(String::as_str).collect();
        let right: Vec<&str> = right.iter().map(String::as_str).collect();
        align(&left, &right)
    }

    fn shown(left: &str, right: &str) -> String {
        let of =
            |text: &str, place: Option<usize>| place.map_or('-', |place| text.chars().nth(place).unwrap());
        let columns: Vec<String> = aligned(left, right)
            .into_iter()
            .map(|(a, b)| format!("{}{}", of(left, a), of(right, b)))
            .collect();
        columns.join(" ")
    }

    #[test]
    fn what_both_have_is_paired_in_order() {
        let check = |left: &str, right: &str, expected: &str| assert_eq!(shown(left, right), expected);
        check("", "", "");
        check("abc", "abc", "aa bb cc");
        check("abc", "", "a- b- c-");
        check("", "ab", "-a -b");
        check("abxd", "abyd", "aa bb x- -y dd");
        check("abcd", "acd", "aa b- cc dd");
        check("ad", "abcd", "aa -b -c dd");
        check("aab", "ab", "aa a- bb");
    }

    /// The length of the longest common subsequence, by trying every subsequence of the shorter one.
    fn longest(left: &str, right: &str) -> usize {
        let is_within = |part: &[char]| {
            let mut rest = right.chars();
            part.iter().all(|wanted| rest.any(|found| found == *wanted))
        };
        let left: Vec<char> = left.chars().collect();
        let parts = (0..1_u32 << left.len()).map(|chosen| {
            let part = left.iter().enumerate().filter(|(place, _)| chosen >> place & 1 == 1);
            part.map(|(_, found)| *found).collect::<Vec<char>>()
        });
        parts.filter(|part| is_within(part)).map(|part| part.len()).max().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_as_much_as_possible_is_paired(left in "[abc]{0,9}", right in "[abc]{0,9}") {
            let places = aligned(&left, &right);
            let lefts: Vec<usize> = places.iter().filter_map(|(a, _)| *a).collect();
            let rights: Vec<usize> = places.iter().filter_map(|(_, b)| *b).collect();
            prop_assert_eq!(lefts, (0..left.len()).collect::<Vec<_>>());
            prop_assert_eq!(rights, (0..right.len()).collect::<Vec<_>>());
            let pairs: Vec<_> = places.iter().filter_map(|(a, b)| a.zip(*b)).collect();
            for (a, b) in &pairs {
                prop_assert_eq!(left.as_bytes()[*a], right.as_bytes()[*b]);
            }
            prop_assert_eq!(pairs.len(), longest(&left, &right));
        }
    }
}
