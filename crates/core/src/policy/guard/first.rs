//! The first edition of the safe guard. It only judges sessions that were recorded with it.

use crate::{
    intent::Does,
    policy::{
        pattern::{matches, matches_keys, matches_name},
        subject::{HARMLESS, Subject},
    },
};

/// Names of actions that usually cannot be undone, and why.
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

pub(super) fn reason(subject: &Subject) -> Option<String> {
    if subject.role.as_ref().is_some_and(|role| matches(HARMLESS, role)) {
        return None;
    }
    if subject.does == Does::Run {
        return Some(format!("it runs a program: {}", subject.command_line()));
    }
    if subject.stranger.is_some() {
        return Some(format!("it starts what is no installed application: {}", subject.command_line()));
    }
    if subject.keys.iter().any(|chord| matches_keys("shift+Delete", chord)) {
        return Some("it deletes data permanently".to_owned());
    }
    if !subject.does.activates() {
        return None;
    }
    let fits = |labels: &str| subject.labels.iter().any(|label| matches_name(labels, label));
    GUARDED.iter().find(|(labels, _)| fits(labels)).map(|(_, why)| (*why).to_owned())
}
