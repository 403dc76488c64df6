//! Several sessions, one after the other or side by side, and what came of each.

use std::{collections::VecDeque, sync::Arc};

use deskhand_core::{money::Cost, outcome::OutcomeKind};
use deskhand_runtime::StopSwitch;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use super::{
    session::{Ended, SessionPlan, Teller},
    task_file::Task,
};
use crate::{
    exit::CliError,
    people::UserSide,
    render::{TaskRow, seconds},
};

/// What came of a task. Stands in its file of the results folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TaskResult {
    pub(super) id: String,
    pub(super) request: String,
    pub(super) outcome: OutcomeKind,
    pub(super) reason: String,
    /// None where the session did not even begin.
    pub(super) session_id: Option<String>,
    pub(super) session_path: Option<std::path::PathBuf>,
    pub(super) steps: u32,
    pub(super) calls: u32,
    pub(super) model_calls: u32,
    pub(super) prompt_tokens: u64,
    pub(super) completion_tokens: u64,
    pub(super) cost: Cost,
    pub(super) elapsed_ms: u64,
    pub(super) exit_code: u8,
}

impl TaskResult {
    fn of(task: &Task, ended: Result<Option<Ended>, CliError>) -> Self {
        let mut result = Self {
            id: task.id.clone(),
            request: task.request().to_owned(),
            outcome: OutcomeKind::Cancelled,
            reason: "stopped before the request began".to_owned(),
            session_id: None,
            session_path: None,
            steps: 0,
            calls: 0,
            model_calls: 0,
            prompt_tokens: 0,
            completion_tokens: 0,
            cost: Cost::default(),
            elapsed_ms: 0,
            exit_code: OutcomeKind::Cancelled.exit_code(),
        };
        match ended {
            Ok(None) => {}
            Ok(Some(ended)) => {
                let (outcome, tally) = (ended.outcome(), &ended.summary.tally);
                result.outcome = outcome.kind;
                result.reason = outcome.reason;
                result.session_id = Some(ended.end.session.0.clone());
                result.session_path = Some(ended.end.folder.path().to_owned());
                result.steps = tally.steps;
                result.calls = tally.calls;
                result.model_calls = tally.model_calls;
                result.prompt_tokens = tally.prompt_tokens;
                result.completion_tokens = tally.completion_tokens;
                result.cost = tally.cost;
                result.elapsed_ms = ended.elapsed_ms;
            }
            Err(error) => {
                result.outcome = OutcomeKind::Error;
                result.reason = error.to_string();
            }
        }
        result.exit_code = result.outcome.exit_code();
        result
    }

    /// Whether it came to a result of its own; what broke or was stopped did not.
    pub(super) const fn is_done(&self) -> bool {
        match self.outcome {
            OutcomeKind::Finished
            | OutcomeKind::Failed
            | OutcomeKind::Rejected
            | OutcomeKind::BudgetExhausted => true,
            OutcomeKind::Cancelled | OutcomeKind::Error => false,
        }
    }

    /// Its row in the table.
    pub(super) fn row(&self) -> TaskRow {
        TaskRow {
            id: self.id.clone(),
            outcome: self.outcome,
            steps: self.steps,
            model_calls: self.model_calls,
            tokens: self.prompt_tokens.saturating_add(self.completion_tokens),
            cost: self.cost.to_string(),
            time: seconds(self.elapsed_ms),
        }
    }
}

/// How the sessions are run.
pub(super) struct Many {
    pub(super) parallel: usize,
    pub(super) user: Arc<UserSide>,
    pub(super) stop: StopSwitch,
    /// Whether each session is told as it goes on.
    pub(super) told: bool,
}

impl Many {
    /// Runs the sessions. `begun` and `ended` are told of each; after a stop none is begun any more.
    ///
    /// # Errors
    /// What `ended` reports; the sessions that are going on are dropped then.
    pub(super) async fn run(
        self,
        mut waiting: VecDeque<(Task, SessionPlan)>,
        begun: impl Fn(&Task),
        mut ended: impl FnMut(TaskResult) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let mut running: JoinSet<TaskResult> = JoinSet::new();
        loop {
            while running.len() < self.parallel
                && self.stop.reason().is_none()
                && let Some((task, plan)) = waiting.pop_front()
            {
                begun(&task);
                let (user, stop, told) = (self.user.clone(), self.stop.clone(), self.told);
                running.spawn(async move {
                    let ended = one(&plan, &stop, &user, told).await;
                    TaskResult::of(&task, ended)
                });
            }
            match running.join_next().await {
                None => return Ok(()),
                Some(Ok(result)) => ended(result)?,
                Some(Err(error)) => return Err(CliError::failed_to("run a task to its end", error)),
            }
        }
    }
}

async fn one(
    plan: &SessionPlan,
    stop: &StopSwitch,
    user: &UserSide,
    told: bool,
) -> Result<Option<Ended>, CliError> {
    let model = plan.model.clone().open()?;
    let mut teller = told.then(|| Teller::new(plan));
    let mut observer = |line: &deskhand_core::record::Line| {
        if let Some(teller) = &mut teller {
            teller.tell(line);
        }
    };
    plan.run(&model, stop, user, &mut observer).await
}
