//! Glob patterns of names.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use crate::error::FileReadError;

/// The longest pattern, in bytes.
const LENGTH_MAX: usize = 1_000;

/// Which names are wanted. A pattern with `/` is for the path inside the folder, one without for the name
/// alone.
pub(crate) struct NameFilter(Option<(GlobMatcher, bool)>);

impl NameFilter {
    /// All names if there is no pattern.
    pub(crate) fn new(pattern: Option<&str>) -> Result<Self, FileReadError> {
        let Some(pattern) = pattern else { return Ok(Self(None)) };
        let wrong = |problem: String| FileReadError::Value {
            value: pattern.chars().take(100).collect(),
            problem: format!("{problem}; globs look like *.csv, report-?.{{docx,odt}} or src/**/*.rs"),
        };
        if pattern.len() > LENGTH_MAX {
            return Err(wrong(format!("longer than {LENGTH_MAX} bytes")));
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let glob = glob.map_err(|error| wrong(error.kind().to_string()))?;
        Ok(Self(Some((glob.compile_matcher(), pattern.contains('/')))))
    }

    /// Returns `true` if the file is wanted, by its path inside the folder.
    pub(crate) fn matches(&self, path: &Path) -> bool {
        let Some((glob, is_for_path)) = &self.0 else { return true };
        if *is_for_path {
            return glob.is_match(path);
        }
        path.file_name().is_some_and(|name| glob.is_match(name))
    }
}
