//! Parses a page; the parent module describes the marks.

/// A page.
pub(super) struct Page {
    /// Its path below the repository root.
    pub(super) path: String,
    /// Its blocks, from top to bottom.
    pub(super) pieces: Vec<Piece>,
    /// Code in the text, with its line.
    pub(super) inline: Vec<(usize, String)>,
}

/// A block of a page that is tested.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A file to write.
    File { name: String, text: String },
    /// Commands to run.
    Commands { line: usize, commands: Vec<Command>, exit: i32, norun: Option<String> },
    /// A configuration.
    Configuration { line: usize, text: String },
}

/// One command with the expected output.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) output: Vec<String>,
}

/// The mark in the comment before a block.
enum Mark {
    File(String),
    NoRun(String),
}

impl Page {
    pub(super) fn parse(path: &str, text: &str) -> Self {
        let mut page = Self { path: path.to_owned(), pieces: Vec::new(), inline: Vec::new() };
        let mut mark = None;
        let mut lines = (1..).zip(text.lines());
        while let Some((number, line)) = lines.next() {
            if let Some(kind) = line.strip_prefix("```") {
                let block: Vec<(usize, &str)> =
                    lines.by_ref().take_while(|(_, line)| *line != "```").collect();
                page.block(number, kind, &block, mark.take());
            } else if let Some(name) = line.strip_prefix("<!-- given: ") {
                let block: Vec<&str> =
                    lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "-->").collect();
                page.pieces.push(Piece::File { name: name.trim().to_owned(), text: joined(&block) });
            } else if let Some(comment) =
                line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"))
            {
                mark = match comment.split_once(": ") {
                    Some(("file", name)) => Some(Mark::File(name.to_owned())),
                    Some(("norun", reason)) => Some(Mark::NoRun(reason.to_owned())),
                    _ => None,
                };
            } else {
                page.inline.extend(line.split('`').skip(1).step_by(2).map(|code| (number, code.to_owned())));
            }
        }
        page
    }

    fn block(&mut self, line: usize, kind: &str, block: &[(usize, &str)], mark: Option<Mark>) {
        let text: Vec<&str> = block.iter().map(|(_, line)| *line).collect();
        let mut words = kind.split(',');
        match (words.next(), mark) {
            (_, Some(Mark::File(name))) => self.pieces.push(Piece::File { name, text: joined(&text) }),
            (Some("console"), mark) => {
                let exit =
                    words.find_map(|word| word.strip_prefix("exit=")).map_or(0, |code| code.parse().unwrap());
                let norun = mark.map(|mark| match mark {
                    Mark::NoRun(reason) | Mark::File(reason) => reason,
                });
                let commands = commands(block);
                assert!(!commands.is_empty(), "{}:{line}: a console block without `$ `", self.path);
                self.pieces.push(Piece::Commands { line, commands, exit, norun });
            }
            (Some("toml"), _) => self.pieces.push(Piece::Configuration { line, text: joined(&text) }),
            _ => {}
        }
    }
}

fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The commands of a block; a backslash at the end of a line continues the command.
fn commands(block: &[(usize, &str)]) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    for (line, text) in block {
        match (text.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => {
                commands.push(Command { line: *line, text: command.to_owned(), output: Vec::new() });
            }
            (None, Some(last)) if last.text.ends_with('\\') && last.output.is_empty() => {
                last.text.pop();
                last.text.push_str(text.trim_start());
            }
            (None, Some(last)) => last.output.push((*text).to_owned()),
            (None, None) => {}
        }
    }
    commands
}

#[test]
fn a_page_is_read_from_top_to_bottom() {
    let page = Page::parse(
        "a.md",
        "Text `deskhand doctor`.\n\n<!-- file: a.txt -->\n```text\nhello\n```\n\n<!-- given: b/c.txt\nhidden\n-->\n\
         ```console,exit=3\n$ cat a.txt \\\n    b\nhello\n…\n$ false\n```\n\n<!-- norun: it needs a network -->\n\
         ```console\n$ curl x\n```\n\n```toml\na = 1\n```\n",
    );
    let command = |line, text: &str, output: &[&str]| Command {
        line,
        text: text.to_owned(),
        output: output.iter().map(|&line| line.to_owned()).collect(),
    };
    assert_eq!(page.inline, [(1, "deskhand doctor".to_owned())]);
    assert_eq!(
        page.pieces,
        [
            Piece::File { name: "a.txt".to_owned(), text: "hello\n".to_owned() },
            Piece::File { name: "b/c.txt".to_owned(), text: "hidden\n".to_owned() },
            Piece::Commands {
                line: 11,
                commands: vec![command(12, "cat a.txt b", &["hello", "…"]), command(16, "false", &[])],
                exit: 3,
                norun: None,
            },
            Piece::Commands {
                line: 20,
                commands: vec![command(21, "curl x", &[])],
                exit: 0,
                norun: Some("it needs a network".to_owned()),
            },
            Piece::Configuration { line: 24, text: "a = 1\n".to_owned() },
        ]
    );
}
