//! Tokens: made, and compared.

use std::io;

/// A token that nobody can guess: this many random bytes, as hexadecimal digits.
///
/// # Errors
/// The system has no random numbers.
pub(crate) fn new_token<const BYTES: usize>() -> io::Result<String> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares in a time that does not tell where texts differ.
pub(crate) fn is_same(given: &[u8], expected: &[u8]) -> bool {
    let differs = given.iter().zip(expected).fold(0_u8, |differs, (one, two)| differs | (one ^ two));
    given.len() == expected.len() && differs == 0
}
