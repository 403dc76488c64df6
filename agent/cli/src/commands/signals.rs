//! Signals from a terminal or service manager.

use deskhand_machine::session::StopReason;
use deskhand_runtime::StopSwitch;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream},
};

/// The signals that ask this process to stop, caught once this is created.
pub(super) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl StopSignals {
    /// Starts catching them.
    pub(super) fn catch() -> Result<Self, CliError> {
        let catch = |kind| signal(kind).map_err(|error| CliError::failed_to("catch signals", error));
        Ok(Self {
            interrupt: catch(SignalKind::interrupt())?,
            terminate: catch(SignalKind::terminate())?,
            hang_up: catch(SignalKind::hangup())?,
        })
    }

    /// The next signal.
    pub(super) async fn next(&mut self) -> StopReason {
        tokio::select! {
            _ = self.interrupt.recv() => {
                Output::key_was_shown();
                StopReason::User
            }
            _ = self.terminate.recv() => StopReason::Signal,
            _ = self.hang_up.recv() => StopReason::Signal,
        }
    }

    /// Runs `work` until it ends or a signal arrives, which drops it together with everything it started.
    pub(super) async fn unless_stopped(
        &mut self,
        work: impl Future<Output = CommandResult>,
    ) -> CommandResult {
        tokio::select! {
            result = work => result,
            _ = self.next() => Ok(Exit::Outcome(deskhand_machine::outcome::OutcomeKind::Cancelled)),
        }
    }

    /// Turns signals into stops: the first cancels the current action, which reports what it did; another one drops it.
    /// Never returns.
    pub(super) async fn stop_with(&mut self, switch: &StopSwitch) -> std::convert::Infallible {
        let notes = Output::to(OutputStream::Error);
        loop {
            let reason = self.next().await;
            if switch.reason().is_some() {
                switch.now(reason);
                continue;
            }
            switch.cancel(reason);
            if reason == StopReason::User {
                notes.text("stopping: nothing more is sent; press Ctrl-C again to stop without a report");
            }
        }
    }
}
