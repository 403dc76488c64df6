//! Rounds that are a workflow: HostAgent and AppAgents decide by its steps, and a model is only asked about a step that cannot be done as
//! it is written.

use super::{phases::ObservedStep, round::SubtaskStatus, state::Session, step::StepPrompt, subtask::assigns};
use crate::{
    agent::SubtaskWorker,
    command::ActionCommandInfo,
    intent::Does,
    observation::Observation,
    prompt::{HealInput, PromptError, heal_texts},
    reply::{AppReply, HealChoice, HealReply, HostReply, ProposedAction, ReplyError},
    states::{AppStatus, HostStatus},
    workflow::{
        Heal, NextWindowStep, Where, WorkflowCalls, WorkflowEnd, WorkflowExecution, WorkflowRun,
        WorkflowStepFailure, stranger_of,
    },
};
use deskhand_ui::WindowView;

impl Session {
    /// Begins a round that is a workflow. Its values and the texts of its steps are the user's, who has made or trusts the file. Of a
    /// stranger's, only the values that were given are; it opens its documents itself, so that each goes through the gate.
    pub(super) fn begin_workflow(&mut self, run: WorkflowRun) {
        let performing = if run.provenance.is_users() {
            for text in run.values.values().cloned().chain(run.workflow.texts()) {
                self.said.add(&text);
            }
            WorkflowExecution::new(run)
        } else {
            run.given().for_each(|text| self.said.add(text));
            self.foreign.add(stranger_of(&run.workflow.name), &run.workflow.texts());
            WorkflowExecution::opening_documents(run)
        };
        self.round.performing = Some(performing);
    }

    /// The HostAgent's decision by the workflow of the round; `None` if the round is none.
    pub(super) fn workflow_decides(&mut self) -> Option<HostReply> {
        let windows = self.targets.windows().to_vec();
        let Some(performing) = self.round.performing.as_mut() else {
            return self.returns_to_interrupted(&windows);
        };
        let label = performing.label();
        let thought = format!("step {label} of the workflow");
        let name = performing.run.workflow.name.clone();
        let place = performing.place(&windows);
        if self.round.nesting.is_running() {
            match &place {
                Where::Done => self.end_nested(SubtaskStatus::Finished, "all steps are done"),
                Where::Stuck(trouble) => self.end_nested(SubtaskStatus::Failed, &stopped(&label, trouble)),
                Where::Window(..) | Where::Start(_) | Where::Host(..) => {}
            }
            if self.round.performing.is_none() {
                return self.returns_to_interrupted(&windows);
            }
        }
        Some(match place {
            Where::Window(window, about) => {
                let subtask = format!("Workflow {name}, from step {label}: {about}");
                assigns(&thought, subtask, Some(window.to_string()), None)
            }
            Where::Start(action) => with_action(&thought, action),
            Where::Host(action, about) => with_action(&about, *action),
            Where::Done => {
                ends(HostStatus::Finish, "all steps of the workflow are done", format!("{name} is done"))
            }
            Where::Stuck(trouble) => {
                ends(HostStatus::Fail, "a step cannot be done", stopped(&label, &trouble))
            }
        })
    }

    /// An AppAgent's decision by the workflow of the round; `None` if the round is none, or a model is to be asked about the step.
    pub(super) fn workflow_acts(
        &mut self,
        worker: SubtaskWorker,
        observation: &Observation,
    ) -> Option<AppReply> {
        let (SubtaskWorker::Window(window), Observation::Window(view)) = (worker, observation) else {
            return None;
        };
        let mut performing = self.round.performing.take()?;
        let label = performing.label();
        let tools = self.tools_of(worker);
        let does =
            |name: &str| tools.iter().find(|tool| tool.name == name).map_or(Does::Other, |tool| tool.does);
        let next = performing.next_in(window, view, &does);
        let performing = self.round.performing.insert(performing);
        Some(match next {
            NextWindowStep::Act(WorkflowCalls { actions, about, are_last }) => {
                let status = if are_last { AppStatus::Finish } else { AppStatus::Continue };
                let result = are_last.then(|| about.clone());
                AppReply { result, ..app_reply(status, &about, actions) }
            }
            NextWindowStep::Elsewhere => {
                app_reply(AppStatus::Finish, "nothing of the workflow is left to do here", Vec::new())
            }
            NextWindowStep::Stuck(trouble) => {
                if performing.heals() {
                    return None;
                }
                let result = Some(stopped(&label, &trouble));
                AppReply { result, ..app_reply(AppStatus::Fail, "the step cannot be done", Vec::new()) }
            }
        })
    }

