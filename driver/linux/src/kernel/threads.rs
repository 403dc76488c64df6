//! Sleep of a thread, and its duration: `/proc/PID/task/TID/syscall` names the system call that it sleeps in,
//! with its arguments, among them the timeout (`proc_pid_syscall(5)`).

use std::{
    cell::OnceCell,
    fs::{self, File},
    os::unix::fs::FileExt as _,
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};

use super::processes::Stat;

/// Threads of browsers whose timers bring nothing about, by their names: they watch over the others, count memory, or draw
/// what a page has decided (`base/threading/hang_watcher.cc`, `gpu/ipc/service/gpu_watchdog_thread.cc`,
/// `services/resource_coordinator/memory_instrumentation` and `cc/trees` of Chromium,
/// `toolkit/components/backgroundhangmonitor` of Firefox).
const ASIDE: [&str; 6] =
    ["HangWatcher", "GpuWatchdog", "MemoryInfra", "Compositor", "BHMgr Monitor", "BHMgr Processor"];

/// Returns the minimum time that a thread sleeps on, in a process whose memory is `memory`; a timeout that is
/// relative counts from now. `None` if it works, and where the kernel does not report it.
pub(super) fn sleeps_for(pid: u32, thread: u32, memory: &ProcessMemory) -> Option<Duration> {
    let task = format!("/proc/{pid}/task/{thread}");
    let Some(stat) = Stat::read(&format!("{task}/stat")) else { return Some(Duration::MAX) };
    match stat.state {
        'S' if ASIDE.contains(&stat.name.as_str()) => return Some(Duration::MAX),
        'S' => {}
        // It has ended, or was stopped.
        'Z' | 'X' | 'x' | 'T' | 't' => return Some(Duration::MAX),
        _ => return None,
    }
    let call = BlockedSystemCall::parse(&fs::read_to_string(format!("{task}/syscall")).ok()?)?;
    call.timeout(memory)
}

/// The memory of another process.
trait ProcessMemoryReader {
    /// Two words at an address: a `timespec` or `timeval`.
    fn pair(&self, address: u64) -> Option<(i64, i64)>;
}

/// The memory of a process, opened when it is first read.
pub(super) struct ProcessMemory {
    pid: u32,
    file: OnceCell<Option<File>>,
}

impl ProcessMemory {
    pub(super) const fn of(pid: u32) -> Self {
        Self { pid, file: OnceCell::new() }
    }
}

impl ProcessMemoryReader for ProcessMemory {
    fn pair(&self, address: u64) -> Option<(i64, i64)> {
        let mut bytes = [0; 16];
        let file = self.file.get_or_init(|| File::open(format!("/proc/{}/mem", self.pid)).ok());
        file.as_ref()?.read_exact_at(&mut bytes, address).ok()?;
        let word = |at: usize| Some(i64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        Some((word(0)?, word(8)?))
    }
}

/// The system call that a thread sleeps in.
#[derive(Debug, PartialEq, Eq)]
struct BlockedSystemCall {
    number: i64,
    arguments: [u64; 6],
}

impl BlockedSystemCall {
    /// Parses the line of the kernel; `None` if the thread runs, or sleeps outside of a call.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let number = words.next()?.parse().ok().filter(|number| *number >= 0)?;
        let mut arguments = [0; 6];
        for argument in &mut arguments {
            *argument = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        }
        Some(Self { number, arguments })
    }

    /// When the call returns without anything else happening.
    fn timeout(&self, memory: &impl ProcessMemoryReader) -> Option<Duration> {
        let [first, second, third, fourth, fifth, _] = self.arguments;
        #[cfg(target_arch = "x86_64")]
        match self.number {
            libc::SYS_poll => return Some(milliseconds(third)),
            libc::SYS_epoll_wait => return Some(milliseconds(fourth)),
            libc::SYS_select => return interval(memory, fifth, 1_000),
            _ => {}
        }
        match self.number {
            libc::SYS_epoll_pwait => Some(milliseconds(fourth)),
            libc::SYS_ppoll | libc::SYS_rt_sigtimedwait => interval(memory, third, 1),
            libc::SYS_epoll_pwait2 | libc::SYS_semtimedop => interval(memory, fourth, 1),
            libc::SYS_pselect6 => interval(memory, fifth, 1),
            libc::SYS_nanosleep => interval(memory, first, 1),
            libc::SYS_clock_nanosleep if second & TIMER_ABSTIME == 0 => interval(memory, third, 1),
            libc::SYS_clock_nanosleep => until(memory, third, first == 0),
            libc::SYS_futex => futex(memory, second, fourth),
            libc::SYS_read
            | libc::SYS_readv
            | libc::SYS_recvfrom
            | libc::SYS_recvmsg
            | libc::SYS_accept
            | libc::SYS_accept4
            | libc::SYS_wait4
            | libc::SYS_waitid
            | libc::SYS_flock => Some(Duration::MAX),
            _ => None,
        }
    }
}

/// `TIMER_ABSTIME` of `clock_nanosleep(2)`.
const TIMER_ABSTIME: u64 = 1;

