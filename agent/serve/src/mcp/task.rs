//! A whole request, carried out by our own agents for a client: with progress, questions to its user, and cancellation.

use std::{convert::Infallible, future::pending, sync::Arc};

use deskhand_host::{Control, EndedSession, Host, Notice, Observer, SessionRequest};
use deskhand_machine::{record::JournalEntry, session::StopReason};
use deskhand_runtime::{
    Story,
    story::{Moment, StoryUpdate},
    words::{agent_words, command_words, effect_word},
};

use super::{
    ask::ActiveCall as Reached,
    protocol::{Level, McpCall},
};
use crate::desk::{DeskError, DeskUserChannel};

/// Runs a request to its end.
///
/// # Errors
/// No model is configured, or the desktop does not start.
pub(super) async fn run(
    host: &Host,
    request: SessionRequest,
    call: &Arc<McpCall>,
) -> Result<EndedSession, DeskError> {
    let session = host.start(request)?;
    let user = Arc::new(DeskUserChannel::alone(Reached::of(call).attending()));
    let control = Control { user, ..Control::unattended() };
    let mut telling = TaskProgressReporter { story: Story::default(), call: Arc::clone(call) };
    let running = session.run(&control, &mut telling);
    let cancelling = async {
        call.cancelled().await;
        control.stop.cancel(StopReason::User);
        pending::<Infallible>().await
    };
    let ended = tokio::select! {
        ended = running => ended?,
        never = cancelling => match never {},
    };
    ended.ok_or(DeskError::Ended)
}

/// Tells what happens in a few words.
struct TaskProgressReporter {
    story: Story,
    call: Arc<McpCall>,
}

impl TaskProgressReporter {
    fn tell(&self, words: String) {
        self.call.progress(words);
    }
}

impl Observer for TaskProgressReporter {
    fn record(&mut self, line: &JournalEntry) {
        for update in self.story.read(line) {
            let StoryUpdate::Moment(moment) = update else { continue };
            match *moment {
                Moment::Assigned(step) => {
                    self.tell(format!("{}: {}", agent_words(&step.agent), step.subtask));
                }
                Moment::Acted { command, result, .. } => {
                    self.tell(format!("{}: {}", command_words(&command, None), effect_word(&result)));
                }
                Moment::ModelFailed(failure) => self.tell(failure.to_string()),
                Moment::Opened
                | Moment::SubtaskEnded { .. }
                | Moment::Looked
                | Moment::Replied { .. }
                | Moment::Delegated(_)
                | Moment::Asked(_)
                | Moment::UserReply(_)
                | Moment::Noted(_) => {}
            }
        }
    }

    fn notice(&mut self, notice: &Notice) {
        if notice.is_warning() {
            self.call.log(Level::Warning, notice.to_string());
        }
        self.tell(notice.to_string());
    }
}
