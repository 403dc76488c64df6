//! The evaluation of a round that the agents report as finished: by rules over its record, then by a model.
//!
//! It runs between the HostAgent's FINISH and the outcome. Its judgement is added to the outcome and never replaces it;
//! once per round, `no` may return the work to the HostAgent.

use super::{
    effect::Effect,
    evaluation_state::{EvaluatingPhase, EvaluationFinding, EvaluationState},
    event::SessionEvent,
    host::HostAgentKind,
    phases::{ObservedStep, StepStart},
    round::{SubtaskRecord, SubtaskStatus},
    state::{Session, SessionStage},
    step::{StepPrompt, messages, unexpected_event},
};
use crate::{
    agent::AgentRef,
    command::CallStatus,
    evaluation::{Evaluation, Judge, Judgement, SubScore},
    model::ReplyKind,
    observation::{DesktopView, Observation, ObservationTarget},
    outcome::{Outcome, OutcomeKind},
    prompt::{EvaluationInput, PromptSet, evaluation_user_text, system_message},
    reply::{EvaluationReply, evaluation_reply_schema, parse_evaluation_reply},
};
use deskhand_ui::{action::Verdict, text::one_line};

impl Session {
    /// Starts the evaluation; false if rounds are not evaluated.
    pub(super) fn begin_evaluation(&mut self, result: &str) -> bool {
        if self.config.evaluate.is_none() {
            return false;
        }
        let findings = self.findings();
        // No model is needed if the record already decides.
        if let Some(against) = findings.iter().find(|finding| finding.judgement == Judgement::No) {
            let reason = against.reason.clone();
            let judged = self.evaluation_of(&findings, Judgement::No, reason, Vec::new(), Judge::Rules);
            self.judged(result, judged);
            return true;
        }
        if let Some(reason) = self.no_budget() {
            self.undecided(result, &findings, format!("no model was asked, because {reason}"));
            return true;
        }
        self.count_step();
        let step = self.step_ref(self.steps, AgentRef::EvaluationAgent, String::new(), /*taken*/ 0);
        let look = ObservationTarget::Desktop { picture: self.config.pictures };
        let phase = EvaluatingPhase::Looking(StepStart { step: step.clone(), looks_failed: 0 });
        let stage = SessionStage::Evaluating(Box::new(EvaluationState {
            result: result.to_owned(),
            findings,
            phase,
        }));
        self.want(stage, Some(step), Effect::Observe { look });
        true
    }

    /// Handles an event for the evaluation.
    pub(super) fn evaluation_event(&mut self, evaluating: EvaluationState, event: SessionEvent) {
        let EvaluationState { result, findings, phase } = evaluating;
        match (phase, event) {
            (EvaluatingPhase::Looking(start), SessionEvent::Observed { observation }) => {
                self.evaluation_asks(result, findings, start, observation);
            }
            // The record can be judged without a last observation.
            (EvaluatingPhase::Looking(start), SessionEvent::ObserveFailed { .. }) => {
                let nothing = Observation::Desktop(DesktopView::default());
                self.evaluation_asks(result, findings, start, nothing);
            }
            (EvaluatingPhase::Asking(observed), SessionEvent::Replied { reply, .. }) => {
                self.count_reply(&reply);
                match parse_evaluation_reply(&reply.text) {
                    Ok(EvaluationReply { complete, reason, sub_scores }) => {
                        let judged =
                            self.evaluation_of(&findings, complete, reason, sub_scores, Judge::Model);
                        self.judged(&result, judged);
                    }
                    Err(error) => {
                        self.evaluation_repairs(result, findings, observed, &reply.text, &error.to_string());
                    }
                }
            }
            (EvaluatingPhase::Asking(_), SessionEvent::ModelFailed { failure }) => {
                self.count_model_failure(&failure);
                self.undecided(&result, &findings, format!("the model call failed: {failure}"));
            }
            (EvaluatingPhase::Looking(_) | EvaluatingPhase::Asking(_), event) => {
                self.break_off(unexpected_event("judging a round", &event));
            }
        }
    }

    fn evaluation_asks(
        &mut self,
        result: String,
        findings: Vec<EvaluationFinding>,
        start: StepStart,
        observation: Observation,
    ) {
        let windows = match &observation {
            Observation::Desktop(view) => view.windows.as_slice(),
            Observation::Window(_) | Observation::Agent(_) => &[],
        };
        let lines: Vec<String> = findings
            .iter()
            .map(|finding| {
                format!("- {}: {} ({})", finding.name, finding.judgement, one_line(&finding.reason))
            })
            .collect();
        let marks = self.marks(&format!("EvaluationAgent {}", self.steps));
        let input = EvaluationInput {
            request: &self.round.request,
            blackboard: &self.blackboard,
            subtasks: &self.round.subtasks,
            result: &result,
            findings: &lines.join("\n"),
            windows,
            marks: &marks,
        };
        let picture = observation.picture().cloned();
        let PromptSet { evaluation_system, evaluation_examples, .. } = &self.prompts;
        let system = system_message("evaluation_system", evaluation_system, &[], evaluation_examples);
        let asking = system.and_then(|system| {
            Ok(StepPrompt {
                system,
                examples: Vec::new(),
                user: evaluation_user_text(&self.prompts, &input)?,
                kept: Vec::new(),
                picture,
            })
        });
        match asking {
            Ok(asking) => {
                let (messages, words) = (messages(asking), self.words.count());
                let observed = ObservedStep { words, ..start.observed(observation, messages) };
                self.evaluation_sends(result, findings, observed);
            }
            Err(error) => self.break_off(error.to_string()),
        }
    }

