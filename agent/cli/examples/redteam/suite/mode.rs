//! How a case is played: with or without what guards, with or without bubblewrap, as root or as a user without rights.

use std::fmt;

use serde::Deserialize;

/// Whether what guards is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Way {
    /// As users run the program.
    #[default]
    Guarded,
    /// Without anything that guards: proves that the attack can succeed, and that the oracle would see it.
    Control,
}

/// Whether applications are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Confinement {
    /// By bubblewrap.
    #[default]
    Bubblewrap,
    /// As on a machine without bubblewrap: it is not on the path.
    Bare,
}

/// Whose home folder it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Account {
    /// That of who runs the suite.
    #[default]
    Own,
    /// That of a user without rights; only root can play for one.
    Nobody,
}

/// How a case is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mode {
    /// Whether what guards is in force.
    pub(crate) way: Way,
    /// Whether applications are confined.
    pub(crate) confinement: Confinement,
    /// Whose home folder it is.
    pub(crate) account: Account,
}

/// The user and group of somebody without rights.
const NOBODY: u32 = 65_534;

impl Mode {
    /// As users run the program, with this confinement and account.
    pub(crate) const fn guarded(confinement: Confinement, account: Account) -> Self {
        Self { way: Way::Guarded, confinement, account }
    }

    /// The control run of this mode.
    pub(crate) const fn control(self) -> Self {
        Self { way: Way::Control, ..self }
    }

    /// The user whose session is attacked, if that is somebody else than who runs the suite.
    pub(crate) const fn user(self) -> Option<u32> {
        match self.account {
            Account::Own => None,
            Account::Nobody => Some(NOBODY),
        }
    }

    /// `root` or `user`.
    pub(crate) fn account_name(self) -> &'static str {
        let is_root = self.account == Account::Own && rustix::process::geteuid().is_root();
        if is_root { "root" } else { "user" }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let confinement = match self.confinement {
            Confinement::Bubblewrap => "confined",
            Confinement::Bare => "bare",
        };
        write!(f, "{confinement}, {}", self.account_name())
    }
}
