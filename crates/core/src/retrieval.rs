//! What retrievers are asked, and what they find: help, pages of the web, experience, demonstrations.
//!
//! Core says what is wanted and shows what came. Hits are data: their text stands between marks in a prompt, whatever their trust.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::tokens;

/// A kind of retriever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retriever {
    /// Help and documents on this machine, out of an index.
    Help,
    /// A search engine, and the pages that it names.
    Search,
    /// Sessions that were finished and evaluated.
    Experience,
    /// What a person was seen doing.
    Demonstration,
}

impl Retriever {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::Help, Self::Search, Self::Experience, Self::Demonstration];

    /// The word that is printed and stored.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Help => "help",
            Self::Search => "search",
            Self::Experience => "experience",
            Self::Demonstration => "demonstration",
        }
    }
}

impl fmt::Display for Retriever {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Who wrote a hit. The lowest comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Anybody: a page of the web.
    Web,
    /// Who made a package or document of this machine.
    Installed,
    /// An earlier session of this user.
    Session,
    /// The user, who showed how.
    User,
}

impl Trust {
    /// The word that is printed and stored.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Installed => "installed",
            Self::Session => "session",
            Self::User => "user",
        }
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What is wanted of retrievers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lookup {
    /// What is to be done, in the words of the user or of the HostAgent.
    pub wanted: String,
    /// The root of the application that it is to be done in; `None` for the HostAgent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// The retrievers to ask.
    pub retrievers: Vec<Retriever>,
    /// The most tokens (estimated) of all hits together.
    pub tokens_max: u32,
}

/// A text that a retriever found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// Who found it.
    pub retriever: Retriever,
    /// Who wrote it.
    pub trust: Trust,
    /// How well it fits, 0 to 1000. Only comparable within one retriever.
    pub score: u16,
    /// Its title.
    pub title: String,
    /// Where it is from: a path, an address, the id of a session.
    pub origin: String,
    /// The root of the application that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// The text.
    pub text: String,
}

impl Hit {
    /// Its size in a prompt, in tokens (estimated).
    pub fn tokens(&self) -> usize {
        tokens(&self.text).saturating_add(tokens(&self.title)).saturating_add(tokens(&self.origin))
    }
}