    fn evaluation_sends(&mut self, result: String, findings: Vec<EvaluationFinding>, observed: ObservedStep) {
        let observed = self.with_words(observed);
        match self.model_request((ReplyKind::Evaluation, evaluation_reply_schema()), &observed) {
            Ok(request) => {
                let step = observed.step.clone();
                let phase = EvaluatingPhase::Asking(observed);
                let stage = SessionStage::Evaluating(Box::new(EvaluationState { result, findings, phase }));
                self.want(stage, Some(step), Effect::Ask { request });
            }
            Err(reason) => self.undecided(&result, &findings, reason),
        }
    }

    /// Asks again, with what the user said since.
    pub(super) fn evaluation_asks_again(&mut self, evaluating: EvaluationState) {
        let EvaluationState { result, findings, phase } = evaluating;
        match phase {
            EvaluatingPhase::Asking(observed) => self.evaluation_sends(result, findings, observed),
            phase @ EvaluatingPhase::Looking(_) => {
                self.stage = SessionStage::Evaluating(Box::new(EvaluationState { result, findings, phase }));
            }
        }
    }

    fn evaluation_repairs(
        &mut self,
        result: String,
        findings: Vec<EvaluationFinding>,
        observed: ObservedStep,
        said: &str,
        problem: &str,
    ) {
        if observed.repairs >= self.config.limits.repairs_max {
            self.undecided(&result, &findings, format!("the model's reply was invalid: {problem}"));
            return;
        }
        match self.prompts.repair_message(problem, /*operates*/ false) {
            Ok(message) => self.evaluation_sends(result, findings, observed.with_repair(said, message)),
            Err(error) => self.break_off(error.to_string()),
        }
    }

    /// A round stopped during its evaluation, after the agents had finished it.
    pub(super) fn evaluation_stopped(&mut self, evaluating: &EvaluationState) {
        let reason = "stopped before the evaluation".to_owned();
        let evaluation =
            self.evaluation_of(&evaluating.findings, Judgement::Unsure, reason, Vec::new(), Judge::Rules);
        self.conclude(Outcome {
            evaluation: Some(evaluation),
            ..Outcome::new(OutcomeKind::Finished, evaluating.result.clone())
        });
    }

    fn undecided(&mut self, result: &str, findings: &[EvaluationFinding], reason: String) {
        let judged = self.evaluation_of(findings, Judgement::Unsure, reason, Vec::new(), Judge::Rules);
        self.judged(result, judged);
    }

    /// Applies the judgement: the round ends, or the HostAgent continues.
    fn judged(&mut self, result: &str, evaluation: Evaluation) {
        let repairs = self.config.evaluate.as_ref().is_some_and(|evaluate| evaluate.repair);
        let again = evaluation.complete == Judgement::No
            && repairs
            && !evaluation.repaired
            && self.no_budget().is_none();
        if !again {
            let outcome = Outcome::new(OutcomeKind::Finished, result);
            self.conclude(Outcome { evaluation: Some(evaluation), ..outcome });
            return;
        }
        let notice = format!(
            "You replied FINISH, but an evaluation found that the request is not fulfilled: {} Correct that, then \
             reply FINISH again, or FAIL with the reason.",
            evaluation.reason
        );
        self.evaluated = Some((self.rounds, evaluation));
        // As at the start of a round: FINISH is terminal.
        self.round.next = None;
        self.host.begin_round();
        self.host.notice = notice;
        self.begin_step(HostAgentKind);
    }

    fn evaluation_of(
        &self,
        findings: &[EvaluationFinding],
        complete: Judgement,
        reason: String,
        scores: Vec<SubScore>,
        by: Judge,
    ) -> Evaluation {
        let found = findings
            .iter()
            .map(|finding| SubScore { name: finding.name.clone(), evaluation: finding.judgement });
        Evaluation {
            complete,
            reason,
            sub_scores: found.chain(scores).collect(),
            by,
            repaired: self.repair_of_round().is_some(),
        }
    }

    /// The judgement for which the current round was continued, if it was.
    pub(super) fn repair_of_round(&self) -> Option<&Evaluation> {
        self.evaluated.as_ref().filter(|(round, _)| *round == self.rounds).map(|(_, evaluation)| evaluation)
    }

    /// The findings of the rules.
    fn findings(&self) -> Vec<EvaluationFinding> {
        vec![subtasks_done(&self.round.subtasks), self.last_effects()]
    }

    /// Checks that the last action of each agent had an observed effect.
    fn last_effects(&self) -> EvaluationFinding {
        const NAME: &str = "the last effects were seen";
        let first_step = self.steps.saturating_sub(self.round.spent.tally.steps).saturating_add(1);
        let items = self.apps.iter().filter_map(|app| app.memory.last());
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
                        self.wording.of(&info.result.report)
                    ),
                )
            }
            None if actions.is_empty() => {
                EvaluationFinding::new(NAME, Judgement::Unsure, "no agent acted at the end")
            }
            None => EvaluationFinding::new(NAME, Judgement::Yes, "each was read back or observed"),
        }
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
