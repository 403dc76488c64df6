//! Prompts: how a client's model works with the tools, for its user to choose.

use rmcp::model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::{Map, Value};

/// A prompt: its name, what it is for, its argument with what that is, and its text, with `{}` for the argument.
const PROMPTS: [(&str, &str, (&str, &str), &str); 3] = [
    (
        "do",
        "Do something in desktop applications, step by step",
        ("task", "what to do"),
        "Do this in desktop applications with the tools of Deskhand: {}\n\n\
         Start a desktop with these words as its `task`. `open` what is needed, `look` once, then `act` with as many actions a call as \
         you can predict. Believe only what was seen; when an action was not seen or refused, look and try another way. Save, check that \
         the window shows no unsaved changes, and end the desktop. Report what was seen, not what was meant.",
    ),
    (
        "hand_over",
        "Give a whole task to Deskhand's own agents, and check the result",
        ("task", "what to do"),
        "Give this to `run_task` of Deskhand, with all names, values and paths that it needs: {}\n\n\
         When it has ended, read the report of its session among the resources, and say what was done, how each effect was proven, and \
         what is left.",
    ),
    (
        "try_out",
        "Try an application or a document as a user would, and report what does not work",
        ("what", "the application or the document"),
        "Try this as a user would, with the tools of Deskhand: {}\n\n\
         Start a desktop, open it, look at its window, and go through its main functions. For each, note what you did, what you expected \
         and what was seen. Take a picture of what looks wrong. Change no document of the user; work on copies.",
    ),
];

/// The prompts.
pub(super) fn list() -> Vec<Prompt> {
    let prompt = |(name, about, (argument, meaning), _): &(&str, &str, (&str, &str), &str)| {
        let argument = PromptArgument::new(*argument).with_description(*meaning).with_required(true);
        Prompt::new(*name, Some(*about), Some(vec![argument]))
    };
    PROMPTS.iter().map(prompt).collect()
}

/// Returns `true` if a prompt has an argument.
pub(super) fn has(name: &str, argument: &str) -> bool {
    PROMPTS.iter().any(|(known, _, (known_argument, _), _)| *known == name && *known_argument == argument)
}

/// A prompt with its argument filled in.
///
/// # Errors
/// There is no such prompt, or its argument is missing.
pub(super) fn get(name: &str, arguments: &Map<String, Value>) -> Result<GetPromptResult, String> {
    let names = || PROMPTS.map(|(name, ..)| name).join(", ");
    let (_, about, (argument, _), text) = PROMPTS
        .iter()
        .find(|(known, ..)| *known == name)
        .ok_or_else(|| format!("there is no prompt `{name}`; there are {}", names()))?;
    let given = arguments.get(*argument).and_then(Value::as_str).filter(|given| !given.trim().is_empty());
    let given = given.ok_or_else(|| format!("the prompt `{name}` needs the argument `{argument}`"))?;
    let message = PromptMessage::new_text(Role::User, text.replace("{}", given));
    Ok(GetPromptResult::new(vec![message]).with_description(*about))
}
