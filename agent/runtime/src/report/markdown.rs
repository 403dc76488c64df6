//! The trajectory as Markdown, with pictures in a folder.

use std::{fmt::Write as _, path::Path};

use deskhand_desktop::{Picture, picture::Colour};
use deskhand_machine::{observation::Observation, outcome::Outcome};
use deskhand_ui::{
    PictureRef,
    text::{clip, escape_hidden},
};

use super::{
    ReportError,
    figure::places_of,
    overview::{ReportOverview, title_of, total, word_of},
    sink::ReportSink,
    times::phase_words,
    words::{NoteLine, TalkLine, end_words},
};
use crate::{
    journal::SessionFolder,
    private,
    story::{ActStory, Chapter, StepStory, Talk, tell},
    words::{
        agent_words, cached_words, count, duration, local_time, number, result_words, uses_of_models,
        whole_command_words,
    },
};

/// Writes the text, and the pictures into a folder that it links to by relative paths.
pub(super) fn write_markdown(
    folder: &SessionFolder,
    out: &mut ReportSink<'_>,
    pictures: &Path,
) -> Result<(), ReportError> {
    let overview = ReportOverview::of(folder)?;
    out.write(&head(&overview))?;
    tell(folder, |chapter| out.write(&chapter_text(&chapter, folder, pictures)?))?;
    let end = end_words(&overview.end);
    if !end.is_empty() {
        out.write(&format!("> {end}\n"))?;
    }
    Ok(())
}

/// Escapes a text for Markdown, on one line.
fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in escape_hidden(&text.replace('\n', "⏎")).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '|' | '~' | '!' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            c => escaped.push(c),
        }
    }
    escaped
}

fn outcome_text(outcome: Option<&Outcome>) -> String {
    match outcome {
        Some(outcome) => format!("**{}**: {}", outcome.kind.word().replace('_', " "), plain(&outcome.reason)),
        None => "**unfinished**: it is still running, or its process was killed".to_owned(),
    }
}

fn head(overview: &ReportOverview) -> String {
    let (header, summary) = (&overview.header, &overview.summary);
    let tally = &summary.tally;
    let request = overview.rounds.first().map_or("No request", |line| line.request.as_str());
    let mut text = format!("# {}\n\n{}\n\n", plain(request), outcome_text(overview.outcome()));
    let tokens = tally.prompt_tokens.saturating_add(tally.completion_tokens);
    let rows = [
        ("Session", header.session.0.clone()),
        ("Started", local_time(header.created_ms)),
        (
            "Took",
            format!(
                "{} ({})",
                duration(summary.elapsed_ms),
                phase_words(&summary.phases, overview.waited_ms)
            ),
        ),
        ("Steps", number(u64::from(tally.steps))),
        ("Actions", number(u64::from(tally.calls))),
        ("Model calls", number(u64::from(tally.model_calls))),
        ("Tokens", format!("{}{}", number(tokens), cached_words(tally))),
        ("Cost", tally.cost.to_string()),
        ("Model", header.model.clone()),
        ("By agent", uses_of_models(summary).join("; ")),
        ("Desktop", header.desktop.clone()),
    ];
    for (name, value) in rows {
        let _ = writeln!(text, "- **{name}**: {}", plain(&value));
    }
    if let Some(evaluation) = overview.outcome().and_then(|outcome| outcome.evaluation.as_ref()) {
        let _ = writeln!(
            text,
            "- **Evaluation**: {} — {}",
            evaluation.complete.word(),
            plain(&evaluation.reason)
        );
    }
    if !overview.subtasks.is_empty() {
        text.push_str("\n## Sub-tasks\n\n| sub-task | agent | end | result | steps |\n| --- | --- | --- | --- | --- |\n");
        for task in &overview.subtasks {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {}–{} |",
                plain(&task.subtask),
                plain(&task.agent.to_string()),
                task.status,
                plain(&clip(&task.result, 200)),
                task.first_step,
                task.last_step
            );
        }
    }
    text.push('\n');
    text
}

fn chapter_text(chapter: &Chapter, folder: &SessionFolder, pictures: &Path) -> Result<String, ReportError> {
    Ok(match chapter {
        Chapter::Begun(begun) => {
            let mut text = format!("## Request {}: {}\n\n", begun.round, plain(&begun.request));
            for line in &begun.plan {
                let _ = writeln!(text, "1. {}", plain(line));
            }
            text
        }
        Chapter::Step(step) => {
            let mut text = step_text(step);
            for (name, picture) in returned(step) {
                if let Some(file) = keep_whole(&name, picture, folder, pictures)? {
                    let _ = writeln!(text, "\n![{name}]({file})");
                }
            }
            if let Some(file) = keep_picture(step, folder, pictures)? {
                let _ = writeln!(
                    text,
                    "\n![{}]({file})",
                    plain(&format!("Step {}: {}", step.number, title_of(step)))
                );
            }
            text.push('\n');
            text
        }
        Chapter::Talk(talk) => talk_text(talk) + "\n",
        Chapter::Note(note) => format!("> {}\n\n", plain(&NoteLine::of(note).text)),
        Chapter::Ended { outcome, .. } => format!("{}\n\n", outcome_text(Some(outcome))),
        Chapter::Left { round, picture } => keep_whole(&format!("end-{round}"), picture, folder, pictures)?
            .map_or_else(String::new, |file| format!("![At the end of request {round}]({file})\n\n")),
    })
}

