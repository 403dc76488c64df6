//! The evaluation of a round that the agents report as finished: by rules over its record, then by a model.
//!
//! It runs between the HostAgent's FINISH and the outcome. Its judgement is added to the outcome and never replaces it;
//! once per round, `no` may return the work to the HostAgent.

use serde::{Deserialize, Serialize};

use super::{
    asking::{model_request, with_words},
    effect::{Effect, StepRef},
    event::SessionEvent,
    ledgers::Ledgers,
    phases::{ObservedStep, StepStart},
    round::{SubtaskRecord, SubtaskStatus},
    step::unexpected_event,
    step_agent::StepPrompt,
    turn::{MachineTurn, NextMove},
};
use crate::{
    agent::AgentRef,
    command::CallStatus,
    evaluation::{Evaluation, Judge, Judgement, SubScore},
    model::ReplyKind,
    observation::{DesktopView, Observation, ObservationTarget},
    outcome::{Outcome, OutcomeKind},
    prompt::{EvaluationInput, PromptError, PromptSet, evaluation_user_text, system_message},
    reply::{EvaluationReply, evaluation_reply_schema, parse_evaluation_reply},
};
use deskhand_ui::{action::Verdict, text::one_line};

/// A round under evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct EvaluationState {
    /// The result that the agents report.
    result: String,
    findings: Vec<EvaluationFinding>,
    phase: EvaluatingPhase,
}

/// The progress of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EvaluatingPhase {
    /// Observing the desktop.
    Looking(StepStart),
    /// Asking the model.
    Asking(ObservedStep),
}

/// The finding of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct EvaluationFinding {
    name: String,
    judgement: Judgement,
    reason: String,
}

impl EvaluationFinding {
    fn new(name: &str, judgement: Judgement, reason: impl Into<String>) -> Self {
        Self { name: name.to_owned(), judgement, reason: reason.into() }
    }
}

impl EvaluationState {
    /// Starts the evaluation; `None` if rounds are not evaluated.
    pub(super) fn begin(ledgers: &mut Ledgers, result: &str) -> Option<MachineTurn<Self>> {
        ledgers.config.evaluate.as_ref()?;
        let findings = findings(ledgers);
        // No model is needed if the record already decides.
        if let Some(against) = findings.iter().find(|finding| finding.judgement == Judgement::No) {
            let reason = against.reason.clone();
            let judged = evaluation_of(ledgers, &findings, Judgement::No, reason, Vec::new(), Judge::Rules);
            return Some(judged_as(ledgers, result, judged).into());
        }
        if let Some(reason) = ledgers.no_budget() {
            let reason = format!("no model was asked, because {reason}");
            return Some(undecided(ledgers, result, &findings, reason).into());
        }
        ledgers.budget.count_step(ledgers.plans.is_nested());
        let number = ledgers.budget.steps();
        let step = ledgers.step_ref(number, AgentRef::EvaluationAgent, String::new(), /*taken*/ 0);
        let phase = EvaluatingPhase::Looking(StepStart { step: step.clone(), looks_failed: 0 });
        let state = Self { result: result.to_owned(), findings, phase };
        Some(state.looks(ledgers, step))
    }

    fn looks(self, ledgers: &Ledgers, step: StepRef) -> MachineTurn<Self> {
        let look = ObservationTarget::Desktop { picture: ledgers.config.pictures };
        MachineTurn::Wait(self, Some(step), Effect::Observe { look })
    }

    /// Handles an event for the evaluation.
    pub(super) fn apply(self, ledgers: &mut Ledgers, event: SessionEvent) -> MachineTurn<Self> {
        let judging = JudgedResult { result: self.result, findings: self.findings };
        match (self.phase, event) {
            (EvaluatingPhase::Looking(start), SessionEvent::Observed { observation }) => {
                judging.asks(ledgers, start, observation)
            }
            // The record can be judged without a last observation.
            (EvaluatingPhase::Looking(start), SessionEvent::ObserveFailed { .. }) => {
                judging.asks(ledgers, start, Observation::Desktop(DesktopView::default()))
            }
            (EvaluatingPhase::Asking(observed), SessionEvent::Replied { reply, .. }) => {
                ledgers.count_reply(&reply);
                match parse_evaluation_reply(&reply.text) {
                    Ok(EvaluationReply { complete, reason, sub_scores }) => {
                        let JudgedResult { result, findings } = judging;
                        let judged =
                            evaluation_of(ledgers, &findings, complete, reason, sub_scores, Judge::Model);
                        judged_as(ledgers, &result, judged).into()
                    }
                    Err(error) => judging.repairs(ledgers, observed, &reply.text, &error.to_string()),
                }
            }
            (EvaluatingPhase::Asking(_), SessionEvent::ModelFailed { failure }) => {
                ledgers.count_model_failure(&failure);
                let reason = format!("the model call failed: {failure}");
                undecided(ledgers, &judging.result, &judging.findings, reason).into()
            }
            (EvaluatingPhase::Looking(_) | EvaluatingPhase::Asking(_), event) => {
                NextMove::BreakOff(unexpected_event("judging a round", &event)).into()
            }
        }
    }

