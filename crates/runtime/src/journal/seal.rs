//! Seals journal lines, so that modifications are detected.
//!
//! Each line ends with the hash of its preceding bytes, which detects changes within the line, and starts with the hash
//! of the previous line, which detects removed, inserted and replaced lines.

use super::store::sha256_hex;

const HEAD: &[u8] = b",\"sha256\":\"";
const TAIL: &[u8] = b"\"}";
const HEX: usize = 64;

/// The result of checking a seal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seal {
    /// The line is intact.
    Whole,
    /// The line was modified.
    Broken,
    /// The line has no seal (format version 1).
    Missing,
}

/// Seals a line, given as a JSON object.
pub(super) fn seal(mut text: Vec<u8>) -> Vec<u8> {
    let hash = sha256_hex(&text);
    text.pop();
    text.extend_from_slice(HEAD);
    text.extend_from_slice(hash.as_bytes());
    text.extend_from_slice(TAIL);
    text
}

/// Checks the seal of a line.
pub(super) fn check(text: &[u8]) -> Seal {
    let Some(at) = text.len().checked_sub(HEAD.len() + HEX + TAIL.len()) else { return Seal::Missing };
    let (body, end) = text.split_at(at);
    let Some(hash) = end.strip_prefix(HEAD).and_then(|rest| rest.strip_suffix(TAIL)) else {
        return Seal::Missing;
    };
    let mut whole = body.to_vec();
    whole.push(b'}');
    if sha256_hex(&whole).as_bytes() == hash { Seal::Whole } else { Seal::Broken }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changing_any_byte_breaks_the_seal() {
        let line = seal(br#"{"seq":1,"prev":"","record":{"kind":"event"}}"#.to_vec());
        assert_eq!(check(&line), Seal::Whole);
        for at in 0..line.len() {
            let mut changed = line.clone();
            changed[at] ^= 1;
            assert_ne!(check(&changed), Seal::Whole, "byte {at}");
        }
        assert_eq!(check(br#"{"seq":1}"#), Seal::Missing);
        assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok());
    }
}
