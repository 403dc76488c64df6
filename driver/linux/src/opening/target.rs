//! Targets that can be opened: a path or an address.

use std::path::{Path, PathBuf};

use crate::documents::paths::decoded;

/// A target to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenTarget {
    /// A file or a folder. It need not exist.
    Path(PathBuf),
    /// An address of the web, `http` or `https`.
    Address(String),
}

impl OpenTarget {
    /// Reads a path, `file://` with one, or an address of the web.
    ///
    /// # Errors
    /// The scheme of any other address.
    pub fn parse(text: &Path) -> Result<Self, String> {
        let path = || Self::Path(text.to_owned());
        let Some((scheme, rest)) = text.to_str().and_then(|text| text.split_once("://")) else {
            return Ok(path());
        };
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        match scheme.to_ascii_lowercase().as_str() {
            _ if !is_scheme => Ok(path()),
            "http" | "https" if !rest.is_empty() => Ok(Self::Address(text.to_string_lossy().into_owned())),
            "file" => {
                let local = rest.strip_prefix("localhost").unwrap_or(rest);
                let local = local.split(['?', '#']).next().unwrap_or(local);
                if local.starts_with('/') {
                    Ok(Self::Path(decoded(local).into()))
                } else {
                    Err(scheme.to_owned())
                }
            }
            _ => Err(scheme.to_owned()),
        }
    }

    /// The host of an address, without user and port.
    pub fn host(&self) -> Option<&str> {
        let Self::Address(address) = self else { return None };
        let rest = address.split_once("://")?.1;
        let authority = rest.split(['/', '?', '#', '\\']).next()?;
        let host = authority.rsplit('@').next()?;
        // The colons of an IPv6 address stand in brackets.
        let end = if host.starts_with('[') { host.find(']').map(|at| at + 1) } else { host.find(':') };
        end.map_or(Some(host), |end| host.get(..end)).filter(|host| !host.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_addresses() {
        let check = |text: &str, expected: Result<OpenTarget, &str>| {
            assert_eq!(OpenTarget::parse(Path::new(text)), expected.map_err(ToOwned::to_owned), "{text}");
        };
        let path = |path: &str| Ok(OpenTarget::Path(path.into()));
        check("a.txt", path("a.txt"));
        check("/a/b", path("/a/b"));
        check("a b://c", path("a b://c"));
        check("file:///tmp/a%20b.txt", path("/tmp/a b.txt"));
        check("FILE://localhost/tmp/x", path("/tmp/x"));
        check("file://elsewhere/x", Err("file"));
        check("https://example.org/x", Ok(OpenTarget::Address("https://example.org/x".to_owned())));
        check("ftp://example.org/x", Err("ftp"));
        check("javascript://x", Err("javascript"));
    }

    #[test]
    fn hosts_of_addresses() {
        let check = |address: &str, expected: Option<&str>| {
            assert_eq!(OpenTarget::Address(address.to_owned()).host(), expected, "{address}");
        };
        check("https://example.org", Some("example.org"));
        check("https://ada:x@example.org:8080/a@b?c", Some("example.org"));
        check("http://[::1]:80/", Some("[::1]"));
        check("http:///x", None);
        check("http://good.example\\@evil.example/", Some("good.example"));
    }
}
