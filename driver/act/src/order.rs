//! The order in which people sort names: without regard to case, numbers by their value.

use std::cmp::Ordering;

/// The fewest different names that show an order.
const NAMES_MIN: usize = 4;

/// Compares two folded names; `Row 9` is before `Row 10`.
pub(crate) fn natural(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one, other);
    loop {
        let ((left, left_rest), (right, right_rest)) = match (part(one), part(other)) {
            (Some(left), Some(right)) => (left, right),
            (left, right) => return left.is_some().cmp(&right.is_some()),
        };
        let order = match (left.parse::<u128>(), right.parse::<u128>()) {
            (Ok(left), Ok(right)) => left.cmp(&right),
            (_, _) => left.cmp(right),
        };
        if order.is_ne() {
            return order;
        }
        (one, other) = (left_rest, right_rest);
    }
}

/// The digits, or what is none, that a text begins with, and the rest.
fn part(text: &str) -> Option<(&str, &str)> {
    let is_digit = text.chars().next()?.is_ascii_digit();
    let end = text.find(|c: char| c.is_ascii_digit() != is_digit).unwrap_or(text.len());
    Some(text.split_at(end))
}

/// Returns `true` if names are sorted upwards, as far as several of them tell.
pub(crate) fn is_sorted(names: &[String]) -> bool {
    let order = |one: &String, other: &String| natural(one, other);
    let rises =
        names.iter().zip(names.iter().skip(1)).filter(|(one, other)| order(one, other).is_lt()).count();
    rises + 1 >= NAMES_MIN && names.is_sorted_by(|one, other| order(one, other).is_le())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sorted_by_their_value() {
        let names = ["a", "row", "row 9", "row 10", "row 10 b", "row 100"].map(str::to_owned);
        assert!(is_sorted(&names));
        for (index, one) in names.iter().enumerate() {
            for (at, other) in names.iter().enumerate() {
                assert_eq!(natural(one, other), index.cmp(&at), "{one} and {other}");
            }
        }
        assert!(!is_sorted(&["a", "c", "b", "d", "e"].map(str::to_owned)));
        assert!(!is_sorted(&["same", "same", "same", "same"].map(str::to_owned)), "this tells nothing");
    }
}
