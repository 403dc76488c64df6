//! `cargo xtask book`: builds the book in `docs/`. Fails on mdbook warnings, pages missing from SUMMARY.md, links out of
//! the book, and resources loaded from a network.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail, ensure};

use crate::{console, tools, workspace};

/// The source folder of the book.
const SOURCE: &str = "docs";
/// The output folder of the book.
const OUTPUT: &str = "target/book";

/// Runs the command.
pub fn run() -> Result<ExitCode> {
    check()?;
    console::result(&format!("{OUTPUT}/index.html"));
    Ok(ExitCode::SUCCESS)
}

/// Builds and checks the book.
pub fn check() -> Result<()> {
    let problems = source_problems(&read_pages()?);
    fail_on(&problems)?;
    let output = tools::MDBOOK.command()?.arg("build").output().context("run mdbook")?;
    let log = String::from_utf8_lossy(&output.stderr);
    fail_on(&warnings(&log))?;
    ensure!(output.status.success(), "mdbook exited with {}: {}", output.status, log.trim());
    fail_on(&network_problems(&workspace::root().join(OUTPUT))?)
}

fn fail_on(problems: &[String]) -> Result<()> {
    for problem in problems {
        console::problem(problem);
    }
    if !problems.is_empty() {
        bail!("{} problems in the book", problems.len());
    }
    Ok(())
}

/// The warnings and errors in mdbook's log.
fn warnings(log: &str) -> Vec<String> {
    let is_problem = |line: &&str| {
        line.split_whitespace().take(4).any(|word| matches!(word.trim_matches(['[', ']']), "WARN" | "ERROR"))
    };
    log.lines().filter(is_problem).map(|line| line.trim().to_owned()).collect()
}

/// A page: its path below the source folder, and its text.
pub type Page = (String, String);

fn read_pages() -> Result<Vec<Page>> {
    let source = Path::new(SOURCE);
    let is_page =
        |path: &PathBuf| path.starts_with(source) && path.extension().is_some_and(|end| end == "md");
    workspace::files()?
        .into_iter()
        .filter(is_page)
        .map(|path| {
            let text = fs::read_to_string(workspace::root().join(&path))
                .with_context(|| format!("read {}", path.display()))?;
            let name = path.strip_prefix(source).unwrap_or(&path);
            Ok((name.to_string_lossy().into_owned(), text))
        })
        .collect()
}

/// Finds pages missing from SUMMARY.md and links that leave the book.
fn source_problems(pages: &[Page]) -> Vec<String> {
    let summary = pages.iter().find(|(name, _)| name == "SUMMARY.md");
    let listed: BTreeSet<&str> = summary.map(|(_, text)| link_targets(text).collect()).unwrap_or_default();
    let mut problems = Vec::new();
    for (name, text) in pages.iter().filter(|(name, _)| name != "SUMMARY.md") {
        if !listed.contains(name.as_str()) {
            problems.push(format!("{SOURCE}/{name}: not in {SOURCE}/SUMMARY.md"));
        }
        let depth = name.matches('/').count();
        for target in link_targets(text) {
            if target.split('/').filter(|part| *part == "..").count() > depth {
                problems.push(format!("{SOURCE}/{name}: the link `{target}` leaves the book"));
            }
        }
    }
    problems
}

/// The link targets of a page, without anchors and URLs.
fn link_targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split('#').next().unwrap_or(target))
        .filter(|target| !target.is_empty() && !target.contains("://"))
}

/// Finds scripts, styles, fonts and images in the built book that are loaded from a network.
fn network_problems(folder: &Path) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("read {}", folder.display()))?;
        for entry in entries {
            let path = entry.with_context(|| format!("read {}", folder.display()))?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "html" || end == "css") {
                let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
                problems.extend(remote(&text).map(|what| format!("{}: loads {what}", path.display())));
            }
        }
    }
    Ok(problems)
}

/// The URLs that a page or style sheet loads when opened; hyperlinks do not count.
fn remote(text: &str) -> impl Iterator<Item = &str> {
    const LOADS: [&str; 4] = ["src=\"", "<link rel=\"stylesheet\" href=\"", "url(\"", "url("];
    LOADS.iter().flat_map(move |start| {
        text.split(start)
            .skip(1)
            .filter_map(|rest| rest.split(['"', ')']).next())
            .filter(|address| address.starts_with("http") || address.starts_with("//"))
    })
}

/// The pages of the book, and those beside it that name commands of the project.
///
/// # Errors
/// A page that cannot be read.
pub fn all_pages() -> Result<Vec<Page>> {
    let mut pages = read_pages()?;
    for name in ["README.md", "CONTRIBUTING.md"] {
        let text =
            fs::read_to_string(workspace::root().join(name)).with_context(|| format!("read {name}"))?;
        pages.push((name.to_owned(), text));
    }
    Ok(pages)
}

/// The arguments of each `cargo xtask …` in a text, up to the end of the code or a comment.
pub fn own_commands(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.split("cargo xtask ").skip(1).map(|rest| {
        let end = rest.find(['`', '\n', '#', ';', '<']).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default().split_whitespace().collect()
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn page(name: &str, text: &str) -> Page {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn the_book_of_this_repository_is_consistent() {
        let problems = source_problems(&read_pages().unwrap());
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn the_commands_of_the_project_that_pages_name_exist() {
        let pages = all_pages().unwrap();
        for (name, text) in &pages {
            for arguments in own_commands(text) {
                let words = ["cargo xtask"].into_iter().chain(arguments.iter().copied());
                let parsed = crate::command::Arguments::try_parse_from(words);
                assert!(parsed.is_ok(), "{name}: `cargo xtask {}`", arguments.join(" "));
            }
        }
    }

    #[test]
    fn finds_unlisted_pages_and_links_out_of_the_book() {
        let pages = [
            page("SUMMARY.md", "[A](a.md)\n  - [B](b/c.md)\n"),
            page("a.md", "[to c](b/c.md#x) [home](https://example.org/../..)"),
            page("b/c.md", "[a](../a.md) [readme](../../README.md)"),
            page("d.md", ""),
        ];
        assert_eq!(
            source_problems(&pages),
            ["docs/b/c.md: the link `../../README.md` leaves the book", "docs/d.md: not in docs/SUMMARY.md"]
        );
    }

    #[test]
    fn warnings_and_errors_are_parsed_from_the_log() {
        let log = " INFO Book building has started\n WARN unclosed HTML tag `<b>`\nERROR no such file\n\
                   2026-01-01 10:00:00 [WARN] (mdbook): old form\n INFO WARNING is only a word here\n";
        assert_eq!(
            warnings(log),
            [
                "WARN unclosed HTML tag `<b>`",
                "ERROR no such file",
                "2026-01-01 10:00:00 [WARN] (mdbook): old form"
            ]
        );
    }

    #[test]
    fn finds_resources_loaded_from_a_network() {
        let text = "<script src=\"https://example.org/a.js\"></script><a href=\"https://example.org\">link</a>\
                    <script src=\"book.js\"></script>@font-face { src: url(//example.org/f.woff) }";
        assert_eq!(remote(text).collect::<Vec<_>>(), ["https://example.org/a.js", "//example.org/f.woff"]);
    }
}
