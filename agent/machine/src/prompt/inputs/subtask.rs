//! The messages of agents that work on a sub-task: owners of windows, operators, and agents of other kinds.

use serde::Serialize;

use super::system::{plan_text, readings_of};
use crate::{
    agent::{AgentRef, AgentStatus, AgentSteps},
    blackboard::{Blackboard, SavedPicture},
    memory::{AgentMemory, MemoryItem},
    observation::AgentView,
    prompt::{
        PromptError, PromptSet,
        history::{
            HistoryEntry, InFull, ZoomedPictures, answers_text, fitting_entries, hits_text, notes_text,
            operator_step_text, others_texts, past_text, pictures_text, readings_text, short_step_text,
            step_text, zoomed_text,
        },
        marks::Marks,
        set::render,
        tools_text,
    },
    retrieval::Hit,
    session::SubtaskRecord,
};
use deskhand_ui::{
    PictureRef,
    action::words::CallReportFormatter,
    text::{clip, untrusted},
};

/// The longest view of an agent without a window, in characters.
const VIEW_CHARS_MAX: usize = 12_000;
/// The most of its own steps that are shown to an agent whole; the ones before are shown in short, [`STEPS_AT_ONCE`] more at a time.
const STEPS_WHOLE: usize = 8;
const STEPS_AT_ONCE: usize = 4;
/// Token limit (estimated) for an agent's own steps.
const STEPS_TOKENS_MAX: usize = 6_000;

/// Input common to all agents that work on a sub-task.
pub(crate) struct SubtaskInput<'a> {
    pub(crate) agent: AgentRef,
    pub(crate) request: &'a str,
    pub(crate) subtask: &'a str,
    pub(crate) message: &'a [String],
    pub(crate) subtasks: &'a [SubtaskRecord],
    pub(crate) blackboard: &'a Blackboard,
    pub(crate) memory: &'a AgentMemory,
    pub(crate) wording: CallReportFormatter,
    /// First step of this sub-task; what the cached agent did before is told in brief.
    pub(crate) first_step: u32,
    pub(crate) notice: &'a str,
    /// Hits of retrievers for the sub-task, limited to `hits_tokens` tokens.
    pub(crate) hits: &'a [Hit],
    pub(crate) hits_tokens: u32,
    /// Pictures that other agents stored for it.
    pub(crate) pictures: &'a [SavedPicture],
    /// Pictures that it requested.
    pub(crate) zoomed: ZoomedPictures,
    /// `true` if it can look up earlier readings.
    pub(crate) recalls: bool,
    pub(crate) marks: &'a Marks,
}

/// The fields of both user templates for sub-tasks.
struct SubtaskTexts {
    answers: String,
    found: String,
    trajectories: String,
    subtasks: String,
    notes: String,
    readings: String,
    past: String,
    message: String,
    plan: String,
    steps: String,
    pictures: String,
    zoomed: String,
}

/// The text of a step of an agent's own.
type StepText = fn(&MemoryItem, CallReportFormatter, &Marks) -> String;

