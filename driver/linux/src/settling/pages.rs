//! Pages in processes of their own: the process that owns the window answers for them before they have handled an input, so
//! it is asked of the kernel whether they still work.

use std::time::Duration;

use crate::kernel::{MainThreadActivity, processes_of, work_of};

/// Two looks this far apart find the same run times if a process is at rest.
const APART: Duration = Duration::from_millis(8);
/// The most looks: a page that never rests, as one with an animation, is not waited for any longer.
const LOOKS_MAX: usize = 16;

/// Waits until the main threads of a process and of all its descendants are at rest, briefly. There is no event for it;
/// where the kernel does not tell, nothing is waited for.
pub(super) async fn rest(pid: u32) {
    let mut before = work(pid);
    for _ in 0..LOOKS_MAX {
        if before.is_empty() {
            return;
        }
        tokio::time::sleep(APART).await;
        let now = work(pid);
        if now == before && now.iter().all(|one| !one.runs) {
            return;
        }
        before = now;
    }
}

/// The work of a process and its descendants.
fn work(pid: u32) -> Vec<MainThreadActivity> {
    processes_of(pid).into_iter().filter_map(work_of).collect()
}
