//! Shows the desktop of a session of this worker, for as long as somebody watches.
//!
//! Who watches says so every few seconds. Meanwhile frames are sent: the whole screen first, then what changed, the newest only, at most five
//! times and two megabytes a second. Nothing is read from the screen while nobody watches.

use std::time::Duration;

use axum::body::Bytes;
use deskhand_fleet::{
    journal::WorkerId,
    nats::{Attention, NatsStore, Regard, Watchers},
    pace::pause,
    task::TaskId,
};
use deskhand_host::live::{LiveScreen, ScreenPlace};
use tokio::time::Instant;

/// The least time between two frames.
const REST_MIN: Duration = Duration::from_millis(200);
/// The most bytes a second.
const BYTES_A_SECOND: u64 = 2 << 20;
/// The least time between two pictures of the whole screen, however many come to watch.
const WHOLE_EVERY: Duration = Duration::from_secs(1);

/// A session that can be watched.
pub(super) struct SessionScreencast<'a> {
    pub(super) store: &'a NatsStore,
    pub(super) screen: &'a ScreenPlace,
    pub(super) task: &'a TaskId,
    pub(super) worker: &'a WorkerId,
}

impl SessionScreencast<'_> {
    /// Sends frames whenever somebody watches.
    pub(super) async fn show(&self) -> std::convert::Infallible {
        let mut number = 0;
        loop {
            match self.store.watchers(self.task, Regard::Screen).await {
                Ok(mut watchers) => loop {
                    match watchers.next().await {
                        Attention::By { .. } => self.film(&mut watchers, &mut number).await,
                        Attention::ByNobody => {}
                    }
                },
                Err(error) => {
                    tracing::debug!(%error, task = %self.task, "nobody can watch");
                    pause(self.store.times().again).await;
                }
            }
        }
    }

    /// Sends frames until nobody watches any more, or the desktop has ended.
    async fn film(&self, watchers: &mut Watchers, number: &mut u64) {
        let Some(mut screen) = self.screen().await else { return };
        let (mut next, mut whole_at) = (Instant::now(), Instant::now());
        loop {
            let frame = async {
                pause(next.saturating_duration_since(Instant::now())).await;
                screen.next().await
            };
            tokio::select! {
                heard = watchers.next() => match heard {
                    Attention::ByNobody => return,
                    Attention::By { whole: true } if whole_at.elapsed() > WHOLE_EVERY => {
                        let Some(anew) = self.screen().await else { return };
                        (screen, whole_at) = (anew, Instant::now());
                    }
                    Attention::By { .. } => {}
                },
                frame = frame => {
                    let Ok(frame) = frame else { return };
                    let bytes = Bytes::from(frame.to_message());
                    let takes = u64::try_from(bytes.len()).unwrap_or(u64::MAX).saturating_mul(1_000) / BYTES_A_SECOND;
                    next = Instant::now() + REST_MIN.max(Duration::from_millis(takes));
                    *number = number.wrapping_add(1);
                    if let Err(error) = self.store.send_frame((self.task, self.worker), *number, bytes).await {
                        tracing::debug!(%error, task = %self.task, "a frame was not sent");
                    }
                }
            }
        }
    }

    async fn screen(&self) -> Option<LiveScreen> {
        match self.screen.open().await {
            Ok(screen) => screen,
            Err(error) => {
                tracing::debug!(%error, task = %self.task, "the desktop cannot be shown");
                None
            }
        }
    }
}
