//! Who looks at a task right now, and pictures of its desktop for them. Nothing of it is stored: who is not there misses it.
//!
//! | subject | who says it | what |
//! | --- | --- | --- |
//! | `PREFIX.watch.TASK` | who watches the desktop, every two seconds | that they do; `whole` if the whole screen is wanted |
//! | `PREFIX.attend.TASK` | who can answer what is asked, every two seconds | that they are there |
//! | `PREFIX.screen.TASK.WORKER` | the worker that has the task | frames, in pieces that fit into messages |
//!
//! Who watches listens to the worker that holds the lease, and to no other.

use std::time::Duration;

use async_nats::{HeaderMap, Subscriber};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout_at};

use super::{NatsStore, unknown};
use crate::{
    journal::WorkerId,
    store::StoreError,
    task::{TaskId, is_plain},
};

/// Interval at which a watcher announces itself.
pub const WATCH_EVERY: Duration = Duration::from_secs(2);
/// For how long a worker believes it.
pub const WATCH_HOLDS: Duration = Duration::from_secs(6);
/// Message that requests the whole screen.
const WHOLE: &[u8] = b"whole";
/// The header of a piece: the number of its frame, its own, and how many there are.
const PIECE: &str = "Deskhand-Frame";
/// The size of a piece in bytes, and the most pieces of a frame: servers take messages of a megabyte.
const PIECE_BYTES: usize = 512 * 1024;
const PIECES_MAX: usize = 16;

/// The largest frame in bytes.
pub const FRAME_BYTES_MAX: usize = PIECE_BYTES * PIECES_MAX;

/// The purpose for which a person is present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regard {
    /// They watch the desktop.
    Screen,
    /// They can be asked.
    Questions,
}

/// The announcements of the persons present for a task, as a worker receives them.
pub struct Watchers {
    subscriber: Subscriber,
    until: Option<Instant>,
}

/// A change in who watches, as a worker receives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// Somebody watches. `whole` if they want the whole screen.
    By {
        /// `true` if the whole screen is requested.
        whole: bool,
    },
    /// Nobody does any more.
    ByNobody,
}

impl Watchers {
    /// Returns the next change in who watches; never returns without one.
    pub async fn next(&mut self) -> Attention {
        let said = match self.until {
            Some(until) => timeout_at(until, self.subscriber.next()).await,
            None => Ok(self.subscriber.next().await),
        };
        match said {
            Ok(Some(said)) => {
                self.until = Some(Instant::now() + WATCH_HOLDS);
                Attention::By { whole: said.payload.as_ref() == WHOLE }
            }
            Ok(None) => std::future::pending().await,
            Err(_) => {
                self.until = None;
                Attention::ByNobody
            }
        }
    }
}

/// Frames of the worker that has a task.
pub struct FleetFrameStream {
    subscriber: Subscriber,
    /// The frame that is not whole yet: its number, how many pieces it has, how many have come, and these.
    begun: Option<(u64, usize, usize, BytesMut)>,
    /// The number of the last one.
    last: Option<u64>,
}

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetFrame {
    /// The bytes that the worker sent.
    pub bytes: Bytes,
    /// `true` if it directly follows the previous frame; otherwise the areas it does not contain are unknown.
    pub follows: bool,
}

impl FleetFrameStream {
    /// The next frame; `None` once the connection has ended. Pieces of which others are missing are left out.
    pub async fn next(&mut self) -> Option<FleetFrame> {
        loop {
            let message = self.subscriber.next().await?;
            let Some((number, place, count)) = message.headers.as_ref().and_then(piece_of) else { continue };
            if place == 0 {
                self.begun = Some((number, count, 0, BytesMut::new()));
            }
            let Some((begun, of, came, bytes)) = &mut self.begun else { continue };
            if (*begun, *of, *came) != (number, count, place) || message.payload.len() > PIECE_BYTES {
                self.begun = None;
                continue;
            }
            bytes.extend_from_slice(&message.payload);
            *came += 1;
            if *came == count {
                let bytes = std::mem::take(bytes).freeze();
                let follows = self.last.is_some_and(|last| last.checked_add(1) == Some(number));
                (self.begun, self.last) = (None, Some(number));
                return Some(FleetFrame { bytes, follows });
            }
        }
    }
}

