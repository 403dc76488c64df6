//! Addresses of pages and of people, as they stand in values and in texts.

use url::Url;

use deskhand_ui::address::host_of;

use super::origin::ValueKind;

/// The same of a text as browsers take it in their address field: `example.org/a` without a scheme is one, too.
pub(super) fn host_typed(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.contains(char::is_whitespace) {
        return None;
    }
    match Url::parse(text) {
        Ok(url) if url.scheme() == "file" => return None,
        Ok(url) if url.has_host() => return host_of(text),
        // `localhost:9000` has the form of an address with another scheme.
        Ok(_) | Err(_) => {}
    }
    let host = host_of(&format!("http://{text}"))?;
    let has_domain = host.rsplit_once('.').is_some_and(|(_, last)| last.chars().count() >= 2);
    let is_number = host.chars().all(|c| c.is_ascii_digit() || c == '.') || host.starts_with('[');
    (has_domain || host == "localhost" || is_number && host.contains(['.', ':'])).then_some(host)
}

/// Target of a text in the address field of a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AddressTarget {
    /// A page of this host.
    Host(String),
    /// Content that the address itself holds or runs: a script, a document.
    Script(String),
}

/// Maximum nesting depth of addresses in one another.
const NESTED_MAX: usize = 4;
/// Maximum length of a displayed address, in characters.
const SHOWN_MAX: usize = 80;

/// Returns the target of a text in the address field of a browser, as browsers interpret it: `view-source:`
/// shows a page, `javascript:` runs the rest, and words after an address belong to it.
pub(super) fn opened(text: &str) -> Option<AddressTarget> {
    // Browsers drop these.
    let text: String =
        text.trim_matches(|c: char| c <= ' ').chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let mut rest = text.as_str();
    for _ in 0..NESTED_MAX {
        let Some((scheme, inner)) = rest.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
            break;
        };
        match scheme.to_ascii_lowercase().as_str() {
            "javascript" | "data" | "vbscript" | "livescript" => {
                return Some(AddressTarget::Script(rest.chars().take(SHOWN_MAX).collect()));
            }
            "view-source" | "blob" | "feed" | "jar" | "filesystem" | "reader" | "about" | "wyciwyg" => {
                // `about:reader?url=https%3A%2F%2Fevil.test`
                let inner = inner.split_once("url=").map_or(inner, |(_, address)| address);
                rest = inner;
            }
            "file" => return foreign_host(rest).map(AddressTarget::Host),
            _ => break,
        }
    }
    let decoded = rest.replace("%3A", ":").replace("%3a", ":").replace("%2F", "/").replace("%2f", "/");
    let rest = if rest == text { rest } else { decoded.as_str() };
    if let Some(host) = host_typed(rest) {
        return Some(AddressTarget::Host(host));
    }
    // An address with words after it is one; words are looked for.
    let first = rest.split_whitespace().next()?;
    let is_address =
        first.contains("://") || first.split_once(['/', '?', '#']).is_some_and(|(host, _)| has_name(host));
    let host = host_typed(first).filter(|_| is_address).or_else(|| foreign_host(rest));
    host.map(AddressTarget::Host)
}

/// The host of another machine that a text names for a file: `file://host/share`, `smb://host/share`, `\\\\host\\share`. `None` for a file of
/// this machine.
pub(super) fn foreign_host(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("\\\\").or_else(|| text.strip_prefix("//")) {
        let host = rest.split(['\\', '/']).next().filter(|_| text.starts_with('\\'))?;
        return host_of(&format!("http://{host}")).filter(|host| host != "localhost");
    }
    let (scheme, rest) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme))?;
    if scheme.eq_ignore_ascii_case("mailto") || !rest.starts_with("//") {
        return None;
    }
    // The hosts of schemes that are none of the web's are read as those of the web's: in lower case, numbers as addresses.
    let host = host_of(&format!("http:{rest}")).or_else(|| host_of(text))?;
    (host != "localhost" && !rest.starts_with("///")).then_some(host)
}

