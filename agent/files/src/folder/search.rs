//! Lines of files that match a pattern.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use super::{names::NameFilter, walk::FolderWalk};
use crate::{
    content::{FileContent, Text},
    decode::{SAMPLE, is_binary},
    error::FileReadError,
    format::{Signature, signature},
    options::{ContentForm, ReadOptions},
    read::{head, open, read},
    tables::{Tables, column_letters},
    text::TextSource,
};

/// The longest part of a line that is searched at once, in bytes. A match across two parts of a longer line
/// is missed.
const LINE_MAX: usize = 1024 * 1024;
/// The largest compiled pattern, in bytes.
const PATTERN_SIZE_MAX: usize = 4 * 1024 * 1024;
/// Maximum length of the searched part of a document, in characters.
const DOCUMENT_CHARACTERS_MAX: usize = 4_000_000;
const DOCUMENT_ROWS_MAX: usize = 100_000;
/// The most files that are named as skipped.
const SKIPPED_SHOWN: usize = 20;

/// The pattern to search for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileSearchPattern {
    /// Exactly this text.
    Plain(String),
    /// A regular expression in the syntax of the `regex` crate: no look-around, no back references, linear
    /// time.
    Regex(String),
}

/// Scope and limits of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchOptions {
    /// Glob of the names of the files, as in [`ListOptions`](crate::ListOptions).
    pub glob: Option<String>,
    /// `true` if upper and lower case are equal.
    pub ignore_case: bool,
    /// `true` if documents (PDF, office, HTML as text) are searched too, which takes longer.
    pub documents: bool,
    /// `true` if names that start with a dot are searched.
    pub hidden: bool,
    /// Files and folders that are left out, with what is in them.
    pub without: Vec<PathBuf>,
    /// `true` if only files and folders that every user may read are visible.
    pub public_only: bool,
    /// Levels of folders, 1 to 100.
    pub depth_max: usize,
    /// The most files that are opened.
    pub files_max: usize,
    /// The most bytes of all files together. A file that is larger than what is left is skipped.
    pub bytes_max: u64,
    /// The longest that the search may take. A file that is being read is finished.
    pub time_max: Duration,
    /// The most matching lines in all.
    pub matches_max: usize,
    /// The most matching lines of one file.
    pub matches_per_file_max: usize,
    /// The most characters of a line that are returned.
    pub line_characters_max: usize,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            glob: None,
            ignore_case: false,
            documents: false,
            hidden: false,
            without: Vec::new(),
            public_only: false,
            depth_max: 30,
            files_max: 20_000,
            bytes_max: 512 * 1024 * 1024,
            time_max: Duration::from_secs(60),
            matches_max: 200,
            matches_per_file_max: 50,
            line_characters_max: 300,
        }
    }
}

/// The lines that match.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SearchResult {
    /// The lines, by file and line.
    pub matches: Vec<Match>,
    /// Number of files that were searched.
    pub files_searched: usize,
    /// Number of files that were not searched because they are binary or documents.
    pub files_binary: usize,
    /// Files that could not be searched, the first 20.
    pub skipped: Vec<SkippedFile>,
    /// The part that is left out because of a limit, and the suggested next step.
    pub left_out: Option<String>,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// Path of the file inside the folder.
    pub path: String,
    /// Number of the line, or of the row of a sheet, from 1.
    pub line: usize,
    /// Its place in a document: `page 3`, `slide 2`, or a cell such as `Sheet1!B7`.
    pub place: Option<String>,
    /// The line, or the part of it around the match.
    pub text: String,
}

/// Something that was not read, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedFile {
    /// Its name or path.
    pub name: String,
    /// The reason.
    pub why: String,
}