    /// The question about the step that cannot be done; `None` if there is none.
    pub(super) fn heal_asking(
        &self,
        worker: SubtaskWorker,
        observation: &Observation,
    ) -> Option<Result<StepPrompt, PromptError>> {
        let performing = self.round.performing.as_ref()?;
        let (trouble, Observation::Window(view)) = (performing.trouble()?, observation) else { return None };
        let (app, step) = (self.app(worker)?, performing.step()?);
        let marks = self.marks_of(app);
        let input = HealInput {
            request: &self.round.request,
            label: performing.label(),
            step,
            trouble: &trouble.text,
            memory: &app.memory,
            blackboard: &self.blackboard,
            wording: self.wording,
            view,
            tokens_max: self.config.view.tokens_max,
            marks: &marks,
        };
        let asking = heal_texts(&self.prompts, &input).map(|(system, user)| StepPrompt {
            system,
            examples: Vec::new(),
            user,
            kept: Vec::new(),
            picture: view.picture.clone(),
        });
        Some(asking)
    }

    /// Returns `true` if an agent is asked about a step of a workflow, rather than for its decision.
    pub(super) fn is_healing(&self, worker: SubtaskWorker) -> bool {
        matches!(worker, SubtaskWorker::Window(_)) && self.workflow_is_stuck()
    }

    /// Converts a model's reply about a step into the reply of the agent.
    ///
    /// # Errors
    /// The element is not in the window, or the reply is not valid.
    pub(super) fn healed(&self, observed: &ObservedStep, text: &str) -> Result<AppReply, ReplyError> {
        let reply = HealReply::parse(text)?;
        let (Some(performing), Observation::Window(view)) = (&self.round.performing, &observed.observation)
        else {
            return Err(ReplyError::field("choice", "there is no step to repair"));
        };
        let action = performing.chosen(reply.choice, view);
        let action = action.map_err(|problem| ReplyError::field("element", problem))?;
        let asks = performing.run.heal == Heal::Ask && action.is_some();
        let status = match &action {
            Some(_) if asks => AppStatus::Confirm,
            None if reply.choice == HealChoice::Stop => AppStatus::Fail,
            Some(_) | None => AppStatus::Continue,
        };
        let trouble = performing.trouble().map(|trouble| stopped(&performing.label(), trouble));
        let result = trouble
            .filter(|_| status == AppStatus::Fail)
            .map(|text| format!("{text} A model was asked: {}", reply.thought));
        let reply_to = app_reply(status, &reply.thought, action.into_iter().collect());
        Ok(AppReply { result, heal: Some(reply), ..reply_to })
    }

    /// Takes in what came of a step.
    pub(super) fn workflow_recorded(
        &mut self,
        heal: Option<(&HealReply, &WindowView)>,
        actions: &[ActionCommandInfo],
    ) {
        if let Some(performing) = &mut self.round.performing {
            if let Some((reply, view)) = heal {
                performing.choose(reply, view);
            }
            performing.recorded(actions);
        }
    }

    /// Returns `true` if an agent's decisions are all those of a workflow that asks no model, so that nobody would look at its pictures.
    pub(super) fn acts_without_model(&self) -> bool {
        self.round.performing.as_ref().is_some_and(|performing| performing.run.heal == Heal::Off)
    }

    /// Returns `true` if the workflow of the round cannot go on as it is written.
    pub(super) fn workflow_is_stuck(&self) -> bool {
        self.round.performing.as_ref().is_some_and(|performing| performing.trouble().is_some())
    }

    /// Returns `true` if the round is a workflow that asks no model about its steps.
    pub fn performs_without_model(&self) -> bool {
        self.in_round() && !self.round.nesting.is_running() && self.acts_without_model()
    }

    /// Returns the outcome of the workflow of the round; `None` if the round runs no workflow.
    pub(super) fn workflow_end(&self) -> Option<WorkflowEnd> {
        let is_round = !self.round.nesting.is_running();
        self.round.performing.as_ref().filter(|_| is_round).map(WorkflowExecution::end)
    }
}

/// Formats the step at which a workflow stopped, and the reason.
fn stopped(label: &str, trouble: &WorkflowStepFailure) -> String {
    format!("stopped at step {label}: {}", trouble.text)
}

fn app_reply(status: AppStatus, thought: &str, actions: Vec<ProposedAction>) -> AppReply {
    AppReply {
        observation: String::new(),
        thought: thought.to_owned(),
        status,
        word: status.to_string(),
        actions,
        plan: Vec::new(),
        comment: String::new(),
        questions: Vec::new(),
        result: None,
        control_reannotate: Vec::new(),
        notes: Vec::new(),
        save_picture: None,
        heal: None,
    }
}

/// A HostAgent's decision to run an action and to look again.
fn with_action(thought: &str, action: ProposedAction) -> HostReply {
    let reply = assigns(thought, String::new(), None, Some(action));
    HostReply { status: HostStatus::Continue, subtask: None, ..reply }
}

/// A HostAgent's decision that ends the round.
fn ends(status: HostStatus, thought: &str, result: String) -> HostReply {
    let reply = assigns(thought, String::new(), None, None);
    HostReply { status, subtask: None, result: Some(result), ..reply }
}
