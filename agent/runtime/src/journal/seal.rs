//! Seals journal lines, so that modifications are detected.
//!
//! Each line starts with the hash of the line before it and ends with two fields over its own preceding bytes:
//!
//! - `seal`: the HMAC with the key of this machine, and which key that is. Nobody else can make it.
//! - `sha256`: the hash. Everybody can check it, and make it.

use super::{
    key::{KEY_ID_HEX, Purpose, SealKey},
    store::sha256_hex,
};

const SEAL_HEAD: &[u8] = b",\"seal\":\"";
const HASH_HEAD: &[u8] = b",\"sha256\":\"";
const TAIL: &[u8] = b"\"";
const HEX: usize = 64;

/// The result of checking the hash of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineHash {
    /// The hash matches.
    Whole,
    /// The line was modified.
    Broken,
    /// The line has no hash.
    Missing,
}

/// The result of checking the seal of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineSeal {
    /// The line was sealed like this with the key.
    Held(String),
    /// The line claims to be sealed with the key, and is not.
    Broken,
    /// The line names another key.
    Foreign(String),
    /// The line has no seal.
    Missing,
}

/// Seals a line, given as a JSON object. Returns it with the seal.
pub(super) fn seal(mut text: Vec<u8>, key: &SealKey) -> (Vec<u8>, String) {
    let seal = key.seal(Purpose::Line, &text);
    extend(&mut text, SEAL_HEAD, &format!("{}:{seal}", key.id()));
    let hash = sha256_hex(&text);
    extend(&mut text, HASH_HEAD, &hash);
    (text, seal)
}

/// Adds a field to the end of a JSON object.
fn extend(text: &mut Vec<u8>, head: &[u8], value: &str) {
    text.pop();
    text.extend_from_slice(head);
    text.extend_from_slice(value.as_bytes());
    text.extend_from_slice(b"\"}");
}

/// Checks the hash and the seal of a line; without a `key`, every seal is foreign.
pub(super) fn check(text: &[u8], key: Option<&SealKey>) -> (LineHash, LineSeal) {
    let Some((body, hash)) = split(text, HASH_HEAD, HEX) else {
        return (LineHash::Missing, LineSeal::Missing);
    };
    let hash = if sha256_hex(&body).as_bytes() == hash { LineHash::Whole } else { LineHash::Broken };
    (hash, check_seal(&body, key))
}

fn check_seal(text: &[u8], key: Option<&SealKey>) -> LineSeal {
    let Some((body, value)) = split(text, SEAL_HEAD, KEY_ID_HEX + 1 + HEX) else { return LineSeal::Missing };
    let (id, seal) = value.split_at(KEY_ID_HEX);
    let seal = seal.get(1..).unwrap_or_default();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match key {
        Some(key) if key.id().as_bytes() == id => {
            if key.holds(Purpose::Line, &body, seal) {
                LineSeal::Held(text(seal))
            } else {
                LineSeal::Broken
            }
        }
        Some(_) | None => LineSeal::Foreign(text(id)),
    }
}

/// Takes the last field off a JSON object: the object without it, and its value of a fixed length.
fn split<'a>(text: &'a [u8], head: &[u8], length: usize) -> Option<(Vec<u8>, &'a [u8])> {
    let inner = text.strip_suffix(b"}")?.strip_suffix(TAIL)?;
    let (rest, value) = inner.split_at_checked(inner.len().checked_sub(length)?)?;
    let mut body = rest.strip_suffix(head)?.to_vec();
    body.push(b'}');
    Some((body, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> SealKey {
        SealKey::of(&[byte; 32]).unwrap()
    }

    #[test]
    fn changing_any_byte_breaks_hash_or_seal() {
        let (line, made) = seal(br#"{"seq":1,"prev":"","record":{"kind":"event"}}"#.to_vec(), &key(1));
        assert_eq!(check(&line, Some(&key(1))), (LineHash::Whole, LineSeal::Held(made)));
        for at in 0..line.len() {
            let mut changed = line.clone();
            changed[at] ^= 1;
            assert_ne!(check(&changed, None).0, LineHash::Whole, "byte {at}");
        }
        assert_eq!(check(br#"{"seq":1}"#, Some(&key(1))), (LineHash::Missing, LineSeal::Missing));
        assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok());
    }

    #[test]
    fn hashes_without_the_key_are_no_seal() {
        let (line, made) = seal(br#"{"seq":1,"text":"no"}"#.to_vec(), &key(1));
        let text = String::from_utf8(line.clone()).unwrap().replace("no", "ok");
        let (body, _) = split(text.as_bytes(), HASH_HEAD, HEX).unwrap();
        let mut forged = body.clone();
        extend(&mut forged, HASH_HEAD, &sha256_hex(&body));
        assert_eq!(check(&forged, Some(&key(1))), (LineHash::Whole, LineSeal::Broken));
        let foreign = LineSeal::Foreign(key(1).id().to_owned());
        assert_eq!(check(&line, Some(&key(2))), (LineHash::Whole, foreign.clone()));
        assert_eq!(check(&line, None), (LineHash::Whole, foreign), "{made}");
    }
}
