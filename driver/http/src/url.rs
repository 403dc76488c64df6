//! URLs of servers.

use std::net::IpAddr;

use reqwest::Url;

/// A URL that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// The text is no absolute URL.
    #[error("{0}")]
    Parse(String),
    /// The URL has another scheme.
    #[error("`{0}` is not http or https")]
    Scheme(String),
    /// The URL contains a secret, which would be visible wherever the URL is shown.
    #[error("it contains a user name or password; pass keys through the environment or a file")]
    Credentials {
        /// The URL without them.
        redacted: String,
    },
}

/// Parses the URL of a server.
///
/// # Errors
/// If it is not an absolute `http` or `https` URL, or contains a user name or password.
pub fn http_url(text: &str) -> Result<Url, UrlError> {
    let url = Url::parse(text.trim()).map_err(|error| UrlError::Parse(error.to_string()))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UrlError::Credentials { redacted: format!("{}://…", url.scheme()) });
    }
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(UrlError::Scheme(other.to_owned())),
    }
}

impl UrlError {
    /// A configured URL as a message may show it.
    #[must_use]
    pub fn redacted(&self, configured: &str) -> String {
        match self {
            Self::Credentials { redacted } => redacted.clone(),
            Self::Parse(_) | Self::Scheme(_) => configured.trim().to_owned(),
        }
    }
}

/// Returns `true` if a URL points at this machine; such requests bypass proxies.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_without_secrets_are_accepted() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let found = http_url(text).map(String::from).map_err(|error| error.to_string());
            assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{text}");
        };
        check(" https://host/v1 ", Ok("https://host/v1"));
        check("http://[::1]:8000", Ok("http://[::1]:8000/"));
        check("host/v1", Err("relative URL without a base"));
        check("file:///etc/passwd", Err("`file` is not http or https"));
        let secret = "it contains a user name or password; pass keys through the environment or a file";
        check("https://user@host", Err(secret));
        check("ftp://:canary@host", Err(secret));
    }

    #[test]
    fn errors_show_no_password() {
        let check =
            |text: &str, expected: &str| assert_eq!(http_url(text).unwrap_err().redacted(text), expected);
        check("https://user:canary@host/v1", "https://…");
        check(" ftp://host ", "ftp://host");
    }

    #[test]
    fn this_machine_is_recognised() {
        let check =
            |url: &str, expected: bool| assert_eq!(is_loopback(&http_url(url).unwrap()), expected, "{url}");
        check("http://localhost:8000/v1", true);
        check("http://127.0.0.53", true);
        check("http://[::1]:8000", true);
        check("http://localhost.example.com", false);
        check("http://10.0.0.1", false);
    }
}
