//! The words for what happened during a wait.

use super::ReportSentence;
use crate::{
    action::{ActionKind, ActionOutcome, ElementChangeKind, UiChange},
    ids::ElementId,
};

/// The most changes that are listed.
const LISTED_MAX: usize = 6;

pub(super) fn waited(action: &ActionOutcome, drawn: bool, quiet: bool) -> ReportSentence {
    let mut news: Vec<String> = Vec::new();
    let mut elements: Vec<Option<ElementId>> = Vec::new();
    for change in &action.changes {
        match change {
            UiChange::WindowOpened { title } => news.push(format!("\"{title}\" opened")),
            UiChange::WindowClosed { title } => news.push(format!("\"{title}\" closed")),
            UiChange::TitleChanged { title } => news.push(format!("the title changed to \"{title}\"")),
            UiChange::Element { aspect: ElementChangeKind::Focus, element: Some(id) } => {
                news.push(format!("the focus moved to {id}"));
            }
            UiChange::Element { aspect: ElementChangeKind::Focus, element: None } => {}
            UiChange::Element { element, .. } if !elements.contains(element) => elements.push(*element),
            UiChange::Element { .. } => {}
        }
    }
    let more = news.len().saturating_sub(LISTED_MAX);
    news.truncate(LISTED_MAX);
    if more > 0 {
        news.push(format!("{more} more changes of windows and focus"));
    }
    match elements.as_slice() {
        [] if drawn && news.is_empty() => news.push("it was redrawn".to_owned()),
        [] => {}
        [Some(one)] => news.push(format!("{one} changed")),
        many => news.push(format!("{} elements changed", many.len())),
    }
    if news.is_empty() {
        let bound_ms =
            if let ActionKind::Wait { bound_ms } = action.act { bound_ms } else { action.waited_ms };
        return ReportSentence::statement(format!("nothing happened within {bound_ms} ms"));
    }
    let how = if quiet { "now idle" } else { "still changing" };
    ReportSentence::statement(format!("{} within {} ms; {how}", news.join(", "), action.waited_ms))
}
