//! Number of inputs to send before waiting for the application.
//!
//! Sent input cannot be taken back. So an application never has more pending input than it handles in a
//! moment: a cancelled text ends within that time, as the application has it.

use std::time::Duration;

/// The first piece: how fast the application is is not known yet.
const FIRST: usize = 4;
/// The largest piece.
const LARGEST: usize = 16;
/// A piece that is handled sooner is followed by a larger one.
const SOON: Duration = Duration::from_millis(12);
/// A piece that is handled later is followed by a smaller one.
const LATE: Duration = Duration::from_millis(25);

/// The size of the next piece of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextChunkSize(usize);

impl Default for TextChunkSize {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl TextChunkSize {
    /// Returns the number of symbols in the next piece.
    pub(crate) const fn symbols(self) -> usize {
        self.0
    }

    /// Adapts to how long the application took for the last piece.
    pub(crate) fn took(&mut self, time: Duration) {
        if time < SOON {
            self.0 = (self.0 * 2).min(LARGEST);
        } else if time > LATE {
            self.0 = (self.0 / 2).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_the_application() {
        let mut pace = TextChunkSize::default();
        let mut after = |ms: u64| {
            pace.took(Duration::from_millis(ms));
            pace.symbols()
        };
        assert_eq!([after(2), after(2), after(2)], [8, 16, 16]);
        assert_eq!([after(20), after(60), after(300)], [16, 8, 4]);
        assert_eq!([after(60), after(60), after(60), after(1)], [2, 1, 1, 2]);
    }
}
