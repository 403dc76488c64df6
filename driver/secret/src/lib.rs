//! Values that must not be shown: reading them, holding them, hiding them in texts.
//!
//! - [`SecretValue`] holds one. It has no `Display`, no `Serialize`, and its `Debug` hides it; it is overwritten when dropped.
//! - [`read_file`], [`read_environment`]: where it comes from. [`SecretSource`] names a source, for messages.
//! - [`Secrets`]: the secrets of this process by name; what was read of them is hidden from then on.
//! - [`Veil`] knows the values that were used, and puts `secret:NAME` in place of them in every text that it is given.
//!
//! This crate knows nothing of agents, desktops or requests.

mod error;
mod forms;
mod named;
mod source;
mod value;
mod veil;

pub use error::SecretError;
pub use named::{NoSecrets, ReadValue, SecretReader, Secrets};
pub use source::{SecretSource, read_environment, read_file};
pub use value::SecretValue;
pub use veil::{TextRedaction, Veil};
