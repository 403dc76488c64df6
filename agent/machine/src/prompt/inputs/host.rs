//! The HostAgent's message.

use serde::Serialize;

use super::system::{plan_text, readings_of};
use crate::{
    agent::AgentRef,
    blackboard::{Blackboard, SavedPicture},
    memory::{AgentMemory, MemoryItem},
    prompt::{
        PromptError, PromptSet,
        history::{
            InFull, WORDS_TOKENS_MAX, answers_text, fitting, hits_text, notes_text, others_texts,
            pictures_text, readings_text, step_text,
        },
        marks::Marks,
        set::render,
        targets_text,
    },
    retrieval::Hit,
    session::SubtaskRecord,
    target::TargetRegistry,
};
use deskhand_ui::{
    InstalledApplication,
    action::words::CallReportFormatter,
    text::{clip, one_line, untrusted},
};

/// Token limit (estimated) for the HostAgent's own steps before its last one.
const STEPS_TOKENS_MAX: usize = 2_000;
/// The most of them that are told.
const STEPS_SHOWN: usize = 12;

/// Input of the HostAgent's user message.
pub(crate) struct HostInput<'a> {
    pub(crate) request: &'a str,
    pub(crate) targets: &'a TargetRegistry,
    pub(crate) subtasks: &'a [SubtaskRecord],
    pub(crate) blackboard: &'a Blackboard,
    pub(crate) memory: &'a AgentMemory,
    pub(crate) wording: CallReportFormatter,
    pub(crate) notice: &'a str,
    /// Hits of retrievers, limited to `hits_tokens` tokens.
    pub(crate) hits: &'a [Hit],
    pub(crate) hits_tokens: u32,
    /// Pictures that other agents stored for it.
    pub(crate) pictures: &'a [SavedPicture],
    /// Installed applications; `None` if they have not been determined.
    pub(crate) applications: Option<&'a [InstalledApplication]>,
    pub(crate) marks: &'a Marks,
}

/// The HostAgent's user message.
///
/// # Errors
/// [`PromptError`] if the template is invalid.
pub(crate) fn host_user_text(prompts: &PromptSet, input: &HostInput<'_>) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct HostPromptVariables {
        requests: String,
        answers: String,
        found: String,
        trajectories: String,
        subtasks: String,
        notes: String,
        readings: String,
        plan: String,
        steps: String,
        last_step: String,
        notice: String,
        pictures: String,
        targets: String,
        request: String,
    }
    let (last, marks, mut in_full) = (input.memory.last(), input.marks, InFull::default());
    let requests: Vec<String> =
        input.blackboard.requests().map(|request| request_line(request, input)).collect();
    let reader = (&AgentRef::HostAgent, marks);
    let (trajectories, subtasks) = others_texts(input.blackboard, input.subtasks, reader, &mut in_full);
    let last_step = last.map(|item| untrusted("tool results", &step_text(item, input.wording, marks)));
    in_full.add(last.iter().flat_map(|item| readings_of(item)));
    let message = render(
        "host_user",
        &prompts.host_user,
        &HostPromptVariables {
            requests: fitting(&requests, WORDS_TOKENS_MAX),
            answers: answers_text(input.blackboard, marks),
            found: hits_text(input.hits, usize::try_from(input.hits_tokens).unwrap_or(usize::MAX), marks),
            trajectories: marks.number(&trajectories),
            subtasks: marks.number(&subtasks),
            notes: notes_text(input.blackboard, reader.0, marks),
            readings: readings_text(input.blackboard, &in_full, marks),
            plan: last.map(|item| plan_text(&item.plan, marks)).unwrap_or_default(),
            steps: host_steps(input),
            last_step: marks.number(&last_step.unwrap_or_default()),
            notice: marks.told(input.notice),
            pictures: pictures_text(input.pictures, marks),
            targets: marks.number(&targets_text(input.targets, input.applications)),
            request: marks.said(input.request),
        },
    )?;
    Ok(marks.introduced(message))
}

/// An earlier request with its outcome. What agents said of it may quote what they read.
fn request_line(request: &str, input: &HostInput<'_>) -> String {
    const REASON_CHARS_MAX: usize = 160;
    let ended = input.memory.past().rev().find(|past| past.work == request);
    let outcome = ended.map(|past| {
        let reason = clip(&one_line(&past.result), REASON_CHARS_MAX);
        input.marks.told(&format!(" → {}: {reason}", past.status))
    });
    format!("- {}{}", input.marks.said(&one_line(request)), outcome.unwrap_or_default())
}

/// The HostAgent's steps before its last one, a line each: what it decided, not what came of it, which the sub-tasks tell.
fn host_steps(input: &HostInput<'_>) -> String {
    let line = |item: &MemoryItem| {
        let subtask = if item.subtask.is_empty() {
            String::new()
        } else {
            format!(" “{}”", one_line(&item.subtask))
        };
        let thought = one_line(&item.thought);
        input.marks.told(&format!("- Step {}: {}{subtask}: {thought}", item.step, item.status))
    };
    let mut lines: Vec<String> = input.memory.items().rev().skip(1).map(line).collect();
    let (earlier, dropped) = input.memory.earlier();
    let more = earlier.count().saturating_add(usize::try_from(dropped).unwrap_or(usize::MAX));
    let left_out = lines.len().saturating_sub(STEPS_SHOWN).saturating_add(more);
    lines.truncate(STEPS_SHOWN);
    lines.reverse();
    if left_out > 0 {
        lines.insert(0, format!("({left_out} earlier ones are not listed)"));
    }
    fitting(&lines, STEPS_TOKENS_MAX)
}
