//! The files to check, and findings.

use std::{cell::OnceCell, fmt, fs};

use anyhow::{Context, Result};

use super::scanner::without_comments_and_strings;
use crate::workspace;

/// A file of the repository.
pub(super) struct SourceFile {
    /// The path below the root, with `/`.
    pub(super) path: String,
    /// The size in bytes.
    pub(super) size: u64,
    /// The text; `None` for binary files.
    text: Option<String>,
    /// See [`SourceFile::code`].
    code: OnceCell<String>,
}

impl SourceFile {
    /// The text; empty for binary files.
    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// The text of a Rust source with comments and string contents blanked out.
    pub(super) fn code(&self) -> &str {
        self.code.get_or_init(|| without_comments_and_strings(self.text()))
    }

    /// The file name.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Returns `true` if the file belongs to a crate of the product.
    pub(super) fn is_in_workspace(&self) -> bool {
        ["driver/", "agent/", "extras/"].iter().any(|folder| self.path.starts_with(folder))
    }

    /// Returns `true` if the whole file is test code.
    pub(super) fn is_test(&self) -> bool {
        self.path.contains("/tests/")
            || self.path.contains("_tests/")
            || self.path.contains("/snapshots/")
            || self.path.ends_with("_tests.rs")
            || self.path.ends_with("/tests.rs")
    }

    /// A finding in this file.
    pub(super) fn finding(&self, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line, message: message.into() }
    }

    /// A file for tests of the rules.
    #[cfg(test)]
    pub(super) fn sample(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            size: text.len() as u64,
            text: Some(text.to_owned()),
            code: OnceCell::new(),
        }
    }
}

/// A rule violation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Reads all files of the repository.
pub(super) fn read() -> Result<Vec<SourceFile>> {
    workspace::files()?
        .into_iter()
        .map(|path| {
            let bytes = fs::read(workspace::root().join(&path))
                .with_context(|| format!("read {}", path.display()))?;
            Ok(SourceFile {
                path: path.to_string_lossy().replace('\\', "/"),
                size: bytes.len() as u64,
                text: String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')),
                code: OnceCell::new(),
            })
        })
        .collect()
}