/// Parses the header of a piece; `None` if it is not valid.
fn piece_of(headers: &HeaderMap) -> Option<(u64, usize, usize)> {
    let mut numbers = headers.get(PIECE)?.as_str().split('/');
    let number = numbers.next()?.parse().ok()?;
    let (place, count) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    (place < count && count <= PIECES_MAX).then_some((number, place, count))
}

impl NatsStore {
    fn regard_subject(&self, task: &TaskId, regard: Regard) -> String {
        let word = match regard {
            Regard::Screen => "watch",
            Regard::Questions => "attend",
        };
        format!("{}.{word}.{task}", self.0.prefix)
    }

    /// The subject of the frames of a worker; `None` if no worker can have this name.
    fn screen_subject(&self, task: &TaskId, worker: &WorkerId) -> Option<String> {
        is_plain(&worker.0).then(|| format!("{}.screen.{task}.{}", self.0.prefix, worker.0))
    }

    /// Says that somebody watches the desktop of a task. That holds for [`WATCH_HOLDS`].
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if the connection has ended.
    pub async fn watch(&self, task: &TaskId, whole: bool) -> Result<(), StoreError> {
        let said = if whole { Bytes::from_static(WHOLE) } else { Bytes::new() };
        self.0.client.publish(self.regard_subject(task, Regard::Screen), said).await.map_err(unknown)
    }

    /// Says that somebody can be asked. That holds for [`WATCH_HOLDS`].
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if the connection has ended.
    pub async fn attend(&self, task: &TaskId) -> Result<(), StoreError> {
        let subject = self.regard_subject(task, Regard::Questions);
        self.0.client.publish(subject, Bytes::new()).await.map_err(unknown)
    }

    /// Hears of who is there for a task.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if the connection has ended.
    pub async fn watchers(&self, task: &TaskId, regard: Regard) -> Result<Watchers, StoreError> {
        let subject = self.regard_subject(task, regard);
        let subscriber = self.0.client.subscribe(subject).await.map_err(unknown)?;
        Ok(Watchers { subscriber, until: None })
    }

    /// The frames that this worker sends of a task.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if no worker has such a name, or the connection has ended.
    pub async fn frames(&self, task: &TaskId, worker: &WorkerId) -> Result<FleetFrameStream, StoreError> {
        let subject =
            self.screen_subject(task, worker).ok_or_else(|| unknown("no worker has such a name"))?;
        let subscriber = self.0.client.subscribe(subject).await.map_err(unknown)?;
        Ok(FleetFrameStream { subscriber, begun: None, last: None })
    }

    /// Sends a frame to who watches. One that is larger than [`FRAME_BYTES_MAX`] is left out.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if the connection has ended.
    pub async fn send_frame(
        &self,
        (task, worker): (&TaskId, &WorkerId),
        number: u64,
        mut frame: Bytes,
    ) -> Result<(), StoreError> {
        let Some(subject) = self.screen_subject(task, worker) else { return Ok(()) };
        if frame.len() > FRAME_BYTES_MAX {
            return Ok(());
        }
        let count = frame.len().div_ceil(PIECE_BYTES);
        for place in 0..count {
            let piece = frame.split_to(frame.len().min(PIECE_BYTES));
            let mut headers = HeaderMap::new();
            headers.insert(PIECE, format!("{number}/{place}/{count}").as_str());
            self.0.client.publish_with_headers(subject.clone(), headers, piece).await.map_err(unknown)?;
        }
        Ok(())
    }
}
