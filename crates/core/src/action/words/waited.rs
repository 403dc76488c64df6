//! The words for what happened during a wait.

use super::Said;
use crate::{
    action::{Act, Action, Aspect, Change},
    ids::ElementId,
};

/// The most changes that are listed.
const LISTED_MAX: usize = 6;

pub(super) fn waited(action: &Action, drawn: bool, quiet: bool) -> Said {
    let mut news: Vec<String> = Vec::new();
    let mut elements: Vec<Option<ElementId>> = Vec::new();
    for change in &action.changes {
        match change {
            Change::WindowOpened { title } => news.push(format!("\"{title}\" opened")),
            Change::WindowClosed { title } => news.push(format!("\"{title}\" closed")),
            Change::TitleChanged { title } => news.push(format!("the title changed to \"{title}\"")),
            Change::Element { aspect: Aspect::Focus, element: Some(id) } => {
                news.push(format!("the focus moved to {id}"));
            }
            Change::Element { aspect: Aspect::Focus, element: None } => {}
            Change::Element { element, .. } if !elements.contains(element) => elements.push(*element),
            Change::Element { .. } => {}
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
        let bound_ms = if let Act::Wait { bound_ms } = action.act { bound_ms } else { action.waited_ms };
        return Said::statement(format!("nothing happened within {bound_ms} ms"));
    }
    let how = if quiet { "now idle" } else { "still changing" };
    Said::statement(format!("{} within {} ms; {how}", news.join(", "), action.waited_ms))
}
