//! Parses the windows, agents and elements that a prompt lists, with their ids.
//!
//! Core writes them as `- [w2] window "Title" of Application (active)`, `- [a1] agent "Name" — description` and, indented,
//! `[e17] push button "Finish" (focused)`. Elements of one role may share a line, `[e1] menu "File" | [e2] "Edit"`;
//! removed ones are listed as `gone: e3, e5 to e9`.

use deskhand_machine::model::{MessagePart, ModelRequest, Speaker};

use super::placeholder::Placeholder;

/// A listed window, agent or element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PromptListEntry {
    /// `w2`
    pub(super) id: String,
    /// `window`, or the role of an element.
    pub(super) kind: String,
    pub(super) name: String,
    /// The text after `of`: the application of a window.
    pub(super) of: String,
    /// The line, trimmed.
    pub(super) line: String,
}

/// Why a placeholder does not resolve to one id.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UnresolvedPlaceholder<'list> {
    /// No match; the candidates of the same kind.
    Missing(Vec<&'list PromptListEntry>),
    /// Several matches.
    Ambiguous(Vec<&'list PromptListEntry>),
    /// Fewer matches than `nth`.
    TooFew(Vec<&'list PromptListEntry>),
}

/// All text of a prompt.
pub(super) fn whole_text(request: &ModelRequest) -> String {
    join(request, |_| true)
}

/// The listed things. System messages are skipped, since they may contain examples; the last line of an id wins.
pub(super) fn listed(request: &ModelRequest) -> Vec<PromptListEntry> {
    let mut things: Vec<PromptListEntry> = Vec::new();
    for line in join(request, |speaker| speaker == Speaker::User).lines() {
        if let Some(gone) = line.trim().strip_prefix("gone: ") {
            things.retain(|thing| !is_among(&thing.id, gone));
            continue;
        }
        let mut kind = String::new();
        for item in items(line) {
            let Some(mut thing) = parse_line(item) else { continue };
            if thing.kind.is_empty() {
                thing.kind.clone_from(&kind);
            }
            kind.clone_from(&thing.kind);
            match things.iter_mut().find(|known| known.id == thing.id) {
                Some(known) => *known = thing,
                None => things.push(thing),
            }
        }
    }
    things
}

/// Splits a line at ` | ` outside of names.
fn items(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b'|' if !quoted && line.get(at..).is_some_and(|rest| rest.starts_with("| [e")) => {
                parts.extend(line.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(line.get(start..));
    parts
}

/// Returns `true` if a list such as `e3, e5 to e9` contains an id.
fn is_among(id: &str, list: &str) -> bool {
    let number = |id: &str| id.trim().strip_prefix('e').and_then(|digits| digits.parse::<u32>().ok());
    let Some(wanted) = number(id) else { return false };
    list.split(", ").any(|range| {
        let (first, last) = range.split_once(" to ").unwrap_or((range, range));
        number(first).zip(number(last)).is_some_and(|(first, last)| (first..=last).contains(&wanted))
    })
}

fn join(request: &ModelRequest, wanted: impl Fn(Speaker) -> bool) -> String {
    let mut text = String::new();
    for message in request.messages.iter().filter(|message| wanted(message.speaker)) {
        for part in &message.parts {
            match part {
                MessagePart::Text { text: more } => {
                    text.push_str(more);
                    text.push('\n');
                }
                MessagePart::Picture { .. } => {}
            }
        }
    }
    text
}

/// Reads `[id] kind "name" …`.
fn parse_line(line: &str) -> Option<PromptListEntry> {
    let line = line.trim();
    let (id, rest) =
        line.strip_prefix("- ").unwrap_or(line).trim_start().strip_prefix('[')?.split_once(']')?;
    let digits = id.strip_prefix(['w', 'e', 'a'])?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let kind_end = rest.find(['"', '(', '=', ':', '—', ',']).unwrap_or(rest.len());
    let (kind, rest) = rest.split_at(kind_end);
    // A nameless slider: `[e4] slider value 3 of 0 to 10`.
    let kind = kind.split(" value ").next().unwrap_or(kind).trim();
    // A nameless control shows its container or label: `[e5] toggle button in "Styles"`, `[e6] text beside "Host:"`.
    let kind = [" in", " beside"].iter().find_map(|word| kind.strip_suffix(word)).unwrap_or(kind);
    let kind = if ["in", "beside"].contains(&kind) { "" } else { kind };
    let (name, after) = rest.strip_prefix('"').map_or_else(|| (String::new(), rest), quoted);
    let of = after.trim_start().strip_prefix("of ").map_or("", |of| of.split(" (").next().unwrap_or(of));
    Some(PromptListEntry {
        id: id.to_owned(),
        kind: kind.trim().to_owned(),
        name,
        of: of.trim().to_owned(),
        line: line.to_owned(),
    })
}

/// Reads a name up to its closing quote; returns the name and the rest.
fn quoted(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => name.extend(characters.next().map(|(_, escaped)| escaped)),
            '"' => return (name, text.get(at + 1..).unwrap_or_default()),
            _ => name.push(character),
        }
    }
    (name, "")
}

/// Resolves an id placeholder; `None` for other placeholders.
pub(super) fn resolve<'list>(
    placeholder: &Placeholder,
    things: &'list [PromptListEntry],
) -> Option<Result<&'list PromptListEntry, UnresolvedPlaceholder<'list>>> {
    let (letter, role, name, nth) = match placeholder {
        Placeholder::Window { name, nth } => ('w', None, Some(name), *nth),
        Placeholder::Agent { name, nth } => ('a', None, Some(name), *nth),
        Placeholder::Element { role, name, nth } => ('e', Some(role), name.as_ref(), *nth),
        Placeholder::Variable(_) | Placeholder::Capture { .. } => return None,
    };
    let of_kind: Vec<&PromptListEntry> = things
        .iter()
        .filter(|thing| {
            thing.id.starts_with(letter) && role.is_none_or(|role| thing.kind.eq_ignore_ascii_case(role))
        })
        .collect();
    let found = name.map_or_else(|| of_kind.clone(), |name| by_name(&of_kind, name));
    Some(match (found.as_slice(), nth) {
        ([], _) if of_kind.is_empty() => Err(UnresolvedPlaceholder::Missing(
            things.iter().filter(|thing| thing.id.starts_with(letter)).collect(),
        )),
        ([], _) => Err(UnresolvedPlaceholder::Missing(of_kind)),
        ([one], None) => Ok(one),
        (_, None) => Err(UnresolvedPlaceholder::Ambiguous(found)),
        (many, Some(nth)) => match many.get(nth.saturating_sub(1)) {
            Some(one) => Ok(one),
            None => Err(UnresolvedPlaceholder::TooFew(found)),
        },
    })
}

/// Finds by name: exactly, then by exact application, then case-insensitively, then by part.
fn by_name<'list>(things: &[&'list PromptListEntry], name: &str) -> Vec<&'list PromptListEntry> {
    let wanted = plain(name);
    let folded = wanted.to_lowercase();
    let tiers: [&dyn Fn(&PromptListEntry) -> bool; 4] = [
        &|thing| plain(&thing.name) == wanted,
        &|thing| !thing.of.is_empty() && plain(&thing.of) == wanted,
        &|thing| [&thing.name, &thing.of].iter().any(|text| plain(text).to_lowercase() == folded),
        &|thing| {
            !folded.is_empty()
                && [&thing.name, &thing.of].iter().any(|text| plain(text).to_lowercase().contains(&folded))
        },
    ];
    tiers
        .iter()
        .map(|fits| things.iter().copied().filter(|thing| fits(thing)).collect::<Vec<_>>())
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// Normalises a name: `...` becomes `…`.
fn plain(name: &str) -> String {
    name.replace("...", "…").trim().to_owned()
}