    /// Returns the number of the user's words in the question that is next, if there is one.
    pub(super) const fn words_asked(&self) -> Option<u32> {
        match &self.phase {
            EvaluatingPhase::Asking(observed) => Some(observed.words),
            EvaluatingPhase::Looking(_) => None,
        }
    }

    /// Asks again, with what the user said since; gives itself back if it does not wait for a model.
    #[expect(clippy::result_large_err, reason = "what is given back is moved once and lives on")]
    pub(super) fn ask_again(self, ledgers: &mut Ledgers) -> Result<MachineTurn<Self>, Self> {
        let Self { result, findings, phase } = self;
        match phase {
            EvaluatingPhase::Asking(observed) => {
                Ok(JudgedResult { result, findings }.sends(ledgers, observed))
            }
            phase @ EvaluatingPhase::Looking(_) => Err(Self { result, findings, phase }),
        }
    }

    /// Looks again because a person took over; gives itself back if nothing was seen yet.
    #[expect(clippy::result_large_err, reason = "what is given back is moved once and lives on")]
    pub(super) fn taken_over(self, ledgers: &Ledgers) -> Result<MachineTurn<Self>, Self> {
        let Self { result, findings, phase } = self;
        match phase {
            phase @ EvaluatingPhase::Looking(_) => Err(Self { result, findings, phase }),
            EvaluatingPhase::Asking(observed) => {
                let start = observed.restart();
                let step = start.step.clone();
                let phase = EvaluatingPhase::Looking(start);
                Ok(Self { result, findings, phase }.looks(ledgers, step))
            }
        }
    }

    /// Ends the round that was stopped during its evaluation, after the agents had finished it.
    pub(super) fn stop(&self, ledgers: &Ledgers) -> NextMove {
        let reason = "stopped before the evaluation".to_owned();
        let evaluation =
            evaluation_of(ledgers, &self.findings, Judgement::Unsure, reason, Vec::new(), Judge::Rules);
        NextMove::Conclude(Box::new(Outcome {
            evaluation: Some(evaluation),
            ..Outcome::new(OutcomeKind::Finished, self.result.clone())
        }))
    }
}

/// The result under judgement, and what the rules found.
struct JudgedResult {
    result: String,
    findings: Vec<EvaluationFinding>,
}

impl JudgedResult {
    fn asks(
        self,
        ledgers: &mut Ledgers,
        start: StepStart,
        observation: Observation,
    ) -> MachineTurn<EvaluationState> {
        match self.prompt(ledgers, &observation) {
            Ok(asking) => {
                let (messages, words) = (asking.messages(), ledgers.people.remarks_count());
                let observed = ObservedStep { words, ..start.observed(observation, messages) };
                self.sends(ledgers, observed)
            }
            Err(error) => NextMove::BreakOff(error.to_string()).into(),
        }
    }

    fn prompt(&self, ledgers: &Ledgers, observation: &Observation) -> Result<StepPrompt, PromptError> {
        let windows = match observation {
            Observation::Desktop(view) => view.windows.as_slice(),
            Observation::Window(_) | Observation::Agent(_) => &[],
        };
        let lines: Vec<String> = self
            .findings
            .iter()
            .map(|finding| {
                format!("- {}: {} ({})", finding.name, finding.judgement, one_line(&finding.reason))
            })
            .collect();
        let marks = ledgers.marks(&format!("EvaluationAgent {}", ledgers.budget.steps()));
        let input = EvaluationInput {
            request: ledgers.round.request(),
            blackboard: &ledgers.blackboard,
            subtasks: ledgers.round.subtasks(),
            result: &self.result,
            findings: &lines.join("\n"),
            windows,
            marks: &marks,
        };
        let picture = observation.picture().cloned();
        let PromptSet { evaluation_system, evaluation_examples, .. } = &ledgers.prompts;
        let system = system_message("evaluation_system", evaluation_system, &[], evaluation_examples);
        system.and_then(|system| {
            Ok(StepPrompt {
                system,
                examples: Vec::new(),
                user: evaluation_user_text(&ledgers.prompts, &input)?,
                kept: Vec::new(),
                picture,
            })
        })
    }

    fn sends(self, ledgers: &mut Ledgers, observed: ObservedStep) -> MachineTurn<EvaluationState> {
        let observed = with_words(ledgers, observed);
        let Self { result, findings } = self;
        match model_request(ledgers, (ReplyKind::Evaluation, evaluation_reply_schema()), &observed) {
            Ok(request) => {
                let step = observed.step.clone();
                let phase = EvaluatingPhase::Asking(observed);
                MachineTurn::Wait(
                    EvaluationState { result, findings, phase },
                    Some(step),
                    Effect::Ask { request },
                )
            }
            Err(reason) => undecided(ledgers, &result, &findings, reason).into(),
        }
    }

