//! Addresses of pages and of people, as they stand in values and in texts.

use url::Url;

/// The host of an address of a page, in lower case and in ASCII: that of `https://example.org/a` is `example.org`. `None` for
/// files and for what is no address.
pub(super) fn host_of(address: &str) -> Option<String> {
    let url = Url::parse(address.trim()).ok()?;
    url.host_str().filter(|host| !host.is_empty()).map(|host| bare(host).to_owned())
}

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

/// Whether a text names a host: the host itself, or a domain that it belongs to.
pub(super) fn names_host(text: &str, host: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || ['.', '-', '[', ']', ':'].contains(&c);
    text.split(|c| !is_part(c)).any(|token| {
        let token = token.trim_matches(['.', '-', ':']);
        // A port follows, or the scheme stands in front.
        [token, token.split(':').next().unwrap_or_default()].into_iter().any(|token| {
            let named = host_typed(token);
            named.is_some_and(|named| named == host || host.ends_with(&format!(".{named}")))
        })
    })
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

/// A host without the dot that may end it.
fn bare(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
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
