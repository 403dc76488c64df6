//! Renders a session step by step, for `deskhand show`.

use deskhand_machine::{
    evaluation::Judgement,
    model::ModelReply,
    outcome::{Outcome, OutcomeKind},
    record::JournalRecord,
    session::{ApprovalScope, AskedBy, SessionEvent, StopReason},
};
use deskhand_runtime::{
    PhaseTimes, RunSummary, SessionJournal, Story,
    story::{
        ActStory, AskResult, Chapter, DecisionSummary, Meaning, SessionNote, StepStory, StoryUpdate, Talk,
        UserInquiry, UserReply,
    },
    words::local_time,
};
use deskhand_ui::text::{clip, one_line};

use super::describe::{
    column, cost_words, count, effect_tone, effect_word, evaluation_words, hands_words, number, result_words,
    seconds, whole_action,
};
use crate::{
    args::NumberRange,
    output::{OutputTone, StyledLine},
};

/// The steps of a session with these numbers: thoughts, actions, observations and costs.
pub(crate) fn trajectory_lines(journal: &SessionJournal, shown: NumberRange) -> Vec<StyledLine> {
    let mut story = Story::default();
    let mut view = TrajectoryView { shown, step: 0, lines: Vec::new() };
    for line in &journal.lines {
        for update in story.read(line) {
            match update {
                StoryUpdate::Chapter(chapter) => view.chapter(&chapter),
                StoryUpdate::Moment(_) => {}
            }
        }
    }
    let summary = story.summary().clone();
    let (chapters, _) = story.end();
    chapters.iter().for_each(|chapter| view.chapter(chapter));
    let mut lines = head(journal, &summary);
    lines.append(&mut view.lines);
    lines.push(StyledLine::default());
    lines.extend(foot(journal, &summary));
    lines
}

struct TrajectoryView {
    /// The steps to show.
    shown: NumberRange,
    /// The number of the last step.
    step: u64,
    lines: Vec<StyledLine>,
}

impl TrajectoryView {
    fn push(&mut self, word: &str, tone: OutputTone, text: &str) {
        self.lines.push(
            StyledLine::of(OutputTone::Faint, format!("  {}", column(word, 9))).with(tone, one_line(text)),
        );
    }

    fn chapter(&mut self, chapter: &Chapter) {
        match chapter {
            Chapter::Begun(begun) => {
                self.lines.push(StyledLine::default());
                self.lines.push(StyledLine::of(
                    OutputTone::Strong,
                    format!("Request: {}", one_line(&begun.request)),
                ));
            }
            Chapter::Step(step) => {
                self.step = step.number.into();
                if self.shown.contains(self.step) {
                    self.step(step);
                }
            }
            // What happened between two steps belongs to the first of them.
            Chapter::Talk(_) | Chapter::Note(_) if !self.shown.contains(self.step) => {}
            Chapter::Talk(talk) => self.talk(talk),
            Chapter::Note(note) => self.note(note),
            Chapter::Ended { outcome, .. } => self.ended(outcome),
            // It is in the reports.
            Chapter::Left { .. } => {}
        }
    }

    fn ended(&mut self, outcome: &Outcome) {
        let tone = if outcome.kind == OutcomeKind::Finished { OutputTone::Good } else { OutputTone::Bad };
        self.lines.push(StyledLine::default());
        self.lines.push(
            StyledLine::of(tone, format!("Outcome: {}", outcome.kind))
                .with(OutputTone::Plain, format!("  {}", one_line(&outcome.reason))),
        );
        if let Some(evaluation) = &outcome.evaluation {
            let tone =
                if evaluation.complete == Judgement::Yes { OutputTone::Good } else { OutputTone::Doubtful };
            self.lines
                .push(StyledLine::of(tone, format!("Judged: {}", one_line(&evaluation_words(evaluation)))));
        }
    }

