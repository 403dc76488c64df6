//! Placeholders in a reply: `{{element "push button" "Finish"}}`.

/// A placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Placeholder {
    /// `{{window "LibreOffice Calc"}}`: a window id, by title or application.
    Window { name: String, nth: Option<usize> },
    /// `{{agent "ShellAgent"}}`: the id of a third-party agent.
    Agent { name: String, nth: Option<usize> },
    /// `{{element "push button" "Finish" nth=2}}`: an element id, by role and, if given, name.
    Element { role: String, name: Option<String>, nth: Option<usize> },
    /// `{{var "output"}}`: a variable passed on loading.
    Variable(String),
    /// `{{capture "rows"}}`: a named group of an `expect` pattern; `as=json` inserts it verbatim instead of as the inside
    /// of a JSON string.
    Capture { name: String, json: bool },
}

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReplyTemplateSegment {
    Text(String),
    Placeholder {
        placeholder: Placeholder,
        /// The source text.
        source: String,
    },
}

const FORMS: &str = "{{window \"NAME\"}}, {{agent \"NAME\"}}, {{element \"ROLE\" \"NAME\"}} (nth=2 selects the second match), \
                     {{var \"NAME\"}} or {{capture \"GROUP\"}} (as=json inserts JSON verbatim)";

/// Splits a reply into text and placeholders.
pub(super) fn parse(reply: &str) -> Result<Vec<ReplyTemplateSegment>, String> {
    let mut pieces = Vec::new();
    let mut rest = reply;
    while let Some(start) = rest.find("{{") {
        let (text, opened) = rest.split_at(start);
        if !text.is_empty() {
            pieces.push(ReplyTemplateSegment::Text(text.to_owned()));
        }
        let inner = opened.get(2..).unwrap_or_default();
        let (words, length) = words(inner).map_err(|problem| {
            let line: String = opened.lines().next().unwrap_or_default().chars().take(60).collect();
            format!("the placeholder at `{line}` {problem}; a placeholder is {FORMS}")
        })?;
        let source = opened.get(..2 + length).unwrap_or(opened).to_owned();
        let placeholder =
            interpret(&words).map_err(|problem| format!("`{source}` {problem}; a placeholder is {FORMS}"))?;
        pieces.push(ReplyTemplateSegment::Placeholder { placeholder, source });
        rest = inner.get(length..).unwrap_or_default();
    }
    if !rest.is_empty() {
        pieces.push(ReplyTemplateSegment::Text(rest.to_owned()));
    }
    Ok(pieces)
}

/// A word of a placeholder.
#[derive(Debug, PartialEq, Eq)]
enum PlaceholderWord {
    Bare(String),
    Quoted(String),
}

/// Reads the words up to the closing braces; returns the number of bytes read, braces included.
fn words(text: &str) -> Result<(Vec<PlaceholderWord>, usize), String> {
    let mut words = Vec::new();
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '}' => {
                return match characters.next() {
                    Some((_, '}')) => Ok((words, at + 2)),
                    _ => Err("ends with a single brace".to_owned()),
                };
            }
            '"' => {
                let mut name = String::new();
                loop {
                    match characters.next() {
                        Some((_, '\\')) => name.extend(characters.next().map(|(_, escaped)| escaped)),
                        Some((_, '"')) => break,
                        Some((_, '\n')) | None => return Err("has an unclosed quote".to_owned()),
                        Some((_, other)) => name.push(other),
                    }
                }
                words.push(PlaceholderWord::Quoted(name));
            }
            _ if character.is_whitespace() => {}
            _ => {
                let mut word = String::from(character);
                while let Some((_, next)) =
                    characters.next_if(|(_, next)| !next.is_whitespace() && !matches!(next, '}' | '"'))
                {
                    word.push(next);
                }
                words.push(PlaceholderWord::Bare(word));
            }
        }
    }
    Err("is not closed".to_owned())
}

fn interpret(words: &[PlaceholderWord]) -> Result<Placeholder, String> {
    let Some((PlaceholderWord::Bare(kind), arguments)) = words.split_first() else {
        return Err("does not start with a keyword".to_owned());
    };
    let (mut names, mut nth, mut json) = (Vec::new(), None, false);
    for argument in arguments {
        match argument {
            PlaceholderWord::Quoted(name) => names.push(name.clone()),
            PlaceholderWord::Bare(word) if word == "as=json" => json = true,
            PlaceholderWord::Bare(word) => {
                let number = word.strip_prefix("nth=").and_then(|number| number.parse::<usize>().ok());
                nth = Some(
                    number.filter(|n| *n > 0).ok_or_else(|| format!("has the unknown argument `{word}`"))?,
                );
            }
        }
    }
    let takes_nth = matches!(kind.as_str(), "window" | "agent" | "element");
    if (nth.is_some() && !takes_nth) || (json && kind != "capture") {
        return Err(format!("has an argument that `{kind}` does not accept"));
    }
    match (kind.as_str(), names.as_slice()) {
        ("window", [name]) => Ok(Placeholder::Window { name: name.clone(), nth }),
        ("agent", [name]) => Ok(Placeholder::Agent { name: name.clone(), nth }),
        ("element", [role]) => Ok(Placeholder::Element { role: role.clone(), name: None, nth }),
        ("element", [role, name]) => {
            Ok(Placeholder::Element { role: role.clone(), name: Some(name.clone()), nth })
        }
        ("var", [name]) => Ok(Placeholder::Variable(name.clone())),
        ("capture", [name]) => Ok(Placeholder::Capture { name: name.clone(), json }),
        ("window" | "agent" | "element" | "var" | "capture", _) => {
            Err(format!("has {} names in double quotes", names.len()))
        }
        _ => Err(format!("starts with the unknown keyword `{kind}`")),
    }
}
