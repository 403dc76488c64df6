//! Carries what a session of this worker asks to those who look at the fleet, and one answer back.
//!
//! It is a client of the control socket of the session. With `people.channel = "socket"` it is always there, and a question waits until
//! somebody answers; else it is there while somebody has the page of the session open, as it is with sessions of one machine.

use std::path::Path;

use deskhand_fleet::{
    holder::{ANSWERS, QUESTIONS},
    journal::WorkerId,
    nats::{Attention, NatsStore, Regard, Watchers},
    pace::pause,
    store::{FleetStore as _, StoreError},
    task::TaskSpec,
};
use deskhand_runtime::people::connect_control;
use futures_util::StreamExt as _;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
};

use super::wish::{FleetAnswer, FleetQuestion, answer_key};

/// A session that may ask.
pub(super) struct QuestionRelay<'a> {
    pub(super) store: &'a NatsStore,
    pub(super) task: &'a TaskSpec,
    pub(super) worker: &'a WorkerId,
    /// The folder of the session.
    pub(super) folder: &'a Path,
    /// If `true`, questions wait although no client is connected.
    pub(super) waits: bool,
}

/// The questions so far.
#[derive(Default)]
struct RelayedQuestions {
    /// Number of questions.
    count: u64,
    /// The open question.
    now: Option<FleetQuestion>,
    /// The question answered last, in case the answer cannot be used.
    before: Option<FleetQuestion>,
}

impl QuestionRelay<'_> {
    /// Passes on what is asked and answered.
    pub(super) async fn ask(&self) -> std::convert::Infallible {
        let mut asked = RelayedQuestions::default();
        loop {
            if let Err(error) = self.try_ask(&mut asked).await {
                tracing::debug!(%error, task = %self.task.id, "questions are not passed on");
            }
            pause(self.store.times().again).await;
        }
    }

    async fn try_ask(&self, asked: &mut RelayedQuestions) -> Result<(), StoreError> {
        let mut watchers = self.store.watchers(&self.task.id, Regard::Questions).await?;
        if !self.waits {
            while watchers.next().await == Attention::ByNobody {}
        }
        let session = loop {
            match connect_control(self.folder).await {
                Ok(session) => break session,
                // It has not begun.
                Err(_) => pause(self.store.times().again).await,
            }
        };
        // What the worker asked that had the task before.
        self.put(None).await?;
        let passed = self.pass(session, &mut watchers, asked).await;
        self.put(None).await?;
        asked.now = None;
        passed
    }

    /// Passes on until the session has ended, or nobody is there any more.
    async fn pass(
        &self,
        session: UnixStream,
        watchers: &mut Watchers,
        asked: &mut RelayedQuestions,
    ) -> Result<(), StoreError> {
        let (read, mut write) = session.into_split();
        let mut lines = BufReader::new(read).lines();
        let mut answers = self.store.follow_records(&[&format!("{ANSWERS}{}.", self.task.id)]).await?;
        loop {
            tokio::select! {
                line = lines.next_line() => {
                    let Ok(Some(line)) = line else { return Ok(()) };
                    self.heard(&line, asked).await?;
                }
                answer = answers.next() => {
                    let ended = || StoreError::Unknown("the connection has ended".to_owned());
                    let answer = answer.ok_or_else(ended)??;
                    let is_meant = |question: &&FleetQuestion| answer.key == answer_key(&self.task.id, question);
                    let Some(question) = asked.now.as_ref().filter(is_meant) else { continue };
                    let answer = answer.value.as_deref().and_then(|value| FleetAnswer::read(value, self.task, question));
                    let Some(line) = answer else { continue };
                    asked.before = asked.now.take();
                    self.put(None).await?;
                    if write.write_all(format!("{line}\n").as_bytes()).await.is_err() {
                        return Ok(());
                    }
                }
                heard = watchers.next(), if !self.waits => if heard == Attention::ByNobody { return Ok(()) },
            }
        }
    }

    async fn heard(&self, line: &str, asked: &mut RelayedQuestions) -> Result<(), StoreError> {
        let Ok(line) = serde_json::from_str::<Value>(line) else { return Ok(()) };
        let line = match line.get("kind").and_then(Value::as_str) {
            Some("questions" | "approval") => line,
            Some("withdrawn") => {
                asked.now = None;
                return self.put(None).await;
            }
            // The answer was none that it takes: it is asked once more.
            Some("error") => match asked.before.take() {
                Some(question) => question.line,
                None => return Ok(()),
            },
            Some(_) | None => return Ok(()),
        };
        asked.count = asked.count.wrapping_add(1);
        let question = FleetQuestion { key: format!("{}-{}", self.worker.0, asked.count), line };
        self.put(Some(&question)).await?;
        asked.now = Some(question);
        Ok(())
    }

    /// Says what is asked now.
    async fn put(&self, question: Option<&FleetQuestion>) -> Result<(), StoreError> {
        let key = format!("{QUESTIONS}{}", self.task.id);
        let known = self.store.get(&key).await?;
        let text = match question {
            Some(question) => {
                serde_json::to_vec(question).map_err(|error| StoreError::Unknown(error.to_string()))?
            }
            None if known.as_ref().is_none_or(|known| known.value.is_empty()) => return Ok(()),
            None => Vec::new(),
        };
        self.store.put(&key, known.map_or(0, |known| known.revision), &text).await.map(|_| ())
    }
}
