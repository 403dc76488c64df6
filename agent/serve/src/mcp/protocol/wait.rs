//! A request that waits for its call: it tells progress, asks the client, and passes a cancellation on.

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, FutureExt as _};
use rmcp::{
    ErrorData,
    model::{InputRequiredResult, ProgressNotificationParam, ProgressToken},
    service::{RequestContext, RoleServer},
};
use tokio::{
    sync::broadcast::error::RecvError,
    time::{Instant, MissedTickBehavior, interval},
};

use super::{
    answers::ask_peer,
    call::{CallNotification, McpCall, McpCallState, PendingInputRequests},
    logs::{self, Least},
    requests::CatalogReply,
};

/// Maximum interval between progress messages to a client that requested them. The promise is a second.
const TOLD_EVERY: Duration = Duration::from_millis(500);

/// The end of a request.
pub(super) enum McpCallWaitOutcome {
    Served(Result<CatalogReply, ErrorData>),
    /// Since 2026-07-28: the client has to answer, and to ask again.
    Needs(InputRequiredResult),
}

/// The way that questions are answered: by repeating the request, or in reply to a request of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElicitationRoute {
    ByResult,
    ByRequest,
}

/// Waits for a call.
pub(super) async fn wait(
    call: &Arc<McpCall>,
    context: &RequestContext<RoleServer>,
    asks: ElicitationRoute,
    least: Option<Least>,
) -> McpCallWaitOutcome {
    let waiter = call.wait_for();
    let (mut status, mut news) = (call.status(), call.news());
    let mut telling = CallProgressNotifier::new(context, least);
    let mut ticks = interval(TOLD_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut asking: Option<BoxFuture<'_, ()>> = None;
    loop {
        tokio::select! {
            biased;
            () = context.ct.cancelled() => {
                waiter.cancel();
                return McpCallWaitOutcome::Served(Err(ErrorData::internal_error("the request was cancelled", None)));
            }
            told = news.recv() => match told {
                Ok(told) => telling.tell(told).await,
                Err(RecvError::Lagged(_)) => {}
                // The call holds the other end.
                Err(RecvError::Closed) => return broke_off(),
            },
            changed = status.changed() => {
                if changed.is_err() {
                    return broke_off();
                }
                let now = status.borrow_and_update().clone();
                match (now, asks) {
                    (McpCallState::Running, _) => asking = None,
                    // The call goes on in a moment.
                    (McpCallState::Asking(asked), _) if asked.is_over() => {}
                    (McpCallState::Done(served), _) => {
                        while let Ok(told) = news.try_recv() {
                            telling.tell(told).await;
                        }
                        call.delivered();
                        return McpCallWaitOutcome::Served(served.as_ref().clone());
                    }
                    (McpCallState::Asking(asked), ElicitationRoute::ByResult) => return McpCallWaitOutcome::Needs(needed(&asked)),
                    (McpCallState::Asking(asked), ElicitationRoute::ByRequest) => asking = Some(ask(context, asked).boxed()),
                }
            }
            () = async { if let Some(asking) = asking.as_mut() { asking.await } }, if asking.is_some() => asking = None,
            _ = ticks.tick() => telling.tick().await,
        }
    }
}

fn broke_off() -> McpCallWaitOutcome {
    McpCallWaitOutcome::Served(Err(ErrorData::internal_error("the call broke off", None)))
}

fn needed(asked: &PendingInputRequests) -> InputRequiredResult {
    InputRequiredResult::new(Some(asked.requests.clone()), Some(asked.state.clone()))
}

async fn ask(context: &RequestContext<RoleServer>, asked: Arc<PendingInputRequests>) {
    match ask_peer(&context.peer, &asked.requests).await {
        Some(responses) if asked.answer(&responses) => {}
        Some(_) | None => asked.give_up(),
    }
}

/// Tells a client of its call.
struct CallProgressNotifier<'a> {
    context: &'a RequestContext<RoleServer>,
    token: Option<ProgressToken>,
    least: Option<Least>,
    begun: Instant,
    told: Instant,
    /// The last progress: it has to increase.
    progress: f64,
    message: Option<String>,
    /// `true` if the call counts its own progress, so that time is not progress.
    counted: bool,
}

impl<'a> CallProgressNotifier<'a> {
    fn new(context: &'a RequestContext<RoleServer>, least: Option<Least>) -> Self {
        let now = Instant::now();
        let token = context.meta.get_progress_token();
        Self { context, token, least, begun: now, told: now, progress: -1.0, message: None, counted: false }
    }

    async fn tell(&mut self, news: CallNotification) {
        match news {
            CallNotification::Progress { message, done } => {
                self.message = Some(message.clone());
                self.counted |= done.is_some();
                let (progress, total) = match done {
                    Some((done, total)) => (done, Some(total)),
                    None => (self.seconds(), None),
                };
                self.send(progress, total, message).await;
            }
            CallNotification::Log { level, text } => {
                if self.least.is_some_and(|least| least.admits(level)) {
                    logs::write(&self.context.peer, level, text).await;
                }
            }
        }
    }

    /// Says that the call goes on, unless something was said meanwhile.
    async fn tick(&mut self) {
        if self.counted || self.told.elapsed() < TOLD_EVERY {
            return;
        }
        let seconds = self.seconds();
        let what = self.message.as_deref().unwrap_or("in progress");
        self.send(seconds, None, format!("{what} ({seconds:.0} s)")).await;
    }

    fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    async fn send(&mut self, progress: f64, total: Option<f64>, message: String) {
        let Some(token) = &self.token else { return };
        if progress <= self.progress {
            return;
        }
        self.progress = progress;
        self.told = Instant::now();
        let told = ProgressNotificationParam::new(token.clone(), progress).with_message(message);
        let told = match total {
            Some(total) => told.with_total(total),
            None => told,
        };
        // A client that has gone ends its requests.
        self.context.peer.notify_progress(told).await.ok();
    }
}