    fn repairs(
        self,
        ledgers: &mut Ledgers,
        observed: ObservedStep,
        said: &str,
        problem: &str,
    ) -> MachineTurn<EvaluationState> {
        if observed.repairs >= ledgers.config.limits.repairs_max {
            let reason = format!("the model's reply was invalid: {problem}");
            return undecided(ledgers, &self.result, &self.findings, reason).into();
        }
        match ledgers.prompts.repair_message(problem, /*operates*/ false) {
            Ok(message) => self.sends(ledgers, observed.with_repair(said, message)),
            Err(error) => NextMove::BreakOff(error.to_string()).into(),
        }
    }
}

fn undecided(
    ledgers: &mut Ledgers,
    result: &str,
    findings: &[EvaluationFinding],
    reason: String,
) -> NextMove {
    let judged = evaluation_of(ledgers, findings, Judgement::Unsure, reason, Vec::new(), Judge::Rules);
    judged_as(ledgers, result, judged)
}

/// Applies the judgement: the round ends, or the HostAgent continues.
fn judged_as(ledgers: &mut Ledgers, result: &str, evaluation: Evaluation) -> NextMove {
    let repairs = ledgers.config.evaluate.as_ref().is_some_and(|evaluate| evaluate.repair);
    let again = evaluation.complete == Judgement::No
        && repairs
        && !evaluation.repaired
        && ledgers.no_budget().is_none();
    if !again {
        let outcome = Outcome::new(OutcomeKind::Finished, result);
        return NextMove::Conclude(Box::new(Outcome { evaluation: Some(evaluation), ..outcome }));
    }
    let notice = format!(
        "You replied FINISH, but an evaluation found that the request is not fulfilled: {} Correct that, then \
             reply FINISH again, or FAIL with the reason.",
        evaluation.reason
    );
    ledgers.round.repaired(evaluation);
    // As at the start of a round: FINISH is terminal.
    ledgers.plans.set_next(None);
    ledgers.agents.host_mut().begin_round();
    ledgers.agents.host_mut().desk_mut().set_notice(notice);
    NextMove::HostStep
}

fn evaluation_of(
    ledgers: &Ledgers,
    findings: &[EvaluationFinding],
    complete: Judgement,
    reason: String,
    scores: Vec<SubScore>,
    by: Judge,
) -> Evaluation {
    let found =
        findings.iter().map(|finding| SubScore { name: finding.name.clone(), evaluation: finding.judgement });
    Evaluation {
        complete,
        reason,
        sub_scores: found.chain(scores).collect(),
        by,
        repaired: ledgers.round.repair().is_some(),
    }
}

/// The findings of the rules.
fn findings(ledgers: &Ledgers) -> Vec<EvaluationFinding> {
    vec![subtasks_done(ledgers.round.subtasks()), last_effects(ledgers)]
}

/// Checks that the last action of each agent had an observed effect.
fn last_effects(ledgers: &Ledgers) -> EvaluationFinding {
    const NAME: &str = "the last effects were seen";
    let first_step = ledgers.budget.steps().saturating_sub(ledgers.budget.tally().steps).saturating_add(1);
    let items = ledgers.agents.apps().iter().filter_map(|app| app.desk().memory().last());
    let actions: Vec<_> =
        items.filter(|item| item.step >= first_step).flat_map(|item| &item.actions).collect();
    let doubtful = actions.iter().find(|info| {
        info.result.status != CallStatus::Success
            || matches!(info.result.effect, Some(Verdict::NotSeen | Verdict::Refused | Verdict::Unknown))
    });
    match doubtful {
        Some(info) => {
            let effect = info.result.effect.map_or("failed", Verdict::word);
            EvaluationFinding::new(
                NAME,
                Judgement::Unsure,
                format!(
                    "{} ended as {effect}: {}",
                    info.command.tool,
                    ledgers.wording.of(&info.result.report)
                ),
            )
        }
        None if actions.is_empty() => {
            EvaluationFinding::new(NAME, Judgement::Unsure, "no agent acted at the end")
        }
        None => EvaluationFinding::new(NAME, Judgement::Yes, "each was read back or observed"),
    }
}

/// Checks that the last sub-task finished. A failed one counts unless a later one finished.
fn subtasks_done(subtasks: &[SubtaskRecord]) -> EvaluationFinding {
    const NAME: &str = "the last sub-task finished";
    match subtasks.last() {
        None => EvaluationFinding::new(NAME, Judgement::Unsure, "no sub-task was assigned"),
        Some(last) if last.status == SubtaskStatus::Finished => EvaluationFinding::new(
            NAME,
            Judgement::Yes,
            "its agent reported it and no action of that step failed",
        ),
        Some(last) => EvaluationFinding::new(
            NAME,
            Judgement::No,
            format!("the last sub-task, “{}”, ended as {}: {}", last.subtask, last.status, last.result),
        ),
    }
}
