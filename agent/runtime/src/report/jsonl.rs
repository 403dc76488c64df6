//! One flat line of JSON per step, for other programs. `docs/guides/reports.md` documents the fields.

use deskhand_machine::{
    command::{CallResult, ToolCommand},
    model::{MessagePart, Speaker},
};
use deskhand_ui::PictureRef;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    ReportError,
    overview::{ReportOverview, cost_of, total},
    sink::ReportSink,
    target::windows_of,
    times::utc_words,
    words::{NoteLine, TalkLine},
};
use crate::{
    journal::SessionFolder,
    story::{ActStory, AskResult, Chapter, StepStory, tell},
};

/// The version of the fields; incremented when one changes its meaning or is removed.
const FIELDS_VERSION: u32 = 1;

#[derive(Serialize)]
struct StepJsonLine<'a> {
    version: u32,
    session: &'a str,
    program: &'a str,
    desktop: &'a str,
    round: u32,
    request: &'a str,
    round_outcome: Option<&'static str>,
    round_reason: Option<&'a str>,
    step: u32,
    agent: String,
    subtask: Option<&'a str>,
    began: String,
    began_ms: u64,
    elapsed_ms: u64,
    observe_ms: u64,
    ask_ms: u64,
    act_ms: u64,
    record_ms: u64,
    waited_ms: u64,
    window: Option<String>,
    window_title: Option<String>,
    application: Option<String>,
    picture: Option<String>,
    picture_region: Option<[i32; 4]>,
    instructions: String,
    prompt: String,
    reply: Option<String>,
    repairs: u32,
    status: Option<String>,
    observation: Option<String>,
    thought: Option<String>,
    plan: Vec<String>,
    comment: Option<String>,
    assigned: Option<String>,
    message: Vec<String>,
    result: Option<String>,
    problem: Option<String>,
    model: Option<String>,
    model_calls: u32,
    prompt_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    cost_micros: Option<u64>,
    actions: Vec<ActionLine<'a>>,
    talks: Vec<TalkLine>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct ActionLine<'a> {
    tool: &'a str,
    arguments: &'a Map<String, Value>,
    line: String,
    target_id: Option<&'a str>,
    target_name: Option<&'a str>,
    target_role: Option<&'a str>,
    target_bounds: Option<[i32; 4]>,
    status: &'static str,
    effect: Option<&'static str>,
    route: Option<&'static str>,
    summary: Option<String>,
    output: &'a Value,
    picture: Option<String>,
    elapsed_ms: Option<u64>,
}

/// Writes the lines.
pub(super) fn write_jsonl(folder: &SessionFolder, out: &mut ReportSink<'_>) -> Result<(), ReportError> {
    let overview = ReportOverview::of(folder)?;
    tell(folder, |chapter| match chapter {
        Chapter::Step(step) => out.json(&step_line(&step, &overview)),
        Chapter::Begun(_)
        | Chapter::Talk(_)
        | Chapter::Note(_)
        | Chapter::Ended { .. }
        | Chapter::Left { .. } => Ok(()),
    })?;
    Ok(())
}