/// A timeout in milliseconds as an `int`; a negative one is none.
fn milliseconds(argument: u64) -> Duration {
    let low = u32::try_from(argument & u64::from(u32::MAX)).unwrap_or_default();
    u64::try_from(low.cast_signed()).map_or(Duration::MAX, Duration::from_millis)
}

/// The interval at an address, whose second word counts units of so many nanoseconds; no address is no timeout.
fn interval(memory: &impl ProcessMemoryReader, address: u64, unit_ns: i64) -> Option<Duration> {
    if address == 0 {
        return Some(Duration::MAX);
    }
    let (seconds, rest) = memory.pair(address)?;
    duration(seconds, rest.checked_mul(unit_ns)?)
}

fn duration(seconds: i64, nanoseconds: i64) -> Option<Duration> {
    let nanoseconds = u32::try_from(nanoseconds).ok().filter(|one| *one < 1_000_000_000)?;
    Some(Duration::new(u64::try_from(seconds).ok()?, nanoseconds))
}

/// Returns the time until the moment stored at an address, of the real-time clock or the monotonic one.
fn until(memory: &impl ProcessMemoryReader, address: u64, is_real_time: bool) -> Option<Duration> {
    let clock = if is_real_time { ClockId::Realtime } else { ClockId::Monotonic };
    let now = clock_gettime(clock);
    let at = interval(memory, address, 1)?;
    Some(at.saturating_sub(duration(now.tv_sec, now.tv_nsec)?))
}

/// `futex(2)`: only some operations take an interval, the others a time.
fn futex(memory: &impl ProcessMemoryReader, operation: u64, timeout: u64) -> Option<Duration> {
    const PRIVATE: u64 = 128;
    const CLOCK_REALTIME: u64 = 256;
    const WAIT: u64 = 0;
    const LOCK_PI: u64 = 6;
    const WAIT_BITSET: u64 = 9;
    if timeout == 0 {
        return Some(Duration::MAX);
    }
    match operation & !(PRIVATE | CLOCK_REALTIME) {
        WAIT => interval(memory, timeout, 1),
        WAIT_BITSET => until(memory, timeout, operation & CLOCK_REALTIME != 0),
        LOCK_PI => until(memory, timeout, true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A memory that holds one pair at every address.
    struct Holds(i64, i64);

    impl ProcessMemoryReader for Holds {
        fn pair(&self, _address: u64) -> Option<(i64, i64)> {
            Some((self.0, self.1))
        }
    }

    fn call(number: i64, arguments: [u64; 6]) -> BlockedSystemCall {
        BlockedSystemCall { number, arguments }
    }

    #[test]
    fn a_call_is_parsed_with_its_arguments_and_a_running_thread_has_none() {
        let line = format!("{} 0x5581 0x3 0x1f4 0x0 0x0 0x0 0x7ffd 0x7fca\n", libc::SYS_ppoll);
        assert_eq!(BlockedSystemCall::parse(&line), Some(call(libc::SYS_ppoll, [0x5581, 3, 500, 0, 0, 0])));
        for line in ["running\n", "-1 0x7ffd 0x7fca\n", "", "270 0x1"] {
            assert_eq!(BlockedSystemCall::parse(line), None, "{line}");
        }
    }

    #[test]
    fn timeouts_of_calls_are_read_as_the_manual_defines_them() {
        let holds = Holds(2, 500_000_000);
        let half = Duration::from_millis(2_500);
        let waits = call(libc::SYS_epoll_pwait, [9, 1, 8, 250, 0, 0]);
        assert_eq!(waits.timeout(&holds), Some(Duration::from_millis(250)));
        let waits = call(libc::SYS_epoll_pwait, [9, 1, 8, 0xffff_ffff, 0, 0]);
        assert_eq!(waits.timeout(&holds), Some(Duration::MAX), "-1 is no timeout");
        assert_eq!(call(libc::SYS_ppoll, [9, 1, 0x70, 0, 8, 0]).timeout(&holds), Some(half));
        assert_eq!(call(libc::SYS_ppoll, [9, 1, 0, 0, 8, 0]).timeout(&holds), Some(Duration::MAX));
        assert_eq!(call(libc::SYS_futex, [9, 128, 0, 0x70, 0, 0]).timeout(&holds), Some(half));
        assert_eq!(call(libc::SYS_futex, [9, 137, 0, 0, 0, 0]).timeout(&holds), Some(Duration::MAX));
        let past = call(libc::SYS_futex, [9, 137 | 256, 0, 0x70, 0, 0]);
        assert_eq!(past.timeout(&holds), Some(Duration::ZERO), "1970 is over");
        assert_eq!(call(libc::SYS_read, [9, 1, 0x70, 0, 8, 0]).timeout(&holds), Some(Duration::MAX));
        assert_eq!(call(libc::SYS_getrandom, [9, 1, 0x70, 0, 8, 0]).timeout(&holds), None, "not known");
        let wrong = Holds(1, 2_000_000_000);
        assert_eq!(call(libc::SYS_ppoll, [9, 1, 0x70, 0, 8, 0]).timeout(&wrong), None, "no time");
    }
}
