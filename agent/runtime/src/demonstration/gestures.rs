//! Inputs to gestures: clicks, drags, texts and keys.

use std::time::{Duration, Instant};

use deskhand_desktop::{
    PersonInput, TimedPersonInput,
    keys::{ChordKey, KeyChord, KeyModifier, NamedKey},
};
use deskhand_ui::geometry::{Point, Screen};

/// Maximum time between two clicks of a double click.
const DOUBLE_CLICK: Duration = Duration::from_millis(500);
/// Maximum pointer movement in a click, in pixels of each axis.
const CLICK_SIDE: i32 = 6;

/// Something that a person did as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PersonGesture {
    /// A click.
    Click {
        /// The button.
        button: u32,
        /// Position of the click.
        at: Point<Screen>,
        /// Number of clicks.
        count: u32,
        /// The modifiers that were held.
        held: Vec<KeyModifier>,
    },
    /// A drag with the left button.
    Drag {
        /// Start of the drag.
        from: Point<Screen>,
        /// End of the drag.
        to: Point<Screen>,
    },
    /// A text, as it stands after corrections.
    Text(String),
    /// Keys that are no text.
    Keys(Vec<KeyChord>),
}

/// A gesture and when it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TimedGesture {
    pub(super) from: Instant,
    pub(super) to: Instant,
    pub(super) gesture: PersonGesture,
}

/// The gestures that inputs make up; none goes on after a pause. `divides` says whether something else had the focus at the second of two
/// times.
pub(super) fn gestures(
    inputs: &[TimedPersonInput],
    divides: &dyn Fn(Instant, Instant) -> bool,
) -> Vec<TimedGesture> {
    let parts = inputs.split(|watched| watched.input == PersonInput::Pause);
    parts.flat_map(|part| gestures_of(part, divides)).collect()
}

fn gestures_of(inputs: &[TimedPersonInput], divides: &dyn Fn(Instant, Instant) -> bool) -> Vec<TimedGesture> {
    let mut made: Vec<TimedGesture> = Vec::new();
    let mut pressed: Option<(Instant, u32, Point<Screen>, Vec<KeyModifier>)> = None;
    for TimedPersonInput { at, input } in inputs {
        match input {
            PersonInput::Pressed { button, at: place, held } => {
                pressed = Some((*at, *button, *place, held.clone()));
            }
            PersonInput::Released { button, at: place } => {
                if let Some((from, _, begun, held)) = pressed.take_if(|(_, known, ..)| known == button) {
                    release(&mut made, (from, *at), *button, (begun, *place), held);
                }
            }
            PersonInput::Key { chord } => key(&mut made, *at, chord, divides),
            PersonInput::Pause => {}
        }
    }
    made
}

fn release(
    made: &mut Vec<TimedGesture>,
    (from, to): (Instant, Instant),
    button: u32,
    (begun, ended): (Point<Screen>, Point<Screen>),
    held: Vec<KeyModifier>,
) {
    if !is_near(begun, ended) {
        if button == 1 {
            made.push(TimedGesture { from, to, gesture: PersonGesture::Drag { from: begun, to: ended } });
        }
        return;
    }
    if let Some(TimedGesture {
        from: first,
        to: last,
        gesture: PersonGesture::Click { button: known, at, count, .. },
    }) = made.last_mut()
        && *known == button
        && is_near(*at, begun)
        && *count < 3
        && from.saturating_duration_since(*first) < DOUBLE_CLICK * *count
    {
        *count += 1;
        *last = to;
        return;
    }
    made.push(TimedGesture { from, to, gesture: PersonGesture::Click { button, at: begun, count: 1, held } });
}

fn is_near(one: Point<Screen>, other: Point<Screen>) -> bool {
    (one.x - other.x).abs() <= CLICK_SIDE && (one.y - other.y).abs() <= CLICK_SIDE
}