fn filled(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// The non-system texts of a step's last request.
pub(super) fn prompt_of(step: &StepStory, speaker: Speaker) -> String {
    let messages = step.asks.last().map(|ask| ask.messages.as_slice()).unwrap_or_default();
    let parts =
        messages.iter().filter(|message| message.speaker == speaker).flat_map(|message| &message.parts);
    let texts = parts.filter_map(|part| match part {
        MessagePart::Text { text } => Some(text.as_str()),
        MessagePart::Picture { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The last reply of a step.
pub(super) fn reply_of(step: &StepStory) -> Option<&deskhand_machine::model::ModelReply> {
    step.asks.iter().rev().find_map(|ask| match &ask.result {
        AskResult::Reply(reply) => Some(reply),
        AskResult::Failure(_) | AskResult::Nothing => None,
    })
}

fn tokens(step: &StepStory, count: impl Fn(&deskhand_machine::model::Usage) -> Option<u64>) -> Option<u64> {
    let counts = step.asks.iter().filter_map(|ask| match &ask.result {
        AskResult::Reply(reply) => Some(count(&reply.usage)),
        AskResult::Failure(_) | AskResult::Nothing => None,
    });
    counts.sum()
}

fn step_line<'a>(step: &'a StepStory, overview: &'a ReportOverview) -> StepJsonLine<'a> {
    let outcome = overview.outcome_of(step.round);
    let seen = step.observation.as_ref();
    let own =
        if step.subtask.is_empty() { None } else { seen.and_then(|seen| windows_of(seen).first().copied()) };
    let picture = seen.and_then(deskhand_machine::observation::Observation::picture);
    let said = step.decision.clone().unwrap_or_default();
    let attempts = step.asks.iter().map(|ask| match &ask.result {
        AskResult::Reply(reply) => reply.attempts,
        AskResult::Failure(failure) => failure.attempts,
        AskResult::Nothing => 0,
    });
    StepJsonLine {
        version: FIELDS_VERSION,
        session: &overview.header.session.0,
        program: &overview.header.program,
        desktop: &overview.header.desktop,
        round: step.round,
        request: overview.request_of(step.round),
        round_outcome: outcome.map(|outcome| outcome.kind.word()),
        round_reason: outcome.map(|outcome| outcome.reason.as_str()),
        step: step.number,
        agent: step.agent.to_string(),
        subtask: Some(step.subtask.as_str()).filter(|subtask| !subtask.is_empty()),
        began: utc_words(step.began_ms),
        began_ms: step.began_ms,
        elapsed_ms: total(&step.times) + step.waited_ms,
        observe_ms: step.times.observe,
        ask_ms: step.times.ask,
        act_ms: step.times.act,
        record_ms: step.times.record,
        waited_ms: step.waited_ms,
        window: own.map(|window| window.id.to_string()),
        window_title: own.map(|window| window.title.clone()),
        application: own.map(|window| window.app.name.clone()),
        picture: picture.map(picture_file),
        picture_region: picture.map(|picture| picture.region.into()),
        instructions: prompt_of(step, Speaker::System),
        prompt: prompt_of(step, Speaker::User),
        reply: reply_of(step).map(|reply| reply.text.clone()),
        repairs: u32::try_from(step.asks.len().saturating_sub(1)).unwrap_or(u32::MAX),
        status: filled(&said.status),
        observation: filled(&said.observation),
        thought: filled(&said.thought),
        plan: said.plan,
        comment: filled(&said.comment),
        assigned: filled(&said.subtask),
        message: said.message,
        result: filled(&said.result),
        problem: filled(&said.problem),
        model: reply_of(step).map(|reply| reply.model.clone()),
        model_calls: attempts.sum(),
        prompt_tokens: tokens(step, |usage| usage.prompt_tokens),
        cached_tokens: tokens(step, |usage| Some(usage.cached_tokens.unwrap_or(0))),
        completion_tokens: tokens(step, |usage| usage.completion_tokens),
        cost_micros: cost_of(step),
        actions: step.acts.iter().map(action_line).collect(),
        talks: step.talks.iter().map(TalkLine::of).collect(),
        notes: step.notes.iter().map(|note| NoteLine::of(note).text).collect(),
    }
}

/// The file of a picture in the session folder.
fn picture_file(picture: &PictureRef) -> String {
    format!("pictures/{}.{}", picture.sha256, picture.extension())
}

fn action_line(act: &ActStory) -> ActionLine<'_> {
    use deskhand_machine::command::CallStatus;
    use deskhand_ui::action::ActionRoute;
    let ToolCommand { tool, arguments, .. } = &act.command;
    let target = act.target.as_ref();
    let result = act.result.as_ref();
    ActionLine {
        tool,
        arguments,
        line: act.command.to_line(),
        target_id: target.map(|target| target.id.as_str()),
        target_name: target.map(|target| target.name.as_str()),
        target_role: target.map(|target| target.kind.as_str()),
        target_bounds: target.and_then(|target| target.bounds).map(Into::into),
        status: match result.map(|result| result.status) {
            Some(CallStatus::Success) => "success",
            Some(CallStatus::Failure) => "failure",
            Some(CallStatus::Skipped) => "skipped",
            None => "no_result",
        },
        effect: result.and_then(|result| result.effect).map(deskhand_ui::action::Verdict::word),
        route: result.and_then(|result| result.route).map(|route| match route {
            ActionRoute::Semantic => "semantic",
            ActionRoute::Input => "input",
        }),
        summary: result.map(CallResult::summary),
        output: result.map_or(&Value::Null, |result| &result.output),
        picture: result.and_then(|result| result.picture.as_ref()).map(picture_file),
        elapsed_ms: result.map(|result| result.elapsed_ms),
    }
}