impl SubtaskInput<'_> {
    fn texts(&self) -> SubtaskTexts {
        self.texts_with(step_text, short_step_text)
    }

    /// With the newest steps told by `whole`, the ones before by `short`.
    fn texts_with(&self, whole: StepText, short_of: StepText) -> SubtaskTexts {
        let own: Vec<&MemoryItem> = self.memory.items().filter(|item| item.step >= self.first_step).collect();
        let (marks, mut in_full) = (self.marks, InFull::default());
        // Older ones are shortened several at once, so that what stands before the newest stays the same for some steps.
        let short = own.len().saturating_sub(STEPS_WHOLE).div_ceil(STEPS_AT_ONCE) * STEPS_AT_ONCE;
        let entry = |(index, item): (usize, &&MemoryItem)| {
            let told = if index < short { short_of } else { whole };
            let (text, brief) = (told(item, self.wording, marks), marks.line(item.brief.clone()));
            HistoryEntry { text, brief, readings: readings_of(item).collect() }
        };
        let (earlier, dropped) = self.memory.earlier();
        let earlier = earlier.map(|brief| {
            let line = marks.line(brief.to_owned());
            HistoryEntry { text: line.clone(), brief: line, readings: Vec::new() }
        });
        let steps: Vec<HistoryEntry> = earlier.chain(own.iter().enumerate().map(entry)).collect();
        let reader = (&self.agent, marks);
        let (trajectories, subtasks) = others_texts(self.blackboard, self.subtasks, reader, &mut in_full);
        let steps = fitting_entries(&steps, dropped, STEPS_TOKENS_MAX, &mut in_full);
        let steps = if steps.is_empty() { steps } else { untrusted("tool results", &steps) };
        let readings = match self.recalls {
            true => readings_text(self.blackboard, &in_full, marks),
            false => String::new(),
        };
        let message: Vec<String> =
            self.message.iter().map(|line| format!("- {}", marks.told(line))).collect();
        SubtaskTexts {
            answers: answers_text(self.blackboard, marks),
            found: hits_text(self.hits, usize::try_from(self.hits_tokens).unwrap_or(usize::MAX), marks),
            trajectories: marks.number(&trajectories),
            subtasks: marks.number(&subtasks),
            notes: notes_text(self.blackboard, &self.agent, marks),
            readings,
            past: past_text(self.memory, self.subtasks, marks),
            message: message.join("\n"),
            plan: own.last().map(|item| plan_text(&item.plan, marks)).unwrap_or_default(),
            steps: marks.number(&steps),
            pictures: pictures_text(self.pictures, marks),
            zoomed: zoomed_text(&self.zoomed, marks),
        }
    }
}

/// View that an AppAgent has of its window at a step.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct WindowPromptView {
    /// The full listing of the window.
    pub(crate) whole: String,
    /// The step of the listing, if it is an earlier one.
    pub(crate) whole_step: Option<u32>,
    /// The changes since then.
    pub(crate) changes: String,
    /// The windows blocked by a modal dialog.
    pub(crate) behind: String,
    /// Notices about missing parts of the observation.
    pub(crate) notices: Vec<String>,
    /// The picture, if one is attached.
    pub(crate) picture: Option<PictureRef>,
    /// The step whose picture is still valid.
    pub(crate) picture_step: Option<u32>,
}

/// Input of an AppAgent's user message.
pub(crate) struct AppInput<'a> {
    pub(crate) common: SubtaskInput<'a>,
    pub(crate) application: &'a str,
    /// The secrets that may be typed there, and where; empty if there are none.
    pub(crate) secrets: String,
    pub(crate) sight: &'a WindowPromptView,
}

/// An operator's system and user message.
///
/// # Errors
/// [`PromptError`] if a template is invalid.
pub(crate) fn operator_texts(
    prompts: &PromptSet,
    input: &AppInput<'_>,
) -> Result<(String, String), PromptError> {
    #[derive(Serialize)]
    struct NoOperatorVariables {}
    let system = render("operator_system", &prompts.operator_system, &NoOperatorVariables {})?;
    let texts = input.common.texts_with(operator_step_text, operator_step_text);
    Ok((system, user_text("operator_user", &prompts.operator_user, input, texts)?))
}

/// An AppAgent's user message.
///
/// # Errors
/// [`PromptError`] if the template is invalid.
pub(crate) fn app_user_text(template: &str, input: &AppInput<'_>) -> Result<String, PromptError> {
    user_text("app_user", template, input, input.common.texts())
}

