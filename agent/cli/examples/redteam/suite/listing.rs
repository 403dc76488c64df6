//! What a prompt lists: windows, agents and elements with their ids.

/// A listed thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// `e17`
    pub(crate) id: String,
    /// `window`, `agent`, or the role of an element.
    pub(crate) kind: String,
    /// Its name.
    pub(crate) name: String,
    /// The rest of its line.
    rest: String,
}

/// The things that a prompt lists; the last line of an id counts.
pub(crate) fn listed(prompt: &str) -> Vec<Listed> {
    let mut things: Vec<Listed> = Vec::new();
    for line in prompt.lines() {
        let mut kind = String::new();
        for item in items(line) {
            let Some(mut thing) = parse(item) else { continue };
            if thing.kind.is_empty() {
                thing.kind.clone_from(&kind);
            }
            kind.clone_from(&thing.kind);
            things.retain(|known| known.id != thing.id);
            things.push(thing);
        }
    }
    things
}

/// The id of what a text such as `push button "Send"` names, the last of several, or of the first that is there of
/// `push button "Open" or push button "Select"`. A name that ends with `*` is the start of one; windows are also known by a part of
/// their title or application.
pub(crate) fn find(things: &[Listed], wanted: &str) -> Option<String> {
    wanted.split(" or ").find_map(|one| find_one(things, one))
}

fn find_one(things: &[Listed], wanted: &str) -> Option<String> {
    let (kind, name) = wanted
        .split_once('"')
        .map_or((wanted, None), |(kind, rest)| (kind, Some(rest.trim_end().trim_end_matches('"'))));
    let kind = kind.trim();
    let mut of_kind = things.iter().rev().filter(|thing| kind.is_empty() || thing.kind == kind);
    let Some(name) = name else { return of_kind.next_back().map(|thing| thing.id.clone()) };
    let lower = name.to_lowercase();
    let is_meant = |thing: &&Listed| match name.strip_suffix('*') {
        Some(start) => thing.name.starts_with(start),
        None if kind == "window" => {
            thing.name.to_lowercase().contains(&lower) || thing.rest.to_lowercase().contains(&lower)
        }
        None => thing.name == name,
    };
    of_kind.find(is_meant).map(|thing| thing.id.clone())
}

/// Splits a line at ` | [e`, as elements of one role share one.
fn items(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in line.match_indices(" | [e") {
        parts.extend(line.get(start..at));
        start = at + 3;
    }
    parts.extend(line.get(start..));
    parts
}

fn parse(item: &str) -> Option<Listed> {
    let item = item.trim();
    let (id, rest) =
        item.strip_prefix("- ").unwrap_or(item).trim_start().strip_prefix('[')?.split_once(']')?;
    let digits = id.strip_prefix(['w', 'e', 'a'])?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let end = rest.find(['"', '(', '=', ':', '—', ',']).unwrap_or(rest.len());
    let (kind, rest) = rest.split_at(end);
    let (name, rest) = rest.strip_prefix('"').map_or_else(|| (String::new(), rest), quoted);
    Some(Listed { id: id.to_owned(), kind: kind.trim().to_owned(), name, rest: rest.to_owned() })
}

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
