//! File types by content: the file `magic` of the shared MIME-info database.

/// The first bytes of the file.
const HEADER: &[u8] = b"MIME-Magic\0\n";
/// The most rules of one file that are read.
const RULES_MAX: usize = 100_000;

/// The content patterns of a type.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Magic {
    /// Which one counts if several match: 0 to 100.
    pub(super) priority: u32,
    /// The type.
    pub(super) mime: String,
    /// In the order of the file: each one belongs to the one before it with a smaller depth.
    rules: Vec<MagicRule>,
}

/// Bytes at a place.
#[derive(Debug, PartialEq, Eq)]
struct MagicRule {
    depth: usize,
    offset: usize,
    /// Number of positions to try, from the offset on.
    range: usize,
    value: Vec<u8>,
    mask: Option<Vec<u8>>,
}

impl Magic {
    /// Reads all sections of a file; what is not valid ends it.
    pub(super) fn parse_all(bytes: &[u8]) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        let Some(mut rest) = bytes.strip_prefix(HEADER) else { return found };
        for _ in 0..RULES_MAX {
            if rest.first() == Some(&b'[') {
                let Some((section, after)) = Self::parse_section(rest) else { return found };
                found.push(section);
                rest = after;
                continue;
            }
            let (Some((rule, after)), Some(section)) = (MagicRule::parse(rest), found.last_mut()) else {
                return found;
            };
            section.rules.extend(rule);
            rest = after;
        }
        found
    }

    /// Reads `[50:application/pdf]` and its line end.
    fn parse_section(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let line = std::str::from_utf8(bytes.get(1..end)?).ok()?;
        let (priority, mime) = line.strip_suffix(']')?.split_once(':')?;
        let section = Self { priority: priority.parse().ok()?, mime: mime.to_owned(), rules: Vec::new() };
        Some((section, bytes.get(end + 1..)?))
    }

    /// Returns `true` if a file that begins with `head` has this type: a rule with all of those that it belongs to.
    pub(super) fn matches(&self, head: &[u8]) -> bool {
        let mut holds: Vec<bool> = Vec::new();
        for (index, rule) in self.rules.iter().enumerate() {
            holds.truncate(rule.depth);
            let outer = holds.len() == rule.depth && holds.last().copied().unwrap_or(true);
            let own = outer && rule.matches(head);
            let is_last = self.rules.get(index + 1).is_none_or(|next| next.depth <= rule.depth);
            if own && is_last {
                return true;
            }
            if holds.len() == rule.depth {
                holds.push(own);
            }
        }
        false
    }
}

impl MagicRule {
    /// Reads `1>4=` with a length of two bytes and the value, then `&` with a mask, `~` with a word size, `+` with a range, and the
    /// line end. A line with anything else is skipped, as the specification asks for.
    fn parse(bytes: &[u8]) -> Option<(Option<Self>, &[u8])> {
        let (depth, rest) = number(bytes);
        let (offset, rest) = number(rest.strip_prefix(b">")?);
        let rest = rest.strip_prefix(b"=")?;
        let length = usize::from(u16::from_be_bytes([*rest.first()?, *rest.get(1)?]));
        let mut value = rest.get(2..2 + length)?.to_vec();
        let mut rest = rest.get(2 + length..)?;
        let (mut mask, mut word, mut range) = (None, 1, 1);
        loop {
            let (first, after) = rest.split_first()?;
            match first {
                b'&' => {
                    mask = Some(after.get(..length)?.to_vec());
                    rest = after.get(length..)?;
                }
                b'~' => (word, rest) = number_or(after, 1),
                b'+' => (range, rest) = number_or(after, 1),
                b'\n' => {
                    // Words are stored with the highest byte first; files have them as this machine does.
                    if cfg!(target_endian = "little") && word > 1 {
                        value.chunks_mut(word).for_each(<[u8]>::reverse);
                        mask.iter_mut()
                            .flat_map(|mask: &mut Vec<u8>| mask.chunks_mut(word))
                            .for_each(<[u8]>::reverse);
                    }
                    let rule =
                        Self { depth: depth.unwrap_or(0), offset: offset?, range: range.max(1), value, mask };
                    return Some((Some(rule), after));
                }
                _ => {
                    let end = rest.iter().position(|byte| *byte == b'\n')?;
                    return Some((None, rest.get(end + 1..)?));
                }
            }
        }
    }

    fn matches(&self, head: &[u8]) -> bool {
        (self.offset..self.offset.saturating_add(self.range).min(head.len())).any(|at| {
            let part = at.checked_add(self.value.len()).and_then(|end| head.get(at..end));
            part.is_some_and(|part| match &self.mask {
                None => part == self.value,
                Some(mask) => part
                    .iter()
                    .zip(mask)
                    .zip(&self.value)
                    .all(|((byte, mask), value)| byte & mask == value & mask),
            })
        })
    }
}

/// The decimal number at the beginning, if there is one, and what follows it.
fn number(bytes: &[u8]) -> (Option<usize>, &[u8]) {
    let end = bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len());
    let (digits, rest) = bytes.split_at(end);
    (std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()), rest)
}

fn number_or(bytes: &[u8], otherwise: usize) -> (usize, &[u8]) {
    let (found, rest) = number(bytes);
    (found.unwrap_or(otherwise), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_match_with_those_that_they_belong_to() {
        let mut file = HEADER.to_vec();
        file.extend(b"[50:application/pdf]\n>0=\0\x04%PDF\n");
        file.extend(b"[60:image/x-two]\n>0=\0\x02AB\n1>4=\0\x01C+3\n1>9=\0\x01\x10&\xf0\n");
        file.extend(b"[40:application/x-word]\n>0=\0\x02\x12\x34~2\n>0=\0\x01Z?new\n");
        let all = Magic::parse_all(&file);
        let check = |mime: &str, head: &[u8], expected: bool| {
            let magic = all.iter().find(|magic| magic.mime == mime).unwrap();
            assert_eq!(magic.matches(head), expected, "{mime} {head:?}");
        };
        check("application/pdf", b"%PDF-1.7", true);
        check("application/pdf", b" %PDF", false);
        check("application/pdf", b"%P", false);
        check("image/x-two", b"AB", false);
        check("image/x-two", b"AB..C", true);
        check("image/x-two", b"AB....C", true);
        check("image/x-two", b"AB.....C", false);
        check("image/x-two", b"XX..C", false);
        check("image/x-two", b"AB.......\x1f", true);
        let word = 0x1234_u16.to_ne_bytes();
        check("application/x-word", &word, true);
        check("application/x-word", b"Z", false);
    }

    #[test]
    fn what_is_not_valid_ends_a_file() {
        assert_eq!(Magic::parse_all(b"no magic"), []);
        let mut cut = HEADER.to_vec();
        cut.extend(b"[50:application/pdf]\n>0=\0\x04%P");
        let all = Magic::parse_all(&cut);
        assert_eq!((all.len(), all[0].matches(b"%PDF")), (1, false));
    }
}