/// Searches the files of a folder, or one file. Blocking. Symbolic links are not followed, binary files are
/// skipped.
///
/// # Errors
/// The folder cannot be read, or the pattern or the glob is not valid. Files that cannot be read are listed
/// as skipped.
pub fn search(
    folder: &Path,
    pattern: &FileSearchPattern,
    options: &SearchOptions,
) -> Result<SearchResult, FileReadError> {
    let filter = NameFilter::new(options.glob.as_deref())?;
    let regex = compile(pattern, options.ignore_case)?;
    let mut searching = FolderSearch {
        regex,
        options,
        bytes_left: options.bytes_max,
        start: Instant::now(),
        result: SearchResult::default(),
    };
    let metadata = fs::metadata(folder).map_err(|error| FileReadError::file("search", folder, error))?;
    if !metadata.is_dir() {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        searching.file(folder, &name, metadata.len())?;
        return Ok(searching.result);
    }
    let mut walk = FolderWalk::new(folder, options.depth_max, options.hidden)?
        .sparing(&options.without, options.public_only);
    for (files, found) in
        walk.by_ref().filter(|found| found.metadata.is_file() && filter.matches(&found.inside)).enumerate()
    {
        if let Some(limit) = searching.limit(files) {
            searching.result.left_out = Some(limit);
            break;
        }
        let name = found.inside.to_string_lossy().into_owned();
        if let Err(error) = searching.file(&found.path, &name, found.metadata.len()) {
            searching.skip(&name, &error.to_string());
        }
    }
    for problem in walk.problems.drain(..) {
        searching.skip(&problem, "the folder cannot be read");
    }
    if walk.is_over() {
        searching
            .result
            .left_out
            .get_or_insert_with(|| "there are too many files; search a folder inside".to_owned());
    }
    Ok(searching.result)
}

fn compile(pattern: &FileSearchPattern, ignore_case: bool) -> Result<Regex, FileReadError> {
    let (value, expression) = match pattern {
        FileSearchPattern::Plain(text) => (text, regex::escape(text)),
        FileSearchPattern::Regex(expression) => (expression, expression.clone()),
    };
    let wrong = |problem: String| FileReadError::Value { value: value.chars().take(200).collect(), problem };
    if value.is_empty() {
        return Err(wrong("a pattern must not be empty".to_owned()));
    }
    let regex =
        RegexBuilder::new(&expression).case_insensitive(ignore_case).size_limit(PATTERN_SIZE_MAX).build();
    regex.map_err(|error| wrong(error.to_string()))
}

struct FolderSearch<'a> {
    regex: Regex,
    options: &'a SearchOptions,
    bytes_left: u64,
    start: Instant,
    result: SearchResult,
}