    fn step(&mut self, step: &StepStory) {
        self.lines.push(StyledLine::default());
        self.lines.push(step_heading(step));
        for note in &step.notes {
            self.note(note);
        }
        for ask in &step.asks {
            match &ask.result {
                AskResult::Reply(reply) => self.replied(reply, &ask.decision),
                AskResult::Failure(failure) => self.push("model", OutputTone::Bad, &failure.to_string()),
                AskResult::Nothing => {}
            }
        }
        for talk in &step.talks {
            self.talk(talk);
        }
        for act in &step.acts {
            self.act(act);
        }
    }

    fn talk(&mut self, talk: &Talk) {
        match &talk.asked {
            UserInquiry::Questions(questions) => {
                questions
                    .iter()
                    .for_each(|question| self.push("question", OutputTone::Plain, &question.text));
            }
            UserInquiry::Approval(approval) => {
                for command in &approval.commands {
                    self.push("asked", OutputTone::Doubtful, &whole_action(command));
                }
                let by = match &approval.asked_by {
                    AskedBy::Model => format!("the model: {}", approval.reason),
                    AskedBy::Policy { rule } => format!("the policy: {rule}"),
                };
                self.push("because", OutputTone::Plain, &by);
            }
        }
        match &talk.reply {
            Some(UserReply::Answers(answers)) => self.push("answer", OutputTone::Plain, &answers.join(" · ")),
            Some(UserReply::Nobody(_)) => self.push("answer", OutputTone::Doubtful, "nobody answered"),
            Some(UserReply::Approved(ApprovalScope::Once)) => {
                self.push("approval", OutputTone::Good, "given");
            }
            Some(UserReply::Approved(ApprovalScope::Session)) => {
                self.push("approval", OutputTone::Good, "given for the session");
            }
            Some(UserReply::Rejected(instruction)) => {
                self.push("approval", OutputTone::Bad, instruction.as_deref().unwrap_or("refused"));
            }
            None => {}
        }
    }

    fn note(&mut self, note: &SessionNote) {
        match note {
            SessionNote::Changed { model, desktop, program: _ } => {
                self.push(
                    "changed",
                    OutputTone::Doubtful,
                    &format!("from here on with {model}, on {desktop}"),
                );
            }
            SessionNote::LookFailed(failure) => self.push("looking", OutputTone::Bad, &failure.to_string()),
            SessionNote::NotRetrieved(problems) => self.push("help", OutputTone::Bad, &problems.join("; ")),
            SessionNote::Stopped(reason) => {
                let why = match reason {
                    StopReason::WallTime => "the time of the round ran out",
                    StopReason::User => "by the user",
                    StopReason::Signal => "by a signal to the process",
                };
                self.push("stopped", OutputTone::Bad, why);
            }
            SessionNote::Suspended(reason) => {
                self.push("stopped", OutputTone::Bad, &format!("the session is suspended: {reason}"));
            }
            SessionNote::Told(text) => self.push("user said", OutputTone::Plain, text),
            SessionNote::TakenOver => self.push("by hand", OutputTone::Doubtful, "the user has taken over"),
            SessionNote::HandedBack { acts, unwatched, words } => {
                let words = hands_words(acts, unwatched, words.as_deref());
                self.push("by hand", OutputTone::Doubtful, &words);
            }
            SessionNote::Resumed { desktop_kept } => {
                let on = if *desktop_kept { "on the same desktop" } else { "on a new desktop" };
                self.push("resumed", OutputTone::Doubtful, on);
            }
        }
    }

