//! Text of PDF files, by the programs of poppler.
//!
//! `pdftotext -layout` keeps columns and tables readable, and poppler has been tested on hostile files for
//! years. It is a program, not a library: its licence does not extend to us, and it may crash or be ended
//! without harm.

use std::{
    io::{self, Read},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use crate::{
    compose::{DocumentSection, DocumentText},
    error::FileParseError,
    options::ReadOptions,
};

const TEXT_PROGRAM: &str = "pdftotext";
const INFO_PROGRAM: &str = "pdfinfo";
/// The package to install.
const PACKAGE: &str = "poppler-utils";
/// The most bytes of text that are taken.
const TEXT_MAX: u64 = 16 * 1024 * 1024;
/// Bytes that are read beyond the characters that are wanted.
const TEXT_SLACK: u64 = 64 * 1024;
/// The most bytes of messages and of the facts about a file.
const MESSAGE_MAX: u64 = 16 * 1024;

/// The output of a program.
struct Output {
    text: String,
    messages: String,
    is_success: bool,
}

/// Text of the pages that are asked for, and the number of pages of the file.
///
/// The first part is page 1: pages before the ones that are asked for are empty.
pub(crate) fn document(path: &Path, options: &ReadOptions) -> Result<DocumentText, FileParseError> {
    let deadline = Instant::now() + options.program_time_max;
    let path = std::path::absolute(path)?;
    let info = run(INFO_PROGRAM, &[], &path, MESSAGE_MAX, deadline)?;
    if !info.is_success {
        return Err(fault(INFO_PROGRAM, &info.messages));
    }
    let total = info.text.lines().find_map(|line| line.strip_prefix("Pages:"));
    let total: usize = total.and_then(|pages| pages.trim().parse().ok()).unwrap_or(0);
    let first = options.pages.map_or(1, crate::options::ReadRange::start);
    let last = options.pages.and_then(|pages| pages.last).unwrap_or(total).min(total);
    if first > total {
        let available = format!("it has {total} pages");
        return Err(FileParseError::Missing { wanted: format!("page {first}"), available });
    }
    let (from, to) = (first.to_string(), last.max(first).to_string());
    let arguments = ["-layout", "-enc", "UTF-8", "-eol", "unix", "-f", &from, "-l", &to];
    let output = run(TEXT_PROGRAM, &arguments, &path, text_max(options), deadline)?;
    if !output.is_success && output.text.is_empty() {
        return Err(fault(TEXT_PROGRAM, &output.messages));
    }
    // Each page ends with a form feed.
    let mut pages = output.text.split('\u{c}');
    let part = |number: usize| {
        let wanted = (first..=last).contains(&number);
        let text = if wanted { pages.next().unwrap_or_default() } else { "" };
        let text = text.trim_matches('\n');
        let end = if text.is_empty() { "" } else { "\n" };
        DocumentSection { label: Some(format!("page {number}")), text: format!("{text}{end}") }
    };
    // Beyond what the text has room for, pages are only counted.
    Ok(DocumentText { parts: (1..=total.min(100_000)).map(part).collect(), tables: Vec::new() })
}

/// Returns the number of bytes of text that suffice. The program ends when its output is no longer read.
fn text_max(options: &ReadOptions) -> u64 {
    if options.lines.is_some() {
        return TEXT_MAX;
    }
    let characters = u64::try_from(options.characters_max).unwrap_or(u64::MAX);
    characters.saturating_mul(4).saturating_add(TEXT_SLACK).min(TEXT_MAX)
}

/// Runs a program of poppler on the file, until the deadline.
fn run(
    program: &'static str,
    arguments: &[&str],
    path: &Path,
    text_max: u64,
    deadline: Instant,
) -> Result<Output, FileParseError> {
    let failed = |problem: String| FileParseError::Program { program, problem };
    let mut command = Command::new(program);
    command.args(arguments).arg(path);
    if program == TEXT_PROGRAM {
        command.arg("-");
    }
    command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path))).env("LC_ALL", "C.UTF-8");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| {
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        let missing = || format!("it is not installed; install the package {PACKAGE}");
        failed(if is_missing { missing() } else { error.to_string() })
    })?;
    let texts = collect(child.stdout.take(), text_max);
    let messages = collect(child.stderr.take(), MESSAGE_MAX);
    let left = || deadline.saturating_duration_since(Instant::now());
    let text = texts.recv_timeout(left());
    let message = messages.recv_timeout(left().min(Duration::from_secs(1)));
    let is_late = text.is_err() || message.is_err();
    let is_success = end(&mut child, is_late)?;
    if is_late {
        let problem = "it took too long and was ended; ask for fewer pages, or allow more time".to_owned();
        return Err(failed(problem));
    }
    let to_text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (text, messages) = (text.unwrap_or_default(), message.unwrap_or_default());
    Ok(Output { text: to_text(text), messages: to_text(messages), is_success })
}

/// Reads what the program prints, up to a limit, on a thread of its own: two pipes cannot be read in turns.
fn collect(source: Option<impl Read + Send + 'static>, limit: u64) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    // When the thread ends, the pipe is closed, and a program that prints more ends.
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(source) = source {
            let _ = source.take(limit).read_to_end(&mut bytes);
        }
        // The receiver is gone if the program took too long.
        let _ = sender.send(bytes);
    });
    receiver
}

/// Waits for a program that has closed its output, or ends it first. Whether it succeeded.
fn end(child: &mut Child, is_late: bool) -> Result<bool, FileParseError> {
    if is_late {
        child.kill()?;
    }
    Ok(child.wait()?.success())
}

fn fault(program: &'static str, messages: &str) -> FileParseError {
    if messages.contains("Incorrect password") || messages.contains("only owner") {
        return FileParseError::PasswordProtected;
    }
    let lines: Vec<&str> = messages.lines().filter(|line| !line.trim().is_empty()).take(3).collect();
    if lines.is_empty() {
        return FileParseError::Program { program, problem: "it ended without a message".to_owned() };
    }
    FileParseError::Damaged(lines.join("; ").chars().take(300).collect())
}