impl FolderSearch<'_> {
    /// Which limit was reached.
    fn limit(&self, files: usize) -> Option<String> {
        let options = self.options;
        let what = if self.result.matches.len() >= options.matches_max {
            format!("after {} matches", options.matches_max)
        } else if files >= options.files_max {
            format!("after {files} files")
        } else if self.start.elapsed() >= options.time_max {
            format!("after {} seconds", options.time_max.as_secs())
        } else {
            return None;
        };
        Some(format!("the search ended {what}; narrow the pattern, the glob or the folder"))
    }

    fn skip(&mut self, name: &str, why: &str) {
        if self.result.skipped.len() < SKIPPED_SHOWN {
            self.result.skipped.push(SkippedFile { name: name.to_owned(), why: why.to_owned() });
        }
    }

    fn file(&mut self, path: &Path, name: &str, bytes: u64) -> Result<(), FileReadError> {
        let Some(left) = self.bytes_left.checked_sub(bytes) else {
            self.skip(
                name,
                &format!("{bytes} bytes are more than what is left of {}", self.options.bytes_max),
            );
            return Ok(());
        };
        let file = open(path)?;
        let start = head(&file, SAMPLE).map_err(|error| FileReadError::file("read", path, error))?;
        let is_document = matches!(signature(&start), Signature::Zip | Signature::Compound | Signature::Pdf);
        if is_document && self.options.documents {
            self.bytes_left = left;
            return self.document(path, name);
        }
        if signature(&start) != Signature::Other || is_binary(&start) {
            self.result.files_binary += 1;
            return Ok(());
        }
        self.bytes_left = left;
        self.result.files_searched += 1;
        let source = TextSource::new(file).map_err(|fault| fault.at(path, crate::Format::Text))?;
        self.text(&source, name).map_err(|fault| fault.at(path, crate::Format::Text))
    }

    fn text(&mut self, source: &TextSource, name: &str) -> Result<(), crate::error::FileParseError> {
        let mut reader = source.reader(u64::MAX)?;
        let mut lines = LineSearchState { number: 1, found: 0, is_reported: false };
        let mut text = String::new();
        while reader.next_piece(&mut text)? {
            let mut start = 0;
            while let Some(end) = text.get(start..).and_then(|rest| rest.find('\n')) {
                if !lines.search(self, name, text.get(start..start + end).unwrap_or_default()) {
                    return Ok(());
                }
                lines.number += 1;
                lines.is_reported = false;
                start += end + 1;
            }
            text.drain(..start);
            if text.len() > LINE_MAX {
                lines.search(self, name, &text);
                text.clear();
            }
        }
        lines.search(self, name, &text);
        Ok(())
    }

    fn document(&mut self, path: &Path, name: &str) -> Result<(), FileReadError> {
        let options = ReadOptions {
            what: ContentForm::Auto,
            characters_max: DOCUMENT_CHARACTERS_MAX,
            rows_max: DOCUMENT_ROWS_MAX,
            ..ReadOptions::default()
        };
        match read(path, &options) {
            Ok(FileContent::Text(text)) => self.document_text(&text, name),
            Ok(FileContent::Tables(tables)) => self.document_tables(&tables, name),
            Err(FileReadError::Unsupported { .. } | FileReadError::UnknownFormat { .. }) => {
                self.result.files_binary += 1;
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        self.result.files_searched += 1;
        Ok(())
    }

    fn document_text(&mut self, text: &Text, name: &str) {
        let mut place = None;
        let mut found = 0;
        for (line, text_of_line) in (1..).zip(text.text.lines()) {
            let label = text_of_line.strip_prefix("--- ").and_then(|rest| rest.strip_suffix(" ---"));
            if let Some(label) = label.filter(|_| text.pages_total.is_some()) {
                place = Some(label.to_owned());
            } else if !self.add(name, line, place.clone(), text_of_line, &mut found) {
                return;
            }
        }
    }

    fn document_tables(&mut self, tables: &Tables, name: &str) {
        let mut found = 0;
        for sheet in &tables.sheets {
            for row in &sheet.rows {
                for (column, cell) in
                    (sheet.first_column..).zip(&row.cells).filter(|(_, cell)| !cell.is_empty())
                {
                    let place = format!("{}!{}{}", sheet.name, column_letters(column), row.number);
                    let line = usize::try_from(row.number).unwrap_or_default();
                    if !self.add(name, line, Some(place), &cell.to_string(), &mut found) {
                        return;
                    }
                }
            }
        }
    }

    /// Adds the line if it matches. False if no more are wanted.
    fn add(&mut self, name: &str, line: usize, place: Option<String>, text: &str, found: &mut usize) -> bool {
        let Some(matched) = self.regex.find(text) else { return true };
        let shown = around(text, matched.start(), self.options.line_characters_max);
        self.result.matches.push(Match { path: name.to_owned(), line, place, text: shown });
        *found += 1;
        if *found >= self.options.matches_per_file_max {
            self.skip(name, &format!("the rest of the file, after {found} matches in it"));
            return false;
        }
        self.result.matches.len() < self.options.matches_max
    }
}

/// The position of a search in a text file.
struct LineSearchState {
    number: usize,
    found: usize,
    /// Set once this line has matched: each line is reported once.
    is_reported: bool,
}

impl LineSearchState {
    fn search(&mut self, searching: &mut FolderSearch<'_>, name: &str, line: &str) -> bool {
        if self.is_reported {
            return true;
        }
        let before = self.found;
        let goes_on =
            searching.add(name, self.number, None, line.strip_suffix('\r').unwrap_or(line), &mut self.found);
        self.is_reported = self.found > before;
        goes_on
    }
}

/// The part of a line around a match.
fn around(line: &str, start: usize, characters_max: usize) -> String {
    let before = line.get(..start).unwrap_or_default();
    let lead = characters_max / 4;
    let from = before.char_indices().rev().nth(lead.saturating_sub(1)).map_or(0, |(index, _)| index);
    let rest = line.get(from..).unwrap_or(line);
    let mut shown: String = rest.chars().take(characters_max).collect();
    if shown.len() < rest.len() {
        shown.push('…');
    }
    if from > 0 { format!("…{shown}") } else { shown.trim_start_matches('\u{feff}').to_owned() }
}
