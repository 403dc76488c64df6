//! A whole request, carried out by our own agents for a client: with progress, questions to its user, and cancellation.

use std::{convert::Infallible, future::pending, sync::Arc};

use deskhand_core::{record::Line, session::StopReason};
use deskhand_host::{Control, Ended, Host, Notice, Observer, SessionRequest};
use deskhand_runtime::{
    Story,
    story::{Moment, Update},
    words::{agent_words, command_words, effect_word},
};
use rmcp::{
    model::ProgressNotificationParam,
    service::{RequestContext, RoleServer},
};
use tokio::sync::mpsc;

use super::ask::attending;
use crate::desk::{Client, DeskError};

/// Runs a request to its end.
///
/// # Errors
/// No model is configured, or the desktop does not start.
pub(super) async fn run(
    host: &Host,
    request: SessionRequest,
    context: &RequestContext<RoleServer>,
) -> Result<Ended, DeskError> {
    let session = host.start(request)?;
    let user = Arc::new(Client::alone(attending(context.peer.clone())));
    let control = Control { user, ..Control::unattended() };
    let (told, mut news) = mpsc::unbounded_channel();
    let mut telling = Telling { story: Story::default(), told };
    let running = session.run(&control, &mut telling);
    let reporting = async {
        let token = context.meta.get_progress_token();
        let mut done = 0.0;
        while let Some(message) = news.recv().await {
            done += 1.0;
            if let Some(token) = &token {
                let progress = ProgressNotificationParam::new(token.clone(), done).with_message(message);
                // A client that has gone ends the session by its cancellation.
                context.peer.notify_progress(progress).await.ok();
            }
        }
        pending::<Infallible>().await
    };
    let cancelling = async {
        context.ct.cancelled().await;
        control.stop.now(StopReason::User);
        pending::<Infallible>().await
    };
    let ended = tokio::select! {
        ended = running => ended?,
        never = reporting => match never {},
        never = cancelling => match never {},
    };
    ended.ok_or(DeskError::Ended)
}

/// Tells what happens in a few words.
struct Telling {
    story: Story,
    told: mpsc::UnboundedSender<String>,
}

impl Telling {
    fn tell(&self, words: String) {
        // Nobody listens any more: the request was cancelled.
        self.told.send(words).ok();
    }
}

impl Observer for Telling {
    fn record(&mut self, line: &Line) {
        for update in self.story.read(line) {
            let Update::Moment(moment) = update else { continue };
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
        self.tell(notice.to_string());
    }
}
