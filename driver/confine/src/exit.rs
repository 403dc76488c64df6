//! Exits of confined programs.

/// The exit code for a program that was not started; the first line of stderr says why.
pub const NOT_STARTED: u8 = 125;
/// The exit code for a program that was ended because it exceeded a limit; the last line of stderr says which one.
pub const OVER_LIMIT: u8 = 123;

/// Exit of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfinedExit {
    /// Its exit code, 128 and the number of the signal that ended it, or [`OVER_LIMIT`].
    pub code: u8,
    /// The message for stderr if it was ended because it exceeded a limit; it begins with the mark of the confinement.
    pub limit: Option<String>,
}
