//! Limits on searches and pages.

use std::time::Duration;

/// Limits on searches and pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnlineLimits {
    /// The most results of a search.
    pub results_max: usize,
    /// The longest reply of an engine, in bytes.
    pub reply_bytes_max: usize,
    /// The longest page, in bytes.
    pub page_bytes_max: usize,
    /// The most characters of the text of a page.
    pub page_characters_max: usize,
    /// The most redirects that are followed.
    pub redirects_max: usize,
    /// The longest time for a search or a page, redirects included.
    pub time_max: Duration,
}

impl Default for OnlineLimits {
    fn default() -> Self {
        Self {
            results_max: 8,
            reply_bytes_max: 4 * 1024 * 1024,
            page_bytes_max: 8 * 1024 * 1024,
            page_characters_max: 100_000,
            redirects_max: 5,
            time_max: Duration::from_secs(20),
        }
    }
}
