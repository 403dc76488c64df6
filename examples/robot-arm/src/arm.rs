//! The device: what it can do, and what truly came of it.

/// The keys below the arm.
pub const KEYS: &str = "0123456789*#";
/// The key that does not go down, whatever presses it.
pub const JAMMED: char = '7';

/// A robot arm with a finger over a keypad that shows what was typed on it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arm {
    connected: bool,
    homed: bool,
    display: String,
}

/// What came of a movement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// It was read back: this is how things are now.
    Seen(String),
    /// It was carried out, and nothing changed.
    NotSeen(String),
    /// It was not carried out.
    Refused(String),
}

impl Arm {
    /// How things are, in words.
    pub fn status(&self) -> String {
        let state = match (self.connected, self.homed) {
            (false, _) => "not connected",
            (true, false) => "connected, not homed",
            (true, true) => "ready",
        };
        format!("The arm is {state}. The display shows “{}”.", self.display)
    }

    /// What the display shows.
    pub fn display(&self) -> &str {
        &self.display
    }

    /// Switches the arm on.
    pub fn connect(&mut self) -> Done {
        self.connected = true;
        Done::Seen(self.status())
    }

    /// Moves to the place that all others are measured from.
    pub fn home(&mut self) -> Done {
        if !self.connected {
            return Done::Refused("the arm is not connected".to_owned());
        }
        self.homed = true;
        Done::Seen(self.status())
    }

    /// Presses a key, and reads the display.
    pub fn press(&mut self, key: &str) -> Done {
        let mut letters = key.chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else {
            return Done::Refused(format!("`{key}` is not one key; the keys are {KEYS}"));
        };
        match () {
            () if !KEYS.contains(letter) => {
                Done::Refused(format!("there is no key `{letter}`; the keys are {KEYS}"))
            }
            () if !self.homed => Done::Refused("the arm does not know where it is: home it first".to_owned()),
            () if letter == JAMMED => {
                Done::NotSeen(format!("pressed `{letter}`; the display still shows “{}”", self.display))
            }
            () => {
                self.display.push(letter);
                Done::Seen(format!("pressed `{letter}`; the display shows “{}”", self.display))
            }
        }
    }
}
