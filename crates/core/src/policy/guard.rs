//! The safe guard: asks before actions that usually cannot be undone.

use super::{
    decision::{Decision, Ruling},
    pattern::{matches, matches_keys, matches_name},
    subject::{HARMLESS, Subject},
};
use crate::intent::Does;

/// What the safe guard asks about: names of actions that usually cannot be undone. The list is short because people
/// stop reading prompts that come too often.
const GUARDED: [(&str, &str); 5] = [
    (
        "Delete|Delete All|Delete Permanently*|Delete File*|Delete Folder*|Delete Account*|Empty Trash*|Erase*|Move to Trash|Uninstall*",
        "it deletes data",
    ),
    (
        "Don't Save|Discard|Discard Changes*|Close without Saving|Exit without Saving|Quit without Saving",
        "unsaved changes would be lost",
    ),
    ("Overwrite*|Replace|Replace File*|Replace Existing*", "it may overwrite data"),
    (
        "Send|Send Now|Send Message|Send Email|Publish|Publish Now|Submit Order*|Place Order*|Buy|Buy Now|Pay|Pay Now",
        "it sends something to others and cannot be taken back",
    ),
    ("Shut Down*|Power Off*|Restart Now|Log Out*", "it ends the computer's session"),
];

pub(super) fn guard(subject: &Subject) -> Option<Ruling> {
    if subject.role.as_ref().is_some_and(|role| matches(HARMLESS, role)) {
        return None;
    }
    let asks = |why: &str| Ruling { decision: Decision::Ask, why: format!("safe guard: {why}") };
    if subject.does == Does::Run {
        return Some(asks(&format!("it runs a program: {}", subject.command_line())));
    }
    if subject.stranger.is_some() {
        return Some(asks(&format!(
            "it starts what is no installed application: {}",
            subject.command_line()
        )));
    }
    if subject.keys.iter().any(|chord| matches_keys("shift+Delete", chord)) {
        return Some(asks("it deletes data permanently"));
    }
    if !subject.does.activates() {
        return None;
    }
    let fits = |labels: &str| subject.labels.iter().any(|label| matches_name(labels, label));
    GUARDED.iter().find(|(labels, _)| fits(labels)).map(|(_, why)| asks(why))
}
