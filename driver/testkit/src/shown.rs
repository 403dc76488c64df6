//! What a prompt shows, for models that are functions of the prompt and remember nothing.

/// What stands under the last heading of this name; empty without one.
pub fn section<'a>(prompt: &'a str, heading: &str) -> &'a str {
    let Some((_, after)) = prompt.rsplit_once(&format!("\n# {heading}")) else { return "" };
    after.split("\n# ").next().unwrap_or_default()
}

/// The sections on what happened before: notes, earlier steps and sub-tasks, the blackboard.
pub fn past(prompt: &str) -> String {
    let headings = ["Notes", "Your steps on this sub-task so far", "Earlier sub-tasks", "Blackboard"];
    headings.into_iter().map(|heading| section(prompt, heading)).collect()
}

/// The elements and windows that are listed, several of a row on one line: `[e17] check box "Item 3" (checked) | [e18] "Item 4"`.
pub fn listed(prompt: &str) -> impl Iterator<Item = &str> {
    prompt.lines().flat_map(|line| line.split(" | ")).filter(|part| part.contains('['))
}

/// The id of the first that is listed with this text.
pub fn id_of(prompt: &str, text: &str) -> Option<String> {
    let (_, after) = listed(prompt).find(|part| part.contains(text))?.split_once('[')?;
    after.split_once(']').map(|(id, _)| id.to_owned())
}

/// The id of the first of the check boxes `Item 1` to `Item LAST` that is not ticked.
pub fn next_box(prompt: &str, last: u32) -> Option<String> {
    let is_ticked = |number: &u32| {
        let name = format!("\"Item {number}\"");
        // The last one is the newest: changes stand after the listing.
        let part = listed(prompt).filter(|part| part.contains(&name) && part.contains("[e")).last();
        part.is_some_and(|part| part.contains("checked") && !part.contains("not checked"))
    };
    let number = (1..=last).find(|number| !is_ticked(number))?;
    id_of(prompt, &format!("\"Item {number}\""))
}

/// The id of the reading that was made with this tool, of those that are only listed.
pub fn reading(prompt: &str, tool: &str) -> Option<String> {
    let line =
        section(prompt, "What was read and is not told here").lines().find(|line| line.contains(tool))?;
    line.trim_start_matches("- ").split(',').next().map(str::to_owned)
}

/// The number with a point after this word, wherever it stands: `Lamp | 417.50`, `Lamp costs 417.50`.
pub fn price_of(article: &str, text: &str) -> Option<String> {
    let (_, after) = text.rsplit_once(article)?;
    let numbers = after.split(|c: char| !(c.is_ascii_digit() || c == '.')).map(|word| word.trim_matches('.'));
    numbers.into_iter().find(|word| word.contains('.') && word.len() > 3).map(str::to_owned)
}
