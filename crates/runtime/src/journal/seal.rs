//! What makes a line of a journal tell whether it is as it was written.
//!
//! Each line ends with the hash of all that stands before it, so that a changed byte is found in its own line; and
//! it begins with the hash of the whole line before it, so that no line can be taken out, put in or replaced alone.

use super::store::sha256_hex;

const HEAD: &[u8] = b",\"sha256\":\"";
const TAIL: &[u8] = b"\"}";
const HEX: usize = 64;

/// What the seal of a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seal {
    /// The line is as it was written.
    Whole,
    /// The line was changed.
    Broken,
    /// There is none, as in journals of version 1.
    Missing,
}

/// Seals the JSON object of a line.
pub(super) fn seal(mut text: Vec<u8>) -> Vec<u8> {
    let hash = sha256_hex(&text);
    text.pop();
    text.extend_from_slice(HEAD);
    text.extend_from_slice(hash.as_bytes());
    text.extend_from_slice(TAIL);
    text
}

/// Looks at the seal of a line.
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
    fn no_byte_of_a_sealed_line_can_be_changed_unseen() {
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