/// The user message of the owner of a window.
fn user_text(
    name: &'static str,
    template: &str,
    input: &AppInput<'_>,
    texts: SubtaskTexts,
) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct WindowPromptVariables {
        answers: String,
        found: String,
        trajectories: String,
        subtasks: String,
        notes: String,
        readings: String,
        past: String,
        pictures: String,
        zoomed: String,
        request: String,
        subtask: String,
        message: String,
        plan: String,
        steps: String,
        notice: String,
        secrets: String,
        application: String,
        surfaces: String,
        seen_at: Option<u32>,
        changes: String,
        behind: String,
        view_notices: String,
        picture_at: Option<u32>,
    }
    let (marks, sight) = (input.common.marks, input.sight);
    let view_notices = match sight.notices.join("\n") {
        none if none.is_empty() => none,
        // A detector may quote a server's response.
        notices => untrusted("detectors", &notices),
    };
    let message = render(
        name,
        template,
        &WindowPromptVariables {
            answers: texts.answers,
            found: texts.found,
            trajectories: texts.trajectories,
            subtasks: texts.subtasks,
            notes: texts.notes,
            readings: texts.readings,
            past: texts.past,
            pictures: texts.pictures,
            zoomed: texts.zoomed,
            request: marks.said(input.common.request),
            subtask: marks.told(input.common.subtask),
            message: texts.message,
            plan: texts.plan,
            steps: texts.steps,
            notice: marks.told(input.common.notice),
            secrets: input.secrets.clone(),
            application: marks.name("desktop", input.application),
            surfaces: marks.number(&sight.whole),
            seen_at: sight.whole_step,
            changes: marks.number(&sight.changes),
            behind: marks.number(&sight.behind),
            view_notices: marks.number(&view_notices),
            picture_at: sight.picture_step,
        },
    )?;
    Ok(marks.introduced(message))
}

/// Input of the user message of an agent of another kind.
pub(crate) struct AgentInput<'a> {
    pub(crate) common: SubtaskInput<'a>,
    /// Its last status on the sub-task.
    pub(crate) word: Option<&'a str>,
    pub(crate) steps: &'a AgentSteps,
    pub(crate) view: &'a AgentView,
}

/// The system message of an agent of another kind.
///
/// # Errors
/// [`PromptError`] if the template is invalid.
pub(crate) fn agent_system_text(name: &str, steps: &AgentSteps) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct AgentSystemVariables<'a> {
        name: &'a str,
        instructions: &'a str,
        statuses: String,
        tools: String,
    }
    let line = |status: &AgentStatus| {
        let next = match status.next.as_slice() {
            [] => String::new(),
            next => format!(" Only {} may follow.", next.join(", ")),
        };
        format!("- {}: {}{next}", status.word, status.description)
    };
    render(
        "agent_system",
        &steps.system_prompt,
        &AgentSystemVariables {
            name,
            instructions: steps.instructions.trim(),
            statuses: steps.statuses.iter().map(line).collect::<Vec<_>>().join("\n"),
            tools: tools_text(&steps.tools),
        },
    )
}

/// The user message of an agent of another kind.
///
/// # Errors
/// [`PromptError`] if the template is invalid.
pub(crate) fn agent_user_text(input: &AgentInput<'_>) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct AgentUserVariables<'a> {
        answers: String,
        found: String,
        trajectories: String,
        subtasks: String,
        notes: String,
        readings: String,
        past: String,
        pictures: String,
        request: String,
        subtask: String,
        message: String,
        plan: String,
        steps: String,
        notice: String,
        status: &'a str,
        view: String,
    }
    let (texts, marks) = (input.common.texts(), input.common.marks);
    let first = input.steps.statuses.first().map(|status| status.word.as_str()).unwrap_or_default();
    let view = input.view.text.trim();
    let message = render(
        "agent_user",
        &input.steps.user_prompt,
        &AgentUserVariables {
            answers: texts.answers,
            found: texts.found,
            trajectories: texts.trajectories,
            subtasks: texts.subtasks,
            notes: texts.notes,
            readings: texts.readings,
            past: texts.past,
            pictures: texts.pictures,
            request: marks.said(input.common.request),
            subtask: marks.told(input.common.subtask),
            message: texts.message,
            plan: texts.plan,
            steps: texts.steps,
            notice: marks.told(input.common.notice),
            status: input.word.unwrap_or(first),
            view: if view.is_empty() {
                String::new()
            } else {
                marks.number(&untrusted(&input.common.agent.to_string(), &clip(view, VIEW_CHARS_MAX)))
            },
        },
    )?;
    Ok(marks.introduced(message))
}
