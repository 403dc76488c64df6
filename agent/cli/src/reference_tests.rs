//! The command reference in the book, generated from the definition of the command line.

use std::{fmt::Write as _, fs, path::Path};

use clap::{Arg, Command, CommandFactory as _};
use deskhand_ui::text::collapse_whitespace;

use crate::args::CliArgs;

/// The page, below this crate.
const PAGE: &str = "../../docs/reference/cli.md";

#[test]
fn the_reference_of_commands_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == page,
        "docs/reference/cli.md differs from the command line; update it with\n  \
         UPDATE_DOCS=1 cargo nextest run -p deskhand reference"
    );
}

fn page() -> String {
    let mut root = CliArgs::command().term_width(100);
    root.build();
    let mut page = String::from(
        "# Commands\n\nGenerated from the definitions of the command line; a test compares this page with them. \
         `deskhand COMMAND --help` shows the same.\n",
    );
    for command in visible(&root) {
        write_command(&mut page, command, 2);
    }
    page.push_str("\n## Exit codes\n");
    let help = root.get_after_help().map(ToString::to_string).unwrap_or_default();
    let codes = help.split("\n\n").find(|part| part.starts_with("Exit codes")).unwrap_or_default();
    write_text(&mut page, codes);
    page
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

fn write_command(page: &mut String, command: &Command, level: usize) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    let name: Vec<&str> = usage.split(' ').take_while(|word| !word.starts_with(['[', '<', '-'])).collect();
    writeln!(page, "\n{} {}\n", "#".repeat(level), name.join(" ")).unwrap();
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    writeln!(page, "{}.", sentence(&about.unwrap_or_default())).unwrap();
    writeln!(page, "\n```text\n{usage}\n```").unwrap();
    let arguments: Vec<&Arg> =
        command.get_arguments().filter(|arg| !arg.is_hide_set() && arg.get_id() != "help").collect();
    let mut headings: Vec<Option<&str>> = arguments.iter().map(|arg| arg.get_help_heading()).collect();
    headings.sort_by_key(Option::is_some);
    for heading in unique(headings) {
        let group: Vec<&Arg> =
            arguments.iter().copied().filter(|arg| arg.get_help_heading() == heading).collect();
        write_arguments(page, heading.unwrap_or("Argument"), &group);
    }
    if let Some(after) = command.get_after_help() {
        write_after(page, &after.to_string());
    }
    for inner in visible(command) {
        write_command(page, inner, level + 1);
    }
}

/// The headings in the order of the help, each once.
fn unique(headings: Vec<Option<&str>>) -> Vec<Option<&str>> {
    headings.into_iter().fold(Vec::new(), |mut unique, heading| {
        if !unique.contains(&heading) {
            unique.push(heading);
        }
        unique
    })
}

fn write_arguments(page: &mut String, heading: &str, arguments: &[&Arg]) {
    writeln!(page, "\n| {} | meaning |\n| --- | --- |", heading.to_lowercase()).unwrap();
    for arg in arguments {
        writeln!(page, "| {} | {} |", spelled(arg), meaning(arg)).unwrap();
    }
}

/// How the argument is typed: `-o`, `--output PATH`.
fn spelled(arg: &Arg) -> String {
    let values: Vec<String> =
        arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let values = if arg.get_action().takes_values() { values.join(" ") } else { String::new() };
    let dots = if arg.is_positional() && arg.get_num_args().is_some_and(|count| count.max_values() > 1) {
        "…"
    } else {
        ""
    };
    let long = arg.get_long().map(|long| format!("--{long} {values}"));
    let short = arg.get_short().map(|short| format!("-{short}"));
    let names = match (short, long) {
        (None, None) => format!("{values}{dots}"),
        (short, long) => short.into_iter().chain(long).collect::<Vec<_>>().join(", "),
    };
    format!("`{}`", names.trim())
}

fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = format!("{}.", sentence(&help));
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if !defaults.is_empty() && arg.get_action().takes_values() {
        write!(text, " Default: `{}`.", defaults.join(" ")).unwrap();
    }
    for value in arg.get_possible_values().iter().filter(|_| arg.get_action().takes_values()) {
        let help = value.get_help().map(|help| format!(": {}", sentence(&help.to_string())));
        write!(text, "<br>`{}`{}", value.get_name(), help.unwrap_or_default()).unwrap();
    }
    text
}

/// A text on one line without its full stop, escaped for Markdown and HTML.
fn sentence(text: &str) -> String {
    let text = collapse_whitespace(text.trim().trim_end_matches('.'));
    text.replace('|', "\\|").replace('<', "&lt;")
}

/// The paragraphs below the help, as they are printed.
fn write_after(page: &mut String, text: &str) {
    for paragraph in text.split("\n\n") {
        match paragraph.split_once('\n') {
            Some((title, lines))
                if title.ends_with(':') && lines.lines().all(|line| line.starts_with("  ")) =>
            {
                let lines: Vec<&str> = lines.lines().map(|line| line.get(2..).unwrap_or_default()).collect();
                writeln!(page, "\n{title}\n\n```text\n{}\n```", lines.join("\n")).unwrap();
            }
            _ => write_text(page, paragraph),
        }
    }
}

fn write_text(page: &mut String, text: &str) {
    if text.lines().any(|line| line.starts_with("  ")) {
        writeln!(page, "\n```text\n{}\n```", text.trim_end()).unwrap();
    } else {
        writeln!(page, "\n{}", text.trim()).unwrap();
    }
}
