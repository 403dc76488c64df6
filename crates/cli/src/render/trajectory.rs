//! Renders a session step by step, for `deskhand show`.

use deskhand_core::{
    evaluation::Judgement,
    model::ModelReply,
    outcome::{Outcome, OutcomeKind},
    record::Record,
    session::{ApprovalScope, AskedBy, Event, StopReason},
    text::{clip, one_line},
};
use deskhand_runtime::{
    Journal, PhaseTimes, RunSummary, Story,
    story::{
        ActStory, AskResult, Asked, Chapter, Decision, Meaning, Note, StepStory, Talk, Update, UserReply,
    },
    words::local_time,
};

use super::describe::{
    column, cost_words, count, effect_tone, effect_word, evaluation_words, hands_words, number, result_words,
    seconds, whole_action,
};
use crate::{
    args::Numbers,
    output::{Line, Tone},
};

/// The steps of a session with these numbers: thoughts, actions, observations and costs.
pub(crate) fn trajectory_lines(journal: &Journal, shown: Numbers) -> Vec<Line> {
    let mut story = Story::default();
    let mut view = View { shown, step: 0, lines: Vec::new() };
    for line in &journal.lines {
        for update in story.read(line) {
            match update {
                Update::Chapter(chapter) => view.chapter(&chapter),
                Update::Moment(_) => {}
            }
        }
    }
    let summary = story.summary().clone();
    let (chapters, _) = story.end();
    chapters.iter().for_each(|chapter| view.chapter(chapter));
    let mut lines = head(journal, &summary);
    lines.append(&mut view.lines);
    lines.push(Line::default());
    lines.extend(foot(journal, &summary));
    lines
}

struct View {
    /// The steps to show.
    shown: Numbers,
    /// The number of the last step.
    step: u64,
    lines: Vec<Line>,
}

impl View {
    fn push(&mut self, word: &str, tone: Tone, text: &str) {
        self.lines.push(Line::of(Tone::Faint, format!("  {}", column(word, 9))).with(tone, one_line(text)));
    }