fn key(
    made: &mut Vec<TimedGesture>,
    at: Instant,
    chord: &KeyChord,
    divides: &dyn Fn(Instant, Instant) -> bool,
) {
    let typed = typed(chord);
    let last = made.last_mut().filter(|last| !divides(last.to, at));
    match (last, typed) {
        (Some(TimedGesture { to, gesture: PersonGesture::Text(text), .. }), Some(character)) => {
            text.push(character);
            *to = at;
        }
        // A correction of what was just typed.
        (Some(TimedGesture { to, gesture: PersonGesture::Text(text), .. }), None)
            if *chord == KeyChord::from(NamedKey::BackSpace) && !text.is_empty() =>
        {
            text.pop();
            *to = at;
        }
        (Some(TimedGesture { to, gesture: PersonGesture::Keys(chords), .. }), None) => {
            chords.push(chord.clone());
            *to = at;
        }
        (_, Some(character)) => {
            made.push(TimedGesture { from: at, to: at, gesture: PersonGesture::Text(character.to_string()) });
        }
        (_, None) => {
            made.push(TimedGesture { from: at, to: at, gesture: PersonGesture::Keys(vec![chord.clone()]) });
        }
    }
}

/// The character that a chord types.
fn typed(chord: &KeyChord) -> Option<char> {
    if !chord.modifiers.is_empty() {
        return None;
    }
    match chord.key {
        ChordKey::Char(character) => Some(character),
        ChordKey::Named(NamedKey::Space) => Some(' '),
        ChordKey::Named(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inputs with their times in milliseconds.
    fn watched(inputs: &[(u64, PersonInput)]) -> (Instant, Vec<TimedPersonInput>) {
        let begun = Instant::now();
        let at = |(ms, input): &(u64, PersonInput)| TimedPersonInput {
            at: begun + Duration::from_millis(*ms),
            input: input.clone(),
        };
        (begun, inputs.iter().map(at).collect())
    }

    fn press(x: i32) -> PersonInput {
        PersonInput::Pressed { button: 1, at: Point::new(x, 10), held: Vec::new() }
    }

    fn release(x: i32) -> PersonInput {
        PersonInput::Released { button: 1, at: Point::new(x, 10) }
    }

    fn key(chord: &str) -> PersonInput {
        PersonInput::Key { chord: chord.parse().unwrap() }
    }

    fn check(inputs: &[(u64, PersonInput)], expected: &[PersonGesture]) {
        let (_, inputs) = watched(inputs);
        let found: Vec<PersonGesture> =
            gestures(&inputs, &|_, _| false).into_iter().map(|made| made.gesture).collect();
        assert_eq!(found, expected);
    }

    fn click(x: i32, count: u32) -> PersonGesture {
        PersonGesture::Click { button: 1, at: Point::new(x, 10), count, held: Vec::new() }
    }

    #[test]
    fn clicks_are_told_from_drags_and_double_clicks() {
        check(&[(0, press(10)), (50, release(12))], &[click(10, 1)]);
        let twice = [(0, press(10)), (50, release(10)), (200, press(11)), (250, release(11))];
        check(&twice, &[click(10, 2)]);
        let slowly = [(0, press(10)), (50, release(10)), (900, press(11)), (950, release(11))];
        check(&slowly, &[click(10, 1), click(11, 1)]);
        check(
            &[(0, press(10)), (300, release(90))],
            &[PersonGesture::Drag { from: Point::new(10, 10), to: Point::new(90, 10) }],
        );
        check(&[(0, release(10)), (10, press(10))], &[]);
    }

    #[test]
    fn keys_become_texts_and_chords() {
        let keys = ["H", "e", "y", "BackSpace", "Space", "ctrl+s", "Return", "x"];
        let inputs: Vec<(u64, PersonInput)> = (0..).step_by(30).zip(keys.map(key)).collect();
        let chords = ["ctrl+s", "Return"].map(|chord| chord.parse().unwrap()).to_vec();
        check(
            &inputs,
            &[
                PersonGesture::Text("He ".to_owned()),
                PersonGesture::Keys(chords),
                PersonGesture::Text("x".to_owned()),
            ],
        );
    }

    #[test]
    fn a_text_ends_where_the_focus_moves() {
        let (begun, inputs) = watched(&[(0, key("a")), (100, key("b")), (200, key("c"))]);
        let moved = begun + Duration::from_millis(150);
        let made = gestures(&inputs, &|one, other| one < moved && other >= moved);
        let texts: Vec<PersonGesture> = made.into_iter().map(|made| made.gesture).collect();
        assert_eq!(texts, [PersonGesture::Text("ab".to_owned()), PersonGesture::Text("c".to_owned())]);
    }
}
