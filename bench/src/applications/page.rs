//! The page of applications, and the figures.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::row::{Cell, Column, Row};

/// The figures of all rows.
pub(super) fn figures(rows: &[Row]) -> Value {
    let sum = |count: &dyn Fn(&Row) -> usize| rows.iter().map(count).sum::<usize>();
    json!({
        "programs": rows.len(),
        "complete": sum(&|row| usize::from(row.is_complete())),
        "false_seen": sum(&|row| row.false_seen.len()),
        "hangs": sum(&|row| row.hangs),
        "destroyed": sum(&|row| row.destroyed),
        "slow_first_elements": sum(&|row| usize::from(row.slow)),
    })
}

/// A row as a line for a terminal.
pub(super) fn line(row: &Row) -> String {
    let cells: Vec<String> =
        Column::ALL.iter().map(|column| format!("{} {}", column.word(), word(row.cell(*column)))).collect();
    let blank = if row.blank_ms > 0 { format!(", blank for {} ms", row.blank_ms) } else { String::new() };
    let ready = row.ready_ms.map_or_else(String::new, |ms| format!(", ready after {ms} ms"));
    let first = row.first_ms.map_or_else(String::new, |ms| format!(" ({ms} ms{blank}{ready})"));
    format!("{:<24} {:<14} {}{first}", row.name, row.toolkit, cells.join(", "))
}

/// What does not work in a row, and what was judged wrongly.
pub(super) fn problems(row: &Row) -> Vec<String> {
    let failures = row.failures().map(|(column, why)| format!("{}: {why}", column.word()));
    let false_seen = row.false_seen.iter().map(|what| format!("false `seen`: {what}"));
    let missed = row.missed.iter().map(|what| format!("missed: {what}"));
    let counts = [(row.hangs, "calls that hung"), (row.destroyed, "files that were damaged")];
    let counts =
        counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{what}: {count}"));
    failures.chain(false_seen).chain(missed).chain(counts).collect()
}

const fn word(cell: &Cell) -> &'static str {
    match cell {
        Cell::None => "–",
        Cell::Works => "yes",
        Cell::Fails(_) | Cell::Untried => "no",
    }
}

/// The page. `date` is when it was measured, `load` how busy the machine was.
pub(super) fn page(rows: &[Row], date: &str, load: &str) -> String {
    let mut page = format!(
        "# Applications\n\n\
         What works in which application, each from a package of Debian, started by its name on a private desktop and operated over\n\
         `deskhand mcp`. Written by `cargo xtask bench applications` on {date}. What counts is what the X server lists, what is in the file on disk,\n\
         or what another program finds on the clipboard, never what Deskhand says. `–` is what the application does not have, or what was not tried in\n\
         it. First elements are those that the application exposes, or, where it exposes none, what the model of `deskhand model pull ocr` reads in\n\
         a picture; they have to be there 1.5 s after the last window that came. Time in which that window was *blank*, in one colour, is taken\n\
         off; pictures of the screen say so. A window is *ready* when `open` has waited until it can be worked in, and `look` has read all that\n\
         is drawn, which takes the longer the more text it is.\n\
         Times depend on what else the machine does: its load was {load}.\n\
         A verdict is wrong if it says `seen` of what did not happen; *missed* is what happened and was not `seen`.\n\n\
         [Toolkits](reference/toolkits.md) has what each toolkit can do.\n\n"
    );
    let heads = Column::ALL.map(Column::word).join(" | ");
    let _ = writeln!(page, "| application | toolkit | version | {heads} | wrong verdicts | missed |");
    let _ = writeln!(page, "| --- | --- | --- |{}", " --- |".repeat(Column::ALL.len() + 2));
    for row in rows {
        let how = if row.read_from_picture { ", picture" } else { "" };
        let seconds = |ms: u64| format!("{}.{} s", ms / 1_000, ms % 1_000 / 100);
        let blank = match row.blank_ms {
            0 => String::new(),
            ms => format!(", blank for {}", seconds(ms)),
        };
        let ready = row.ready_ms.map(|ms| format!("; ready: {}{how}", seconds(ms))).unwrap_or_default();
        let took = row.first_ms.map(|ms| format!(" ({}{blank}{ready})", seconds(ms)));
        let cell = |column: &Column| {
            let took = took.as_deref().filter(|_| *column == Column::First).unwrap_or_default();
            format!("{}{took}", word(row.cell(*column)))
        };
        let cells = Column::ALL.iter().map(cell).collect::<Vec<_>>().join(" | ");
        let (wrong, missed) = (row.false_seen.len(), row.missed.len());
        let _ = writeln!(
            page,
            "| {} | {} | {} | {cells} | {wrong} | {missed} |",
            row.name, row.toolkit, row.version
        );
    }
    let _ = writeln!(page, "\n## What does not work\n");
    for row in rows {
        for problem in problems(row) {
            let _ = writeln!(page, "- {}: {}", row.name, plain(&problem));
        }
    }
    page
}

/// A reason without what Markdown would take for its own, and without folders that are there once.
fn plain(text: &str) -> String {
    let words = text.split(' ').map(|word| match word.rfind("/work/") {
        Some(at) => word.get(at + "/work/".len()..).unwrap_or(word),
        None => word,
    });
    words.collect::<Vec<_>>().join(" ").replace(['|', '<', '>', '*', '_', '[', ']'], " ")
}

#[cfg(test)]
mod tests {
    use super::{
        super::programs::{PROGRAMS, Program},
        *,
    };

    #[test]
    fn the_page_has_a_line_for_each_application_and_its_problems() {
        let program: &Program = PROGRAMS.first().unwrap();
        let mut row = Row::new(program).with(Column::Found, Cell::Works);
        row.fail_untried("no | answer in /x/work/letter.txt");
        let page = page(&[row.clone()], "2026-01-02", "0.5 on 2 processors");
        assert!(page.contains(&format!("| {} | {} |", program.name, program.toolkit)), "{page}");
        assert!(page.contains("first elements: no   answer in letter.txt"), "{page}");
        assert_eq!(figures(&[row.clone()])["complete"], 0);
        (row.first_ms, row.ready_ms, row.blank_ms) = (Some(4_180), Some(5_020), 2_530);
        let page = super::page(&[row], "2026-01-02", "0.5 on 2 processors");
        assert!(page.contains("(4.1 s, blank for 2.5 s; ready: 5.0 s)"), "{page}");
    }
}
