//! Capabilities of the kernel and of installed programs for enforcing confinements.

use std::{ffi::OsStr, fs, path::PathBuf, sync::OnceLock};

use deskhand_process::find_helper;
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, Scope,
};

use crate::{bubblewrap, cgroup::ControlGroup, confinement::Enforcement};

/// The Landlock version that covers what is claimed without namespaces: files, truncation, network, devices, and signals and
/// abstract sockets of other processes.
const LANDLOCK_ALONE: u8 = 6;

/// Enforceable restrictions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfinementSupport {
    /// The Landlock version that is enforced, up to the one used; 0 for none.
    pub landlock: u8,
    /// `true` if seccomp filters are supported.
    pub seccomp: bool,
    /// The bubblewrap program, if it is installed and can make namespaces here.
    pub bubblewrap: Option<PathBuf>,
    /// `true` if the number of processes can be limited.
    pub processes: bool,
}

impl ConfinementSupport {
    /// Returns the mechanism that enforces a confinement; `None` if it cannot be enforced.
    pub fn enforcement(&self) -> Option<Enforcement> {
        match &self.bubblewrap {
            _ if !self.seccomp => None,
            Some(bubblewrap) if self.landlock > 0 => {
                Some(Enforcement::Namespaces { bubblewrap: bubblewrap.clone() })
            }
            Some(_) | None => (self.landlock >= LANDLOCK_ALONE).then_some(Enforcement::Rules),
        }
    }

    /// Returns `true` if a confinement can be enforced.
    pub fn is_enough(&self) -> bool {
        self.enforcement().is_some()
    }

    /// The enforced mechanisms, for messages.
    pub fn describe(&self) -> String {
        let landlock = match self.landlock {
            0 => "no Landlock".to_owned(),
            version => format!("Landlock version {version}"),
        };
        let seccomp = if self.seccomp { "seccomp" } else { "no seccomp" };
        let namespaces = match &self.bubblewrap {
            Some(_) => "namespaces by bubblewrap",
            None => "no namespaces (bubblewrap is not installed or not permitted)",
        };
        let processes = if self.processes { "" } else { ", no limit of processes for root" };
        format!("{landlock}, {seccomp}, {namespaces}{processes}")
    }

    /// Describes missing capabilities, and how to get them.
    pub fn advice(&self) -> String {
        format!(
            "needs seccomp, and Landlock version {LANDLOCK_ALONE} (Linux 6.12) or any Landlock with bubblewrap: install \
             `bubblewrap`, or use a newer kernel"
        )
    }
}

/// Queries what can be enforced, with programs from `path`; applies no restrictions. The kernel is asked once.
pub fn support(path: &OsStr) -> ConfinementSupport {
    static KERNEL: OnceLock<(u8, bool, bool)> = OnceLock::new();
    let (landlock, seccomp, processes) = *KERNEL.get_or_init(|| {
        let limited = !rustix::process::geteuid().is_root() || ControlGroup::is_possible();
        (landlock_version(), has_seccomp(), limited)
    });
    let bubblewrap = find_helper("bwrap", path).filter(|file| bubblewrap::works(file));
    ConfinementSupport { landlock, seccomp, bubblewrap, processes }
}

fn has_seccomp() -> bool {
    let actions = fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    actions.split_whitespace().any(|action| action == "errno")
        && seccompiler::TargetArch::try_from(std::env::consts::ARCH).is_ok()
}

fn landlock_version() -> u8 {
    let versions = [(1, ABI::V1), (2, ABI::V2), (3, ABI::V3), (4, ABI::V4), (5, ABI::V5), (6, ABI::V6)];
    versions.iter().rev().find(|(_, abi)| knows(*abi)).map_or(0, |(version, _)| *version)
}

/// Returns `true` if the kernel supports a Landlock version.
fn knows(abi: ABI) -> bool {
    let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let made = strict().handle_access(AccessFs::from_all(abi)).and_then(|rules| {
        let net = AccessNet::from_all(abi);
        let rules = if net.is_empty() { rules } else { rules.handle_access(net)? };
        let scope = Scope::from_all(abi);
        if scope.is_empty() { rules } else { rules.scope(scope)? }.create()
    });
    made.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_what_is_claimed_is_not_enough() {
        let check = |landlock: u8, seccomp: bool, bubblewrap: bool, expected: Option<&str>| {
            let bubblewrap = bubblewrap.then(|| PathBuf::from("/usr/bin/bwrap"));
            let support = ConfinementSupport { landlock, seccomp, bubblewrap, processes: true };
            let found = support.enforcement().map(|enforcement| match enforcement {
                Enforcement::Nothing => "nothing",
                Enforcement::Rules => "rules",
                Enforcement::Namespaces { .. } => "namespaces",
            });
            assert_eq!(found, expected, "{support:?}");
            assert_eq!(support.is_enough(), expected.is_some());
        };
        check(6, true, false, Some("rules"));
        check(6, true, true, Some("namespaces"));
        check(1, true, true, Some("namespaces"));
        check(5, true, false, None);
        check(0, true, true, None);
        check(6, false, true, None);
    }
}
