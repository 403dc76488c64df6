//! The simulated device.

/// The keys of the keypad.
pub const KEYS: &str = "0123456789*#";
/// A key that never goes down.
pub const JAMMED: char = '7';

/// A robot arm with a finger over a keypad with a display.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arm {
    connected: bool,
    homed: bool,
    display: String,
}

/// The verified result of a movement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// It took effect, as read back.
    Seen(String),
    /// It was performed without effect.
    NotSeen(String),
    /// It was not performed.
    Refused(String),
}

impl Arm {
    /// The status of arm and display.
    pub fn status(&self) -> String {
        let state = match (self.connected, self.homed) {
            (false, _) => "not connected",
            (true, false) => "connected, not homed",
            (true, true) => "ready",
        };
        format!("The arm is {state}. The display shows “{}”.", self.display)
    }

    /// The content of the display.
    pub fn display(&self) -> &str {
        &self.display
    }

    /// Switches the arm on.
    pub fn connect(&mut self) -> Done {
        self.connected = true;
        Done::Seen(self.status())
    }

    /// Moves to the reference position.
    pub fn home(&mut self) -> Done {
        if !self.connected {
            return Done::Refused("the arm is not connected".to_owned());
        }
        self.homed = true;
        Done::Seen(self.status())
    }

    /// Presses a key and reads the display.
    pub fn press(&mut self, key: &str) -> Done {
        let mut letters = key.chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else {
            return Done::Refused(format!("`{key}` is not a single key; the keys are {KEYS}"));
        };
        match () {
            () if !KEYS.contains(letter) => {
                Done::Refused(format!("unknown key `{letter}`; the keys are {KEYS}"))
            }
            () if !self.homed => {
                Done::Refused("the position of the arm is unknown: home it first".to_owned())
            }
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