    fn chapter(&mut self, chapter: &Chapter) {
        match chapter {
            Chapter::Begun(begun) => {
                self.lines.push(Line::default());
                self.lines.push(Line::of(Tone::Strong, format!("Request: {}", one_line(&begun.request))));
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
        let tone = if outcome.kind == OutcomeKind::Finished { Tone::Good } else { Tone::Bad };
        self.lines.push(Line::default());
        self.lines.push(
            Line::of(tone, format!("Outcome: {}", outcome.kind))
                .with(Tone::Plain, format!("  {}", one_line(&outcome.reason))),
        );
        if let Some(evaluation) = &outcome.evaluation {
            let tone = if evaluation.complete == Judgement::Yes { Tone::Good } else { Tone::Doubtful };
            self.lines.push(Line::of(tone, format!("Judged: {}", one_line(&evaluation_words(evaluation)))));
        }
    }

    fn step(&mut self, step: &StepStory) {
        self.lines.push(Line::default());
        self.lines.push(step_heading(step));
        for note in &step.notes {
            self.note(note);
        }
        for ask in &step.asks {
            match &ask.result {
                AskResult::Reply(reply) => self.replied(reply, &ask.decision),
                AskResult::Failure(failure) => self.push("model", Tone::Bad, &failure.to_string()),
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
            Asked::Questions(questions) => {
                questions.iter().for_each(|question| self.push("question", Tone::Plain, &question.text));
            }
            Asked::Approval(approval) => {
                for command in &approval.commands {
                    self.push("asked", Tone::Doubtful, &whole_action(command));
                }
                let by = match &approval.asked_by {
                    AskedBy::Model => format!("the model: {}", approval.reason),
                    AskedBy::Policy { rule } => format!("the policy: {rule}"),
                };
                self.push("because", Tone::Plain, &by);
            }
        }
        match &talk.reply {
            Some(UserReply::Answers(answers)) => self.push("answer", Tone::Plain, &answers.join(" · ")),
            Some(UserReply::Nobody(_)) => self.push("answer", Tone::Doubtful, "nobody answered"),
            Some(UserReply::Approved(ApprovalScope::Once)) => self.push("approval", Tone::Good, "given"),
            Some(UserReply::Approved(ApprovalScope::Session)) => {
                self.push("approval", Tone::Good, "given for the session");
            }
            Some(UserReply::Rejected(instruction)) => {
                self.push("approval", Tone::Bad, instruction.as_deref().unwrap_or("refused"));
            }
            None => {}
        }
    }

    fn note(&mut self, note: &Note) {
        match note {
            Note::Changed { model, desktop, program: _ } => {
                self.push("changed", Tone::Doubtful, &format!("from here on with {model}, on {desktop}"));
            }
            Note::LookFailed(failure) => self.push("looking", Tone::Bad, &failure.to_string()),
            Note::NotRetrieved(problems) => self.push("help", Tone::Bad, &problems.join("; ")),
            Note::Stopped(reason) => {
                let why = match reason {
                    StopReason::WallTime => "the time of the round ran out",
                    StopReason::User => "by the user",
                    StopReason::Signal => "by a signal to the process",
                };
                self.push("stopped", Tone::Bad, why);
            }
            Note::Suspended(reason) => {
                self.push("stopped", Tone::Bad, &format!("the session is suspended: {reason}"));
            }
            Note::Told(text) => self.push("user said", Tone::Plain, text),
            Note::TakenOver => self.push("by hand", Tone::Doubtful, "the user has taken over"),
            Note::HandedBack { acts, unwatched, words } => {
                let words = hands_words(acts, unwatched, words.as_deref());
                self.push("by hand", Tone::Doubtful, &words);
            }
            Note::Resumed { desktop_kept } => {
                let on = if *desktop_kept { "on the same desktop" } else { "on a new desktop" };
                self.push("resumed", Tone::Doubtful, on);
            }
        }
    }

    fn replied(&mut self, reply: &ModelReply, said: &Decision) {
        if said.problem.is_empty() && !said.thought.is_empty() {
            self.push("thought", Tone::Plain, &said.thought);
        }
        if said.problem.is_empty() && !said.comment.is_empty() {
            self.push("comment", Tone::Plain, &said.comment);
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
        self.push("says", Tone::Plain, &cost);
    }

    fn act(&mut self, act: &ActStory) {
        let Some(result) = &act.result else { return };
        self.lines.push(
            Line::of(Tone::Faint, format!("  {}", column("does", 9)))
                .with(Tone::Plain, format!("{}  ", one_line(&act.command.to_line())))
                .with(effect_tone(result), effect_word(result))
                .with(Tone::Plain, format!("  {}", clip(&result_words(result), 160)))
                .with(Tone::Faint, format!("  {} ms", number(result.elapsed_ms))),
        );
    }
}

fn step_heading(step: &StepStory) -> Line {
    let subtask = if step.subtask.is_empty() {
        String::new()
    } else {
        format!(" · “{}”", one_line(&step.subtask))
    };
    Line::of(Tone::Strong, format!("Step {} · {}{subtask}", step.number, step.agent))
        .with(Tone::Faint, format!("  {}", phase_words(&step.times)))
}

fn phase_words(times: &PhaseTimes) -> String {
    let PhaseTimes { observe, ask, act, record } = *times;
    format!("observe {observe} · ask {ask} · act {act} · record {record} ms")
}

fn head(journal: &Journal, summary: &RunSummary) -> Vec<Line> {
    let header = &journal.header;
    let when = local_time(header.created_ms);
    let row = |word: &str, text: &str| Line::of(Tone::Faint, column(word, 11)).with(Tone::Plain, text);
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

fn is_suspended(journal: &Journal) -> bool {
    journal.lines.last().is_some_and(|line| match &line.record {
        Record::Event(record) => matches!(record.event, Event::Suspended { .. }),
        Record::Header(_) | Record::Effect(_) | Record::Changed(_) => false,
    })
}

fn foot(journal: &Journal, summary: &RunSummary) -> Vec<Line> {
    let tally = summary.tally;
    let tokens = tally.prompt_tokens.saturating_add(tally.completion_tokens);
    let mut lines = vec![
        Line::of(
            Tone::Strong,
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
        Line::of(Tone::Faint, phase_words(&summary.phases)),
    ];
    if summary.outcome.is_none() {
        let words = if is_suspended(journal) {
            "the session is suspended; `deskhand resume` goes on with it"
        } else {
            "the session did not come to an end: it runs still, or its process was killed"
        };
        lines.push(Line::of(Tone::Doubtful, words));
    }
    for problem in &journal.problems {
        lines.push(Line::of(Tone::Bad, problem.to_string()));
    }
    lines
}
