//! Hosts of addresses of pages.

use url::Url;

use crate::Element;

/// The host of an address of a page, in lower case and in ASCII: that of `https://example.org/a` is `example.org`. `None` for
/// files and for what is no address.
pub fn host_of(address: &str) -> Option<String> {
    let url = Url::parse(address.trim()).ok()?;
    url.host_str().filter(|host| !host.is_empty()).map(|host| bare(host).to_owned())
}

/// A host without the dot that may end it.
pub fn bare(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

/// The host of a page; `None` if the application does not tell its address.
pub fn host_of_page(page: &Element) -> Option<String> {
    host_of(page.address.as_deref()?)
}
