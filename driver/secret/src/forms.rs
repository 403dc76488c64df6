//! The forms in which a value may stand in a text.

use std::fmt::Write as _;

use zeroize::Zeroizing;

/// Every form of a value that is looked for: as it is, and escaped for JSON (also twice), HTML and addresses.
pub(crate) fn forms(value: &str) -> Vec<Zeroizing<String>> {
    let json = json(value);
    let twice = self::json(&json);
    let ascii = ascii(&json);
    let named = html(value, "&quot;", "&#39;");
    let mut all: Vec<String> = vec![
        value.to_owned(),
        json,
        twice,
        ascii,
        html(value, "\"", "'"),
        html(value, "&#34;", "&#x27;"),
        html(value, "&quot;", "&apos;"),
        named,
        percent(value, "-_.~", "%20"),
        percent(value, "-_.~", "+"),
        percent(value, "-_.~/", "%20"),
        percent(value, "-_.~/", "+"),
        percent(value, "-_.", "+"),
        percent(value, "-_.~$&+=:@", "%20"),
        percent(value, "-_.!~*'()", "%20"),
        percent(value, "-_.*", "+"),
        percent(value, "-_.!~*'();/?:@&=+$,#", "%20"),
        percent(value, "-_.!~*'();/?:@&=+$,[]\\^`{|}", "%20"),
    ];
    all.sort_unstable_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    all.dedup();
    all.into_iter().map(Zeroizing::new).collect()
}

fn json(text: &str) -> String {
    let quoted = serde_json::Value::String(text.to_owned()).to_string();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

/// JSON in which every character outside of ASCII is escaped.
fn ascii(json: &str) -> String {
    let mut escaped = String::new();
    for c in json.chars() {
        if c.is_ascii() {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
}

fn html(text: &str, double: &str, single: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str(double),
            '\'' => escaped.push_str(single),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Escaped for an address, with these signs as they are.
fn percent(text: &str, kept: &str, space: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if c == ' ' {
            escaped.push_str(space);
        } else if c.is_ascii_alphanumeric() || kept.contains(c) {
            escaped.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "%{byte:02X}");
            }
        }
    }
    escaped
}
