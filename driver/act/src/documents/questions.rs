//! The questions of an application while it saves.

use deskhand_desktop::{Desktop, DesktopError, DesktopResult};
use deskhand_ui::{Element, Role, WindowInfo, fold_name};

use crate::{
    click::{Click, click_once},
    patience::read_tree,
    report::{ActLimits, ActionTarget, Halt},
};

/// The answers that the caller gave in advance.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SaveDialogAnswers {
    /// `true` to retain the format of the file, where the application suggests its own.
    pub(crate) keep_format: Option<bool>,
    /// `true` if a file that exists may be replaced.
    pub(crate) overwrite: bool,
    /// `true` if the options of a format are accepted as suggested.
    pub(crate) accept_options: bool,
}

/// Question that a dialog shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SaveDialogQuestion {
    /// Retain the format of the file.
    Format,
    /// Replace a file.
    Overwrite,
    /// The options of a format.
    Options,
}

/// Returns the question that a button answers, and its answer.
fn answer_of(name: &str) -> Option<(SaveDialogQuestion, bool)> {
    let name = fold_name(name);
    let name = name.trim_end_matches('!');
    let is = |names: &[&str]| names.contains(&name);
    if name.starts_with("keep current format") || is(&["keep", "keep format"]) {
        return Some((SaveDialogQuestion::Format, true));
    }
    if let Some(format) = name.strip_prefix("use ").and_then(|rest| rest.strip_suffix(" format")) {
        return Some((
            SaveDialogQuestion::Format,
            !(format.contains("odf") || format.contains("opendocument")),
        ));
    }
    is(&["replace", "overwrite"]).then_some((SaveDialogQuestion::Overwrite, true))
}

/// Returns `true` if a dialog sets the options of an export, such as the separators of a text file.
fn sets_options(dialog: &WindowInfo) -> bool {
    let title = dialog.title.to_lowercase();
    ["export text file", "text export", "export image as"].iter().any(|words| title.starts_with(words))
}

/// Clicks the button of `dialog` that gives the answer; false if the question is not one that was answered in advance.
pub(super) async fn answer<D: Desktop>(
    desktop: &D,
    dialog: &WindowInfo,
    answers: SaveDialogAnswers,
    limits: &ActLimits,
) -> Result<bool, Halt> {
    let buttons = match buttons(desktop, dialog).await {
        Err(DesktopError::NoWindow(_)) => return Ok(true),
        other => other?,
    };
    let wanted = |question: SaveDialogQuestion| match question {
        SaveDialogQuestion::Format => answers.keep_format,
        SaveDialogQuestion::Overwrite => answers.overwrite.then_some(true),
        SaveDialogQuestion::Options => answers.accept_options.then_some(true),
    };
    let gives = |button: &&Element| {
        let found = answer_of(&button.name);
        let accepts = ["ok", "export"].contains(&fold_name(&button.name).as_str());
        let options = sets_options(dialog) && accepts;
        let found = found.or_else(|| options.then_some((SaveDialogQuestion::Options, true)));
        found.is_some_and(|(question, says)| wanted(question) == Some(says))
    };
    let Some(button) = buttons.iter().find(gives) else { return Ok(false) };
    let target = ActionTarget::Element { id: button.id, name: Some(button.name.clone()) };
    click_once(desktop, dialog.id, &Click::once(target), limits).await?;
    Ok(true)
}

/// The buttons of a dialog that accept input.
pub(super) async fn buttons<D: Desktop>(desktop: &D, dialog: &WindowInfo) -> DesktopResult<Vec<Element>> {
    let tree = read_tree(desktop, dialog.id).await?;
    let is_button = |element: &Element| {
        let role = &element.role;
        (*role == Role::PUSH_BUTTON || *role == Role::TOGGLE_BUTTON) && element.states.takes_input()
    };
    Ok(tree.elements.into_iter().filter(is_button).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_answer_in_words() {
        let check = |name: &str, expected: Option<(SaveDialogQuestion, bool)>| {
            assert_eq!(answer_of(name), expected, "{name}");
        };
        check("Keep Current Format!", Some((SaveDialogQuestion::Format, true)));
        check("_Keep Current Format", Some((SaveDialogQuestion::Format, true)));
        check("Use Text CSV Format!", Some((SaveDialogQuestion::Format, true)));
        check("Use ODF Format!", Some((SaveDialogQuestion::Format, false)));
        check("Replace", Some((SaveDialogQuestion::Overwrite, true)));
        check("Cancel", None);
        check("Keep editing", None);
    }
}
