//! A model that is somebody else: a session asks, and whoever holds the other end replies.

use std::{fmt, sync::Arc};

use deskhand_machine::model::{ModelFailure, ModelFailureKind, ModelReply, ModelRequest, Usage};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use crate::port::{Model, ModelSigns, PictureSource};

/// The most questions that wait for the holder. A session asks few at once, and waits for the answer anyway: one more waits for room.
const QUESTIONS_MAX: usize = 16;

/// A model whose questions are answered by the holder of [`RelayQuestions`]. Clones ask the same holder.
#[derive(Clone)]
pub struct RelayModel {
    name: Arc<str>,
    asked: mpsc::Sender<RelayQuestion>,
}

/// The questions of a [`RelayModel`], in order. Dropping them fails what is asked, so that the session can go on with another model.
#[derive(Debug)]
pub struct RelayQuestions(mpsc::Receiver<RelayQuestion>);

/// A question that waits for its answer. Dropping it fails the question.
#[derive(Debug)]
pub struct RelayQuestion {
    /// Request to answer.
    pub request: ModelRequest,
    answer: oneshot::Sender<String>,
}

impl RelayModel {
    /// A model and its questions. `name` says who answers, in journals and reports.
    pub fn new(name: impl Into<Arc<str>>) -> (Self, RelayQuestions) {
        let (asked, questions) = mpsc::channel(QUESTIONS_MAX);
        (Self { name: name.into(), asked }, RelayQuestions(questions))
    }
}

impl RelayQuestions {
    /// The next question; `None` when no session asks any more. Cancelling it loses nothing.
    pub async fn next(&mut self) -> Option<RelayQuestion> {
        self.0.recv().await
    }
}

impl RelayQuestion {
    /// Replies. The text is read like that of any model.
    pub fn answer(self, text: String) {
        // A session that was stopped does not wait for it any more.
        self.answer.send(text).ok();
    }
}

impl Model for RelayModel {
    /// Waits as long as it takes.
    async fn ask(
        &self,
        request: &ModelRequest,
        _: &dyn PictureSource,
        _: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        let gone = || ModelFailure::new(ModelFailureKind::Unreachable, format!("{} has gone", self.name));
        let (answer, answered) = oneshot::channel();
        let begun = Instant::now();
        let question = RelayQuestion { request: request.clone(), answer };
        self.asked.send(question).await.map_err(|_| gone())?;
        let text = answered.await.map_err(|_| gone())?;
        Ok(ModelReply {
            text,
            model: self.name.to_string(),
            // It is not paid for by the token here.
            usage: Usage { prompt_tokens: Some(0), cached_tokens: None, completion_tokens: Some(0) },
            attempts: 1,
            elapsed_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            ..ModelReply::default()
        })
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl PartialEq for RelayModel {
    /// Returns `true` if both ask the same holder.
    fn eq(&self, other: &Self) -> bool {
        self.asked.same_channel(&other.asked)
    }
}

impl fmt::Debug for RelayModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Relay").field(&self.name).finish()
    }
}
