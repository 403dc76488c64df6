//! Lines of roff: escapes, arguments and requests that man and mdoc pages share.

/// Replacements of named characters. Names that are missing here produce nothing.
const CHARACTERS: &[(&str, &str)] = &[
    ("-", "-"),
    ("hy", "-"),
    ("mi", "-"),
    ("en", "–"),
    ("em", "—"),
    ("bu", "•"),
    ("aq", "'"),
    ("dq", "\""),
    ("oq", "‘"),
    ("cq", "’"),
    ("lq", "“"),
    ("rq", "”"),
    ("Lq", "“"),
    ("Rq", "”"),
    ("ga", "`"),
    ("ha", "^"),
    ("ti", "~"),
    ("rs", "\\"),
    ("sl", "/"),
    ("at", "@"),
    ("sh", "#"),
    ("lB", "["),
    ("rB", "]"),
    ("lC", "{"),
    ("rC", "}"),
    ("la", "⟨"),
    ("ra", "⟩"),
    ("ba", "|"),
    ("or", "|"),
    ("->", "→"),
    ("<-", "←"),
    (">=", "≥"),
    ("<=", "≤"),
    ("!=", "≠"),
    ("mu", "×"),
    ("co", "©"),
    ("rg", "®"),
    ("tm", "™"),
    ("de", "°"),
    ("+-", "±"),
    ("Po", "£"),
    ("Eu", "€"),
    ("ss", "ß"),
    (":a", "ä"),
    (":o", "ö"),
    (":u", "ü"),
    ("'e", "é"),
    ("`e", "è"),
    ("R", "®"),
    ("Tm", "™"),
    ("S", ""),
];

/// Text without escapes.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        rest = escape(after.get(1..).unwrap_or_default(), &mut out);
    }
    out.push_str(rest);
    out
}

/// Reads an escape behind its backslash and returns what follows it.
fn escape<'a>(text: &'a str, out: &mut String) -> &'a str {
    let mut characters = text.chars();
    let Some(kind) = characters.next() else { return "" };
    let rest = characters.as_str();
    match kind {
        '"' | '#' => "",
        'e' | '\\' | 'E' => {
            out.push('\\');
            rest
        }
        ' ' | '~' | '0' | 't' => {
            out.push(' ');
            rest
        }
        '-' | '.' | '\'' | '`' | '_' => {
            out.push(kind);
            rest
        }
        '(' | '[' | '*' => {
            let (name, rest) = if kind == '*' { name(rest) } else { name(text) };
            out.push_str(&character(name));
            rest
        }
        // Fonts, colours, numbers, spacing: a name, a size or a quoted argument.
        'f' | 'F' | 'm' | 'M' | 'n' | 'g' | 'k' | 'Y' => name(rest).1,
        's' => size(rest),
        'h' | 'v' | 'w' | 'x' | 'l' | 'L' | 'o' | 'b' | 'D' | 'N' | 'X' | 'Z' | 'A' | 'B' | 'H' | 'S'
        | 'C' => quoted(rest),
        // `\&`, `\|`, `\^`, `\,`, `\/`, `\:`, `\%`, `\c`, `\z` and what is unknown show nothing.
        _ => rest,
    }
}

/// A name of one character, of two after `(`, or inside of brackets.
fn name(text: &str) -> (&str, &str) {
    let cut = |count: usize, text: &'_ str| text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    if let Some(inside) = text.strip_prefix('[') {
        return inside.split_once(']').unwrap_or((inside, ""));
    }
    let (text, count) = text.strip_prefix('(').map_or((text, 1), |text| (text, 2));
    text.split_at_checked(cut(count, text)).unwrap_or((text, ""))
}

/// Returns the text after the size of a font: `\s0`, `\s-2`, `\s+1`, `\s[10]`.
fn size(text: &str) -> &str {
    let unsigned = text.trim_start_matches(['+', '-']);
    if unsigned.starts_with(['[', '(']) {
        name(unsigned).1
    } else {
        unsigned.trim_start_matches(|c: char| c.is_ascii_digit())
    }
}

/// Returns the text after an argument between two equal characters.
fn quoted(text: &str) -> &str {
    let mut characters = text.chars();
    let Some(quote) = characters.next() else { return "" };
    characters.as_str().split_once(quote).map_or("", |(_, rest)| rest)
}

fn character(name: &str) -> String {
    if let Some((_, text)) = CHARACTERS.iter().find(|(known, _)| *known == name) {
        return (*text).to_owned();
    }
    let code = name.strip_prefix('u').and_then(|digits| u32::from_str_radix(digits, 16).ok());
    code.and_then(char::from_u32).map(String::from).unwrap_or_default()
}

/// The arguments of a macro; quotes keep spaces, and two of them are one quote. Escapes are still in them.
pub(super) fn arguments(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() && !rest.starts_with("\\\"") {
        let mut argument = String::new();
        if let Some(inside) = rest.strip_prefix('"') {
            rest = inside;
            while let Some((part, after)) = rest.split_once('"') {
                argument.push_str(part);
                rest = after;
                let Some(further) = rest.strip_prefix('"') else { break };
                argument.push('"');
                rest = further;
            }
            if rest.len() == inside.len() {
                // The closing quote is missing.
                argument.push_str(rest);
                rest = "";
            }
        } else {
            let end = end_of_word(rest);
            let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            argument.push_str(word);
            rest = after;
        }
        found.push(argument);
        rest = rest.trim_start();
    }
    found
}

/// Finds the end of a word; a space after a backslash belongs to the word.
fn end_of_word(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if c.is_whitespace() && !is_escaped {
            return at;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    text.len()
}

/// A control line: the name of the macro and the rest.
pub(super) fn control(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix(['.', '\''])?.trim_start();
    let end = line.find(|c: char| c.is_whitespace() || c == '\\').unwrap_or(line.len());
    line.split_at_checked(end.max(usize::from(line.starts_with("\\\"")) * 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_text() {
        let check = |text: &str, expected: &str| assert_eq!(plain(text), expected, "{text}");
        check(r"\fB\-\-all\fR, \f(CWx\fP, \f[BI]y\f[]", "--all, x, y");
        check(r"[\fI\,OPTION\/\fR]...", "[OPTION]...");
        check(r"a\ b\~c\(emd \[->] \[u2014] \*(lqx\*(rq \*R", "a b c—d → — “x” ®");
        check(r"\s-2small\s0 \s+1x \h'2n'y \w'a b'z \n(.l1", "small x y z 1");
        check(r#"C:\e\\ \&.dot \% \zx text\" comment"#, "C:\\\\ .dot  x text");
        check("end\\", "end");
        check(r"\(", "");
        check(r"\[open", "");
        check(r"\h'open", "");
    }

    #[test]
    fn arguments_are_split() {
        let check = |text: &str, expected: &[&str]| assert_eq!(arguments(text), expected, "{text}");
        check(
            r#" one "two words" th\ ree "a ""b"" c" \" not"#,
            &["one", "two words", r"th\ ree", "a \"b\" c"],
        );
        check(r#"x "open end"#, &["x", "open end"]);
        check("\"\"", &[""]);
        check("  ", &[]);
    }

    #[test]
    fn control_lines_are_told_apart() {
        assert_eq!(control(".SH NAME"), Some(("SH", " NAME")));
        assert_eq!(control("'\\\" t"), Some(("\\\"", " t")));
        assert_eq!(control(".  PP"), Some(("PP", "")));
        assert_eq!(control("."), Some(("", "")));
        assert_eq!(control("text"), None);
    }
}
