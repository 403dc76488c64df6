//! HTTP as Deskhand uses it: requests with a secret to a server that a person configured, and downloads from it.
//!
//! - [`client`]: the one set-up of client and TLS provider; redirects are never followed.
//! - [`http_url`]: configured URLs, which must not contain a password.
//! - [`HttpCredential`]: keys and tokens, which no message contains.
//! - [`read_body`], [`root_cause`]: bounded bodies, and errors in a few words.
//! - [`FileDownload`]: large files without a secret, continued where they were cut.
//!
//! What is asked and what an answer means is up to the caller, and so are its errors.

mod client;
mod download;
mod secret;
mod url;

pub use client::{
    BodyError, HttpTimeout, Silence, client, install_tls, read_body, read_body_until, root_cause,
};
pub use deskhand_secret::{SecretError, SecretSource};
pub use download::{DownloadError, FileDownload};
pub use secret::HttpCredential;
pub use url::{UrlError, http_url};
