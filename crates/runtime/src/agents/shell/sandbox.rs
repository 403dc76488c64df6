//! The sandbox of agent programs: Landlock restricts files, seccomp restricts system calls.
//!
//! Restrictions cannot be lifted, so a helper process applies them: this program runs itself again, and [`run`]
//! restricts that process and then replaces it with the wanted program.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::process::Signal;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use serde::{Deserialize, Serialize};

/// The exit code for a program that was not started; the first line of stderr says why.
pub const NOT_STARTED: u8 = 125;

/// The newest Landlock ABI used. Older kernels enforce the rules that they support.
const RULES: ABI = ABI::V6;

/// System folders: readable and executable, never writable.
const SYSTEM: [&str; 13] = [
    "/bin",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/opt",
    "/proc",
    "/run/current-system",
    "/sbin",
    "/sys/devices/system/cpu",
    "/usr",
];
/// Harmless devices.
const DEVICES: [&str; 5] = ["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// Denied system calls: of no use to agent programs, and able to escape the sandbox or reach other processes.
const DENIED: [i64; 24] = [
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// What a program may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confinement {
    /// Whether it is sandboxed; if not, it is only killed when its parent exits.
    pub confined: bool,
    /// Writable folders and files.
    pub write: Vec<PathBuf>,
    /// Readable folders and files, besides those of the system.
    pub read: Vec<PathBuf>,
    /// Whether the network is allowed.
    pub network: bool,
    /// The prefix of the message when the program is not started; identifies it reliably.
    pub mark: String,
}

/// Kernel support for sandboxing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SandboxSupport {
    /// The Landlock ABI that is enforced, up to the one used; 0 for none.
    pub landlock: u8,
    /// Whether seccomp filters are supported.
    pub seccomp: bool,
}

impl SandboxSupport {
    /// Whether files and network can be restricted.
    pub const fn is_enough(self) -> bool {
        self.landlock > 0 && self.seccomp
    }

    /// The enforced mechanisms, for messages.
    pub fn describe(self) -> String {
        let seccomp = if self.seccomp { "seccomp" } else { "no seccomp" };
        match self.landlock {
            0 => format!("no Landlock, {seccomp}"),
            version => format!("Landlock version {version}, {seccomp}"),
        }
    }
}

/// Queries kernel support; applies no restrictions.
pub fn support() -> SandboxSupport {
    let versions = [(1, ABI::V1), (2, ABI::V2), (3, ABI::V3), (4, ABI::V4), (5, ABI::V5), (6, ABI::V6)];
    let landlock = versions.iter().rev().find(|(_, abi)| knows(*abi)).map_or(0, |(version, _)| *version);
    let actions = fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    let seccomp = actions.split_whitespace().any(|action| action == "errno")
        && seccompiler::TargetArch::try_from(std::env::consts::ARCH).is_ok();
    SandboxSupport { landlock, seccomp }
}

/// Whether the kernel supports a Landlock ABI.
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

/// Restricts this process and replaces it with the program; returns an error message on failure.
pub fn run(confinement: &Confinement, program: &Path, arguments: &[OsString]) -> String {
    let ready = rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("failed to set the parent-death signal: {error}"))
        .and_then(|()| if confinement.confined { confine(confinement) } else { Ok(()) });
    let why = match ready {
        Ok(()) => {
            let error: io::Error = Command::new(program).args(arguments).exec();
            format!("failed to start {}: {error}", program.display())
        }
        Err(why) => why,
    };
    format!("{}: {why}", confinement.mark)
}

fn confine(confinement: &Confinement) -> Result<(), String> {
    confine_files(confinement).map_err(|error| format!("failed to restrict files: {error}"))?;
    let filter = filter(confinement.network).map_err(|error| format!("failed to restrict calls: {error}"))?;
    seccompiler::apply_filter(&filter).map_err(|error| format!("failed to restrict calls: {error}"))
}

fn confine_files(confinement: &Confinement) -> Result<(), String> {
    let of = |error: landlock::RulesetError| error.to_string();
    let read = AccessFs::from_read(RULES);
    let mut rules = Ruleset::default().handle_access(AccessFs::from_all(RULES)).map_err(of)?;
    rules = rules.scope(Scope::from_all(RULES)).map_err(of)?;
    if !confinement.network {
        rules = rules.handle_access(AccessNet::from_all(RULES)).map_err(of)?;
    }
    let status = rules
        .create()
        .and_then(|rules| rules.add_rules(path_beneath_rules(SYSTEM, read)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(&confinement.read, read)))
        .and_then(|rules| {
            rules.add_rules(path_beneath_rules(DEVICES, AccessFs::ReadFile | AccessFs::WriteFile))
        })
        .and_then(|rules| rules.add_rules(path_beneath_rules(&confinement.write, AccessFs::from_all(RULES))))
        .and_then(RulesetCreated::restrict_self)
        .map_err(of)?;
    match status.ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        RulesetStatus::NotEnforced => Err("the kernel has no Landlock".to_owned()),
    }
}

/// The seccomp filter. Unix sockets are always denied: they lead to services, such as the session bus, that can start
/// programs outside of the sandbox.
fn filter(network: bool) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    let sockets = match network {
        false => Vec::new(),
        true => {
            let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
            let other = families.into_iter().map(|family| {
                let family = u64::try_from(family).unwrap_or_default();
                SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
            });
            vec![SeccompRule::new(other.collect::<Result<_, _>>()?)?]
        }
    };
    rules.insert(libc::SYS_socket, sockets);
    let denied = u32::try_from(libc::EPERM).unwrap_or(1);
    let arch = seccompiler::TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(denied), arch)?.try_into()
}