    fn replied(&mut self, reply: &ModelReply, said: &DecisionSummary) {
        if said.problem.is_empty() && !said.thought.is_empty() {
            self.push("thought", OutputTone::Plain, &said.thought);
        }
        if said.problem.is_empty() && !said.comment.is_empty() {
            self.push("comment", OutputTone::Plain, &said.comment);
        }
        let status = match said.meaning {
            None => format!("the reply cannot be used: {}", said.problem),
            Some(Meaning::Host(_)) if !said.subtask.is_empty() => {
                format!("{} “{}”", said.status, said.subtask)
            }
            Some(Meaning::App(_)) if !said.result.is_empty() => {
                format!("{}: {}", said.status, clip(&said.result, 200))
            }
            Some(Meaning::Host(_) | Meaning::App(_) | Meaning::Judged(_) | Meaning::Healed) => {
                said.status.clone()
            }
        };
        let tokens = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), number);
        let cost = format!(
            "{} · {} read + {} written · {} ms",
            status,
            tokens(reply.usage.prompt_tokens),
            tokens(reply.usage.completion_tokens),
            number(reply.elapsed_ms)
        );
        self.push("says", OutputTone::Plain, &cost);
    }

    fn act(&mut self, act: &ActStory) {
        let Some(result) = &act.result else { return };
        self.lines.push(
            StyledLine::of(OutputTone::Faint, format!("  {}", column("does", 9)))
                .with(OutputTone::Plain, format!("{}  ", one_line(&act.command.to_line())))
                .with(effect_tone(result), effect_word(result))
                .with(OutputTone::Plain, format!("  {}", clip(&result_words(result), 160)))
                .with(OutputTone::Faint, format!("  {} ms", number(result.elapsed_ms))),
        );
    }
}

fn step_heading(step: &StepStory) -> StyledLine {
    let subtask = if step.subtask.is_empty() {
        String::new()
    } else {
        format!(" · “{}”", one_line(&step.subtask))
    };
    StyledLine::of(OutputTone::Strong, format!("Step {} · {}{subtask}", step.number, step.agent))
        .with(OutputTone::Faint, format!("  {}", phase_words(&step.times)))
}

fn phase_words(times: &PhaseTimes) -> String {
    let PhaseTimes { observe, ask, act, record } = *times;
    format!("observe {observe} · ask {ask} · act {act} · record {record} ms")
}

fn head(journal: &SessionJournal, summary: &RunSummary) -> Vec<StyledLine> {
    let header = &journal.header;
    let when = local_time(header.created_ms);
    let row = |word: &str, text: &str| {
        StyledLine::of(OutputTone::Faint, column(word, 11)).with(OutputTone::Plain, text)
    };
    let mut lines = vec![
        row("session", &header.session.0),
        row("began", &when),
        row("model", &header.model),
        row("desktop", &header.desktop),
        row("program", &header.program),
    ];
    if summary.requests.len() > 1 {
        lines.push(row("requests", &summary.requests.len().to_string()));
    }
    lines
}

fn is_suspended(journal: &SessionJournal) -> bool {
    journal.lines.last().is_some_and(|line| match &line.record {
        JournalRecord::Event(record) => matches!(record.event, SessionEvent::Suspended { .. }),
        JournalRecord::Header(_) | JournalRecord::Effect(_) | JournalRecord::Changed(_) => false,
    })
}

fn foot(journal: &SessionJournal, summary: &RunSummary) -> Vec<StyledLine> {
    let tally = summary.tally;
    let tokens = tally.prompt_tokens.saturating_add(tally.completion_tokens);
    let mut lines = vec![
        StyledLine::of(
            OutputTone::Strong,
            format!(
                "{} · {} · {} · {} · {} · {} (framework {})",
                count(u64::from(tally.steps), "step"),
                count(u64::from(tally.calls), "action"),
                count(u64::from(tally.model_calls), "model call"),
                count(tokens, "token"),
                cost_words(tally.cost),
                seconds(summary.elapsed_ms),
                seconds(summary.phases.framework()),
            ),
        ),
        StyledLine::of(OutputTone::Faint, phase_words(&summary.phases)),
    ];
    if summary.outcome.is_none() {
        let words = if is_suspended(journal) {
            "the session is suspended; `deskhand resume` goes on with it"
        } else {
            "the session did not come to an end: it runs still, or its process was killed"
        };
        lines.push(StyledLine::of(OutputTone::Doubtful, words));
    }
    for problem in &journal.problems {
        lines.push(StyledLine::of(OutputTone::Bad, problem.to_string()));
    }
    lines
}
