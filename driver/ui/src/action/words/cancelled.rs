//! The words for what was done of a cancelled action.

use crate::action::{Cancellation, Extent, ExtentUnit, InputCounts};

/// Describes the completed part: `cancelled: typed 212 of 1,500 characters`.
pub(super) fn interrupted(cancellation: &Cancellation) -> String {
    let Cancellation { inputs, extent } = cancellation;
    match extent {
        Some(extent) => {
            let beside = sent(&without(*inputs, extent.unit));
            let beside = if beside.is_empty() { beside } else { format!(", besides {beside}") };
            format!("cancelled: {}{beside}", reached(*extent))
        }
        None if inputs.is_empty() => "cancelled before anything was sent".to_owned(),
        None => format!("cancelled after {}; the effect was not waited for", sent(inputs)),
    }
}

fn reached(extent: Extent) -> String {
    let Extent { unit, done, total, shown } = extent;
    let of = format!("{} of {}", grouped(done), grouped(total));
    let unread = if shown { "" } else { "; the application does not show what it has of them" };
    match unit {
        ExtentUnit::Characters => format!("typed {of} {}{unread}", plural(total, "character")),
        ExtentUnit::Chords => format!("pressed {of} {}", plural(total, "chord")),
        ExtentUnit::Notches => format!("scrolled {of} {}", plural(total, "notch")),
        ExtentUnit::Cells => format!("{of} {} read as written", plural(total, "cell")),
        ExtentUnit::Levels => format!("visited {of} {}", plural(total, "entry")),
        ExtentUnit::Items => format!("selected {of} {}", plural(total, "item")),
    }
}

/// The inputs that are not among the parts that are counted.
fn without(inputs: InputCounts, unit: ExtentUnit) -> InputCounts {
    match unit {
        ExtentUnit::Characters => InputCounts { characters: 0, ..inputs },
        ExtentUnit::Chords => InputCounts { chords: 0, ..inputs },
        ExtentUnit::Notches => InputCounts { notches: 0, ..inputs },
        // What the parts took is of no interest.
        ExtentUnit::Cells | ExtentUnit::Levels | ExtentUnit::Items => InputCounts::default(),
    }
}

/// Describes the inputs that an application received: `1 click and 2 chords`; empty for nothing.
fn sent(inputs: &InputCounts) -> String {
    let counted =
        |count: u64, what: &str| (count > 0).then(|| format!("{} {}", grouped(count), plural(count, what)));
    let all: Vec<String> = [
        counted(inputs.launches, "start of a program"),
        counted(inputs.clicks, "click"),
        counted(inputs.chords, "chord"),
        counted(inputs.characters, "character"),
        counted(inputs.secrets, "secret typed in part or whole"),
        counted(inputs.notches, "notch"),
        counted(inputs.drags, "drag"),
        counted(inputs.drags_taken_back, "drag that was taken back"),
        counted(inputs.moves, "move of the pointer"),
        counted(inputs.edits, "edit"),
    ]
    .into_iter()
    .flatten()
    .collect();
    match all.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// A word for as many: the first word of several is the noun.
fn plural(count: u64, words: &str) -> String {
    if count == 1 {
        return words.to_owned();
    }
    let (noun, rest) = words.split_once(' ').unwrap_or((words, ""));
    let noun = match noun {
        "entry" => "entries".to_owned(),
        "notch" => "notches".to_owned(),
        noun => format!("{noun}s"),
    };
    if rest.is_empty() { noun } else { format!("{noun} {rest}") }
}

/// A number with its thousands apart: `1,500`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let length = digits.len();
    let mut text = String::with_capacity(length + length / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (length - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(inputs: InputCounts, extent: Option<(ExtentUnit, u64, u64, bool)>, expected: &str) {
        let extent = extent.map(|(unit, done, total, shown)| Extent { unit, done, total, shown });
        assert_eq!(interrupted(&Cancellation { inputs, extent }), expected);
    }

    #[test]
    fn sentences_say_what_was_done() {
        use ExtentUnit as Of;
        let none = InputCounts::default();
        let typed = InputCounts { characters: 212, ..none };
        check(none, None, "cancelled before anything was sent");
        check(typed, Some((Of::Characters, 212, 1_500, true)), "cancelled: typed 212 of 1,500 characters");
        check(
            InputCounts { chords: 2, ..typed },
            Some((Of::Characters, 212, 1_500, true)),
            "cancelled: typed 212 of 1,500 characters, besides 2 chords",
        );
        check(typed, Some((Of::Cells, 3, 10, true)), "cancelled: 3 of 10 cells read as written");
        check(
            InputCounts { clicks: 1, chords: 2, ..none },
            None,
            "cancelled after 1 click and 2 chords; the effect was not waited for",
        );
        check(
            InputCounts { drags_taken_back: 1, ..none },
            None,
            "cancelled after 1 drag that was taken back; the effect was not waited for",
        );
    }

    #[test]
    fn thousands_stand_apart() {
        let check = |number: u64, text: &str| assert_eq!(grouped(number), text);
        check(0, "0");
        check(999, "999");
        check(1_000, "1,000");
        check(1_234_567, "1,234,567");
    }
}