fn step_text(step: &StepStory) -> String {
    let mut text = format!(
        "### Step {} · {} · {}\n\n",
        step.number,
        plain(&agent_words(&step.agent)),
        plain(&clip(&title_of(step), 160))
    );
    let mut row = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "- **{name}**: {}", plain(value));
        }
    };
    row("Sub-task", &step.subtask);
    if let Some(said) = &step.decision {
        row("Sees", &said.observation);
        row("Thought", &said.thought);
        row("Status", &said.status);
        row("Assigns", &said.subtask);
        row("Message", &said.message.join("; "));
        row("Plan", &said.plan.join("; "));
        row("Comment", &said.comment);
        row("Result", &said.result);
        row("Problem", &said.problem);
    }
    for note in &step.notes {
        row("Note", &NoteLine::of(note).text);
    }
    let time = format!("{} ({})", duration(total(&step.times)), phase_words(&step.times, step.waited_ms));
    row("Time", &time);
    for talk in &step.talks {
        text.push_str(&talk_text(talk));
    }
    for (index, act) in step.acts.iter().enumerate() {
        let _ = writeln!(text, "{}. {}", index + 1, act_text(act));
    }
    text
}

fn act_text(act: &ActStory) -> String {
    let words = whole_command_words(&act.command, act.target.as_ref().map(|target| target.label.as_str()));
    let came = act.result.as_ref().map_or_else(String::new, |result| {
        format!(": {} ({})", plain(&result_words(result)), duration(result.elapsed_ms))
    });
    format!("**{}** — {}{came}", word_of(act), plain(&clip(&words, 300)))
}

fn talk_text(talk: &Talk) -> String {
    let talk = TalkLine::of(talk);
    let asked: Vec<String> = talk.asked.iter().map(|line| plain(line)).collect();
    let answers: Vec<String> = talk.answers.iter().map(|line| plain(line)).collect();
    let seconds = count(talk.waited_ms / 1000, "second");
    format!("- **{}**: {} → {} (after {seconds})\n", talk.kind, asked.join("; "), answers.join("; "))
}

/// Writes the picture of a step with its target controls marked into the folder; returns its name relative to the text.
fn keep_picture(
    step: &StepStory,
    folder: &SessionFolder,
    pictures: &Path,
) -> Result<Option<String>, ReportError> {
    let Some(picture) = marked_picture(step, folder)? else { return Ok(None) };
    write_picture(&picture, pictures, &format!("step-{:04}.png", step.number)).map(Some)
}

/// The pictures that the calls of a step returned, with their names.
fn returned(step: &StepStory) -> impl Iterator<Item = (String, &PictureRef)> {
    let pictures = step.acts.iter().map(|act| act.result.as_ref()?.picture.as_ref());
    let named = (1_usize..).zip(pictures);
    named.filter_map(|(number, picture)| Some((format!("step-{:04}-call-{number}", step.number), picture?)))
}

/// Writes a picture as it was taken.
fn keep_whole(
    name: &str,
    picture: &PictureRef,
    folder: &SessionFolder,
    pictures: &Path,
) -> Result<Option<String>, ReportError> {
    let Ok(file) = folder.picture(picture) else { return Ok(None) };
    let picture = Picture::from_file(&file, picture.region).map_err(ReportError::Picture)?;
    write_picture(&picture, pictures, &format!("{name}.png")).map(Some)
}

fn write_picture(picture: &Picture, pictures: &Path, name: &str) -> Result<String, ReportError> {
    private::create_folders(pictures).map_err(|source| ReportError::write(pictures, source))?;
    let path = pictures.join(name);
    let png = picture.to_png().map_err(ReportError::Picture)?;
    private::write_file(&path, &png).map_err(|source| ReportError::write(path, source))?;
    let parent = pictures.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    // Spaces would end a Markdown link.
    Ok(format!("{}/{name}", parent.replace(' ', "%20")))
}

/// The picture of a step with its target controls marked; `None` without a picture.
pub(super) fn marked_picture(
    step: &StepStory,
    folder: &SessionFolder,
) -> Result<Option<Picture>, ReportError> {
    let Some(seen) = step.observation.as_ref().and_then(Observation::picture) else { return Ok(None) };
    let Ok(file) = folder.picture(seen) else { return Ok(None) };
    let mut picture = Picture::from_file(&file, seen.region).map_err(ReportError::Picture)?;
    for place in places_of(&step.acts, seen) {
        picture.outline(&place, 3, Colour::MARK);
    }
    Ok(Some(picture))
}