/// Returns `true` if this is the scheme of an address.
fn is_scheme(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// Returns `true` if a host ends with a name, not with a number.
fn has_name(host: &str) -> bool {
    let host = host.rsplit('@').next().unwrap_or(host).split(':').next().unwrap_or_default();
    host.rsplit_once(['.', '。'])
        .is_some_and(|(_, last)| last.chars().count() >= 2 && last.chars().all(char::is_alphabetic))
}

/// Endings of files that are domains, too.
const FILE_ENDINGS: [&str; 14] =
    ["md", "sh", "py", "rs", "pl", "ps", "zip", "mov", "so", "cc", "ai", "java", "app", "doc"];

/// Returns `true` if a text names a host: the host itself, or a domain that it belongs to.
pub(super) fn names_host(text: &str, host: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || ['.', '-', '[', ']', ':'].contains(&c);
    text.split(|c| !is_part(c)).any(|token| {
        let token = token.trim_matches(['.', '-', ':']);
        // A name such as `notes.md` is that of a file, unless an address says otherwise.
        let is_file = token.rsplit_once('.').is_some_and(|(_, last)| FILE_ENDINGS.contains(&last));
        if is_file && !token.starts_with("www.") && !text.contains(&format!("//{token}")) {
            return false;
        }
        // A port follows, or the scheme stands in front.
        [token, token.split(':').next().unwrap_or_default()].into_iter().any(|token| {
            let named = host_typed(token);
            named.is_some_and(|named| named == host || host.ends_with(&format!(".{named}")))
        })
    })
}

/// Endings of files that are no domains, but look like them.
const FILES: [&str; 17] = [
    "txt", "odt", "ods", "odp", "csv", "pdf", "png", "jpg", "jpeg", "html", "json", "toml", "xml", "docx",
    "xlsx", "log", "js",
];

/// The hosts and mail addresses that a text names.
pub(crate) fn reached_in(text: &str) -> Vec<(ValueKind, String)> {
    let mut found: Vec<(ValueKind, String)> = Vec::new();
    if text.contains('@') {
        found.extend(mail_addresses(text).into_iter().map(|address| (ValueKind::Recipient, address)));
    }
    let is_edge = |c: char| "\"'`“”„‘’«»<>(),;!?".contains(c);
    for word in text.split(|c: char| c.is_whitespace() || is_edge(c)).filter(|word| word.contains(['.', ':']))
    {
        let word = word.trim_end_matches(['.', ':']);
        let is_file = |host: &str| {
            let last = host.rsplit('.').next().unwrap_or_default();
            FILES.contains(&last) || FILE_ENDINGS.contains(&last)
        };
        let is_host = word.contains("://")
            || (has_name(word.split(['/', '?', '#']).next().unwrap_or_default()) && !word.contains('@'));
        let host = host_typed(word).filter(|host| is_host && (word.contains("://") || !is_file(host)));
        found.extend(host.map(|host| (ValueKind::Host, host)));
    }
    found
}

/// The mail addresses in a text, in lower case.
pub(super) fn mail_addresses(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || ".!#$%&'*+/=?^_`{|}~-@".contains(c);
    let tokens = text.split(|c| !is_part(c)).map(|token| token.trim_matches(['.', '\'', '`']));
    let is_address = |token: &&str| {
        token.split_once('@').is_some_and(|(local, domain)| {
            !local.is_empty() && !domain.contains('@') && domain.split('.').all(|label| !label.is_empty())
        })
    };
    tokens.filter(is_address).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_as_browsers_read_them() {
        #[track_caller]
        fn check(typed: &str, host: Option<&str>) {
            assert_eq!(host_typed(typed).as_deref(), host, "{typed}");
        }
        check("https://Example.ORG./a?b#c", Some("example.org"));
        check("https://example.org@evil.test:8080/", Some("evil.test"));
        check("evil.test/path", Some("evil.test"));
        check("EVIL.test:80", Some("evil.test"));
        check("https:\\\\evil.test", Some("evil.test"));
        check("http://2130706433/", Some("127.0.0.1"));
        check("127.1", Some("127.0.0.1"));
        check("[::1]:80", Some("[::1]"));
        check("localhost:9000", Some("localhost"));
        check("bücher.test", Some("xn--bcher-kva.test"));
        check("file:///etc/passwd", None);
        check("two words.org", None);
        check("word", None);
        check("", None);
    }

    #[test]
    fn what_an_address_opens_is_what_a_browser_opens() {
        #[track_caller]
        fn check(typed: &str, opens: &str) {
            let found = match opened(typed) {
                Some(AddressTarget::Host(host)) => host,
                Some(AddressTarget::Script(script)) => format!("script {script}"),
                None => String::new(),
            };
            assert_eq!(found, opens, "{typed}");
        }
        check("https://bank.test@evil.test/", "evil.test");
        check("https://bank.test:443@evil.test", "evil.test");
        check("https://evil.test/a b c", "evil.test");
        check("evil.test/a b", "evil.test");
        check("view-source:https://evil.test", "evil.test");
        check("about:reader?url=https%3A%2F%2Fevil.test%2Fa", "evil.test");
        check("java\tscript:alert(1)", "script javascript:alert(1)");
        check(" data:text/html,<p>", "script data:text/html,<p>");
        check("view-source:javascript:x", "script javascript:x");
        check("https://b\u{430}nk.test", "xn--bnk-6cd.test");
        check("http://0x7f.1", "127.0.0.1");
        check("http://017700000001", "127.0.0.1");
        check("evil。test", "evil.test");
        check("smb://evil.test/share", "evil.test");
        check("file://evil.test/share", "evil.test");
        check("\\\\evil.test\\share", "evil.test");
        check("file:///etc/passwd", "");
        check("about:blank", "");
        check("report http:evil.test.pdf", "");
        check("weather and/or news", "");
        check("1.5/2 cups", "");
        check("", "");
    }

    #[test]
    fn a_host_is_named_as_a_whole_or_by_its_domain() {
        #[track_caller]
        fn check(text: &str, host: &str, named: bool) {
            assert_eq!(names_host(text, host), named, "{text}: {host}");
        }
        check("Open https://example.org/a, please", "example.org", true);
        check("Look at (example.org).", "www.example.org", true);
        check("at 127.0.0.1:8080", "127.0.0.1", true);
        check("http://[::1]:80/", "[::1]", true);
        check("Look at example.org", "example.org.evil.test", false);
        check("Look at example.org", "notexample.org", false);
        check("Open the example", "example.org", false);
        check("Mail bob@evil.test", "evil.test", true);
        check("", "example.org", false);
    }

    #[test]
    fn mail_addresses_are_found_in_a_text() {
        assert_eq!(
            mail_addresses("To: Ada <Ada@Example.org>, bob@b.test."),
            ["ada@example.org", "bob@b.test"]
        );
        assert!(mail_addresses("@ a@ @b a@b@c a@.b").is_empty());
    }
}
