//! Calls that are refused with "operation not permitted", always or for some arguments.

use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

use super::{Rules, allowed::FCHMODAT2};

/// Calls that lead out of the sandbox, into other processes, or to rarely used parts of the kernel.
const ALWAYS: [i64; 55] = [
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_memfd_secret,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_name_to_handle_at,
    libc::SYS_nfsservctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// Calls that change the mode, owner, times or attributes of a file. Landlock does not cover them, so they are refused where no
/// mount protects the files.
const METADATA: [i64; 12] = [
    FCHMODAT2,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
    libc::SYS_utimensat,
];
#[cfg(target_arch = "x86_64")]
const METADATA_OLD: [i64; 6] = [
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_futimesat,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
];
#[cfg(not(target_arch = "x86_64"))]
const METADATA_OLD: [i64; 0] = [];

/// Shared memory, semaphores and queues with names, which belong to all processes outside of an IPC namespace.
const SHARED_OBJECTS: [i64; 13] = [
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
];

/// Calls that change another process of the same user, and the argument with its id; 0 is the calling process.
const OF_OTHERS: [(i64, u8); 7] = [
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_setpriority, 1),
];

/// Flags of `clone` that make namespaces. Flags of `clone3` are out of reach, so it is not allowed at all.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Requests to a terminal that insert input (`TIOCSTI`) or select text of a console (`TIOCLINUX`).
const TERMINAL_REQUESTS: [u64; 2] = [0x5412, 0x541c];
/// Requests that set attributes of a file (`FS_IOC_SETFLAGS`, `FS_IOC_FSSETXATTR`).
const METADATA_REQUESTS: [u64; 2] = [0x4008_6602, 0x401c_5820];
/// The largest segment of System V shared memory, in bytes. The kernel allows 4096 segments.
const SEGMENT_MAX: u64 = 64 * 1024;
/// Execution domains that change nothing of interest: the usual one, a query, and fixed addresses, for debuggers.
const PERSONALITIES: [u64; 3] = [0, 0xffff_ffff, 0x0004_0000];

/// The refused calls. `alone`: no namespace separates the program from other processes and files.
pub(super) fn rules(network: bool, alone: bool) -> Result<Rules, BackendError> {
    let mut rules: Rules = ALWAYS.iter().map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_socket, sockets(network)?);
    // A pair of datagram sockets can send to any other Unix socket by its name. `SOCK_RAW` makes the same kind.
    let kinds = [libc::SOCK_DGRAM, libc::SOCK_RAW];
    rules.insert(
        libc::SYS_socketpair,
        kinds.into_iter().map(|kind| masked(1, 0xf, kind)).collect::<Result<_, _>>()?,
    );
    let clones = NAMESPACES.into_iter().map(|flag| masked(0, number(flag), flag));
    rules.insert(libc::SYS_clone, clones.collect::<Result<_, _>>()?);
    let other = PERSONALITIES.into_iter().map(|known| argument(0, SeccompCmpOp::Ne, known));
    rules.insert(libc::SYS_personality, vec![SeccompRule::new(other.collect::<Result<_, _>>()?)?]);
    let mut requests = TERMINAL_REQUESTS.to_vec();
    // What is in a segment is counted nowhere while it is not mapped.
    let large = SeccompCondition::new(1, SeccompCmpArgLen::Qword, SeccompCmpOp::Gt, SEGMENT_MAX)?;
    rules.insert(libc::SYS_shmget, vec![SeccompRule::new(vec![large])?]);
    if alone {
        // What a process holds open could not be seen.
        let own = argument(0, SeccompCmpOp::Eq, number(libc::PR_SET_DUMPABLE))?;
        rules.insert(libc::SYS_prctl, vec![SeccompRule::new(vec![own])?]);
        requests.extend(METADATA_REQUESTS);
        let whole = METADATA.into_iter().chain(METADATA_OLD).chain(SHARED_OBJECTS);
        rules.extend(whole.map(|call| (call, Vec::new())));
        for (call, index) in OF_OTHERS {
            rules.insert(call, vec![SeccompRule::new(vec![argument(index, SeccompCmpOp::Ne, 0)?])?]);
        }
    }
    let requests =
        requests.into_iter().map(|request| SeccompRule::new(vec![argument(1, SeccompCmpOp::Eq, request)?]));
    rules.insert(libc::SYS_ioctl, requests.collect::<Result<_, _>>()?);
    Ok(rules)
}

/// Refused sockets; no rule means all. Unix sockets are refused always: they lead to services, such as the session bus, that
/// can start programs outside of the sandbox.
fn sockets(network: bool) -> Result<Vec<SeccompRule>, BackendError> {
    if !network {
        return Ok(Vec::new());
    }
    let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let other = families.into_iter().map(|family| argument(0, SeccompCmpOp::Ne, number(family)));
    Ok(vec![SeccompRule::new(other.collect::<Result<_, _>>()?)?])
}

/// A rule for calls whose argument has this value below the mask.
fn masked(index: u8, mask: u64, value: i32) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![argument(index, SeccompCmpOp::MaskedEq(mask), number(value))?])
}

fn argument(index: u8, compare: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, compare, value)
}

/// The bits of a constant.
fn number(constant: i32) -> u64 {
    u64::from(constant.cast_unsigned())
}
