//! The inputs of a person, as a page sends them.

use serde::{Deserialize, Serialize};

/// An input of a person. As JSON: `{"t":"move","x":1,"y":2}`, `{"t":"down","button":1,"x":1,"y":2}`,
/// `{"t":"up","button":1,"x":1,"y":2}`, `{"t":"key","keysym":65307,"down":true}`, `{"t":"text","text":"…"}`,
/// `{"t":"release"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case", deny_unknown_fields)]
pub enum InputMessage {
    /// The pointer moves to a pixel of the screen.
    Move {
        /// From the left edge.
        x: i32,
        /// From the top edge.
        y: i32,
    },
    /// A button goes down at a pixel of the screen.
    Down {
        /// 1 left, 2 middle, 3 right; 4 to 7 are the wheel: up, down, left, right.
        button: u8,
        /// From the left edge.
        x: i32,
        /// From the top edge.
        y: i32,
    },
    /// A button that is held goes up. Outside of the screen it goes up where the pointer is.
    Up {
        /// As in [`Self::Down`].
        button: u8,
        /// From the left edge.
        x: i32,
        /// From the top edge.
        y: i32,
    },
    /// A key goes down or up.
    Key {
        /// The X symbol that the key stands for with the modifiers that the person holds, such as 0x41 for an `A` with Shift.
        /// It is produced whatever the keyboard of the desktop looks like. Shift, Ctrl and others are keys of their own; Caps Lock
        /// and Num Lock do nothing, because symbols already go by them. Symbols without a key get a spare one.
        keysym: u32,
        /// `true` when it goes down. A key that is held repeats by itself: further ones without an `up` do nothing.
        down: bool,
    },
    /// A text is typed, such as one that was pasted: at most 10000 characters, any of Unicode, line ends as Return. What is held
    /// is released before.
    Text {
        /// The text.
        text: String,
    },
    /// Everything that is held is released, and a text that is being typed ends.
    Release,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_documented() {
        let read = |text: &str| serde_json::from_str::<InputMessage>(text);
        for (text, expected) in [
            (r#"{"t":"move","x":1,"y":2}"#, InputMessage::Move { x: 1, y: 2 }),
            (r#"{"t":"down","button":3,"x":1,"y":2}"#, InputMessage::Down { button: 3, x: 1, y: 2 }),
            (r#"{"t":"up","button":3,"x":-1,"y":2}"#, InputMessage::Up { button: 3, x: -1, y: 2 }),
            (r#"{"t":"key","keysym":65307,"down":true}"#, InputMessage::Key { keysym: 0xff1b, down: true }),
            (r#"{"t":"text","text":"é"}"#, InputMessage::Text { text: "é".to_owned() }),
            (r#"{"t":"release"}"#, InputMessage::Release),
        ] {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        for wrong in [
            r#"{"t":"move","x":1}"#,
            r#"{"t":"move","x":1,"y":2,"z":3}"#,
            r#"{"t":"key","keysym":-1,"down":true}"#,
            r#"{"t":"down","button":256,"x":0,"y":0}"#,
            r#"{"t":"reboot"}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
