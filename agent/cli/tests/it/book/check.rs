//! Checks a page without running it: its commands, options and paths exist, and its configurations are valid.

use std::{collections::BTreeMap, path::Path};

use super::page::{Page, Piece};
use crate::support::World;

/// Checks that every command in the text or in a `norun` block exists with all its options.
pub(super) fn commands_exist(page: &Page) {
    let mut helps = Helps::default();
    for (line, command) in named_commands(page) {
        if let Err(problem) = helps.check(&command) {
            panic!("{}:{line}: `{command}`: {problem}", page.path);
        }
    }
}

fn named_commands(page: &Page) -> Vec<(usize, String)> {
    let mut named = page.inline.clone();
    for piece in &page.pieces {
        if let Piece::Commands { commands, norun: Some(_), .. } = piece {
            named.extend(commands.iter().map(|command| (command.line, command.text.clone())));
        }
    }
    named.retain(|(_, command)| command.starts_with("deskhand "));
    named
}

/// The help pages of commands, each requested once.
#[derive(Default)]
struct Helps(BTreeMap<Vec<String>, Option<String>>);

impl Helps {
    fn check(&mut self, command: &str) -> Result<(), String> {
        let command = command.split([';', '|', '>', '#']).next().unwrap_or(command);
        let mut names: Vec<String> = Vec::new();
        let mut words = command.split_whitespace().skip(1).peekable();
        while let Some(word) =
            words.next_if(|word| word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-'))
        {
            if word.starts_with('-') || !self.has_command(&names, word) {
                break;
            }
            names.push(word.to_owned());
        }
        if names.is_empty() && !command.contains("--") {
            return Err("there is no such command".to_owned());
        }
        let help = self.get(&names).clone().unwrap_or_default();
        for word in command.split_whitespace().filter(|word| word.starts_with("--")) {
            let option = word.split(['=', ',']).next().unwrap_or(word);
            if !help.split([' ', ',', '\n', '[', '=']).any(|word| word == option) {
                return Err(format!("it has no option {option}"));
            }
        }
        Ok(())
    }

    /// Returns `true` if a command has a subcommand of this name, visible or hidden.
    fn has_command(&mut self, names: &[String], word: &str) -> bool {
        let path = [names, &[word.to_owned()]].concat();
        self.get(&path).is_some()
    }

    fn get(&mut self, path: &[String]) -> &Option<String> {
        self.0.entry(path.to_vec()).or_insert_with(|| {
            let words: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
            let output = World::new().command(&words).output().unwrap();
            let help = String::from_utf8_lossy(&output.stdout).into_owned();
            // A word that is not a subcommand is an argument, and the help is that of the command before it.
            let usage = format!("Usage: deskhand {}", path.join(" "));
            let usage = usage.trim_end().to_owned();
            (output.status.success() && help.contains(&usage)).then_some(help)
        })
    }
}

/// Checks that every configuration of a page is valid.
pub(super) fn configurations_are_accepted(page: &Page) {
    for piece in &page.pieces {
        let Piece::Configuration { line, text } = piece else { continue };
        let world = World::new();
        world.configure(text);
        let shown = world.run(&["config", "explain"]);
        assert!(shown.starts_with("exit 0\n"), "{}:{line}: {shown}", page.path);
    }
}

/// Checks that every repository path in the text exists.
pub(super) fn paths_exist(page: &Page, root: &Path) {
    const FOLDERS: [&str; 6] = ["driver/", "agent/", "extras/", "docs/", "examples/", "xtask/"];
    for (line, code) in
        page.inline.iter().filter(|(_, code)| FOLDERS.iter().any(|start| code.starts_with(start)))
    {
        assert!(root.join(code).exists(), "{}:{line}: there is no `{code}`", page.path);
    }
}

#[test]
fn commands_and_options_that_do_not_exist_are_found() {
    let check = |command: &str, expected: Result<(), &str>| {
        assert_eq!(Helps::default().check(command), expected.map_err(str::to_owned), "{command}");
    };
    check("deskhand show last --records", Ok(()));
    check("deskhand config explain model.base_url", Ok(()));
    check("deskhand run \"x\" --open a.txt | jq --slurp", Ok(()));
    check("deskhand --version", Ok(()));
    check("deskhand shows", Err("there is no such command"));
    check("deskhand show last --recrods", Err("it has no option --recrods"));
}
