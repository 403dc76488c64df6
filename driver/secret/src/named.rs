//! Secrets by name.

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::{Arc, PoisonError, RwLock},
};

use crate::{SecretValue, Veil, source::keep_no_core};

/// A value that is being read, or the reason why it cannot be, with the source and the next step.
pub type ReadValue<'a> = Pin<Box<dyn Future<Output = Result<SecretValue, String>> + Send + 'a>>;

/// The most texts that are kept because they may be passwords; the oldest are forgotten.
const WITHHELD_MAX: usize = 200;

/// Reads secrets by their names.
pub trait SecretReader: Send + Sync {
    /// Reads one.
    fn read<'a>(&'a self, name: &'a str) -> ReadValue<'a>;
}

/// No secrets.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSecrets;

impl SecretReader for NoSecrets {
    fn read<'a>(&'a self, name: &'a str) -> ReadValue<'a> {
        Box::pin(async move { Err(format!("no secret `{name}` is configured")) })
    }
}

/// The secrets of this process, and the veil over those that were read. Clones share both.
#[derive(Clone)]
pub struct Secrets {
    reader: Arc<dyn SecretReader>,
    veil: Veil,
    /// The passwords that were typed without a reference, with what stands for each.
    typed: Arc<RwLock<Vec<(String, SecretValue)>>>,
    /// The texts that may be passwords, with what stands for each.
    withheld: Arc<RwLock<VecDeque<(String, SecretValue)>>>,
}

impl Secrets {
    /// Secrets from this reader.
    pub fn new(reader: impl SecretReader + 'static, veil: Veil) -> Self {
        Self { reader: Arc::new(reader), veil, typed: Arc::default(), withheld: Arc::default() }
    }

    /// Returns the veil that hides the secrets that were read.
    #[must_use]
    pub const fn veil(&self) -> &Veil {
        &self.veil
    }

    /// Reads a secret. From then on its value is hidden.
    ///
    /// # Errors
    /// The reason why it cannot be read or used.
    pub async fn reveal(&self, name: &str) -> Result<SecretValue, String> {
        keep_no_core();
        if let Some(value) = self.find_typed(|(mark, _)| mark == name) {
            return Ok(value.1);
        }
        let value = self.reader.read(name).await?;
        if name.to_lowercase().contains(&value.expose().to_lowercase()) {
            return Err(format!("the value of secret `{name}` is a part of its name; rename it"));
        }
        self.veil.add(name, &value);
        Ok(value)
    }

    /// Keeps a password that was typed without a reference, under the dots that stand for it. From then on its value is hidden: everywhere,
    /// or in its fields alone.
    pub fn keep_typed(&self, mark: &str, value: &SecretValue, everywhere: bool) {
        keep_no_core();
        self.veil.add_typed(mark, value, everywhere);
        let mut typed = self.typed.write().unwrap_or_else(PoisonError::into_inner);
        typed.push((mark.to_owned(), value.clone()));
    }

    /// Keeps a text that may be a password, under the dots that stand for it. It is not hidden elsewhere.
    pub fn keep_withheld(&self, mark: &str, value: &SecretValue) {
        keep_no_core();
        let mut withheld = self.withheld.write().unwrap_or_else(PoisonError::into_inner);
        while withheld.len() >= WITHHELD_MAX {
            withheld.pop_front();
        }
        withheld.push_back((mark.to_owned(), value.clone()));
    }

    /// The text that was withheld under these dots.
    #[must_use]
    pub fn withheld(&self, mark: &str) -> Option<SecretValue> {
        let withheld = self.withheld.read().unwrap_or_else(PoisonError::into_inner);
        withheld.iter().rev().find(|(known, _)| known == mark).map(|(_, value)| value.clone())
    }

    /// The dots that stand for a password that was typed, or for a text that may be one.
    #[must_use]
    pub fn mark_of_typed(&self, value: &str) -> Option<String> {
        let is_it = |(_, known): &&(String, SecretValue)| known.expose() == value;
        let withheld = self.withheld.read().unwrap_or_else(PoisonError::into_inner);
        self.find_typed(|one| is_it(&one))
            .or_else(|| withheld.iter().rev().find(is_it).cloned())
            .map(|(mark, _)| mark)
    }

    fn find_typed(&self, is_it: impl Fn(&(String, SecretValue)) -> bool) -> Option<(String, SecretValue)> {
        let typed = self.typed.read().unwrap_or_else(PoisonError::into_inner);
        typed.iter().rev().find(|one| is_it(one)).cloned()
    }
}

/// Two with the same reader and veil are equal.
impl PartialEq for Secrets {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.reader, &other.reader) && self.veil == other.veil
    }
}

impl Default for Secrets {
    fn default() -> Self {
        Self::new(NoSecrets, Veil::default())
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}
