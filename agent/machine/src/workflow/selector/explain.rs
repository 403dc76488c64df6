//! Results of a search in sentences: for a person who reads a run, and for the question of how to heal a step.

use super::{
    data::{Selector, SelectorAnchor},
    find::{Agreement, Contender, Drift, Obstacle, SelectorMatch, SelectorMatchRule},
};

impl SelectorMatch {
    /// Describes the wanted element, its replacement, the rule that fitted, and the changes.
    pub fn explain(&self, selector: &Selector) -> String {
        let wanted = selector.describe();
        match self {
            Self::Exact { element } => format!("Found {wanted} as {element}, as it was recorded."),
            Self::Drifted { element, fit, drifts, proof } => {
                let changes = sentences(drifts.iter().map(change));
                let proof: Vec<String> = proof.iter().map(|one| agreement(*one, selector)).collect();
                let agrees = if proof.is_empty() {
                    String::new()
                } else {
                    format!(" Still the same: {}.", proof.join(", "))
                };
                format!("Looked for {wanted} and found {element}: {}.{changes}{agrees}", rule(*fit))
            }
            Self::Ambiguous { candidates } => format!(
                "Looked for {wanted}; several elements fit and cannot be told apart: {}.",
                listed(candidates)
            ),
            Self::Gone { nearest, why } => {
                let near = if nearest.is_empty() {
                    String::new()
                } else {
                    format!(" Nearest: {}.", listed(nearest))
                };
                format!("Looked for {wanted}; it is not there: {}.{near}", obstacle(why, selector))
            }
        }
    }
}

fn sentences(parts: impl Iterator<Item = String>) -> String {
    parts.map(|part| format!(" {part}.")).collect()
}

fn listed(contenders: &[Contender]) -> String {
    contenders.iter().map(|one| format!("{} {}", one.element, one.label)).collect::<Vec<_>>().join(", ")
}

const fn rule(fit: SelectorMatchRule) -> &'static str {
    match fit {
        SelectorMatchRule::Same => "same role, name and containers in another window or page",
        SelectorMatchRule::Moved => "same role and name in another place",
        SelectorMatchRule::OtherRole => "same name, drawn as another kind of control",
        SelectorMatchRule::Renamed => "related name between the same neighbours",
        SelectorMatchRule::Translated => "same position in a window that is in another language",
    }
}

fn change(drift: &Drift) -> String {
    let path = |anchors: &[SelectorAnchor]| {
        let names: Vec<String> = anchors.iter().map(ToString::to_string).collect();
        if names.is_empty() { "no named container".to_owned() } else { names.join(" > ") }
    };
    let percent = |[x, y]: &[f64; 2]| format!("{:.0} %, {:.0} %", x * 100.0, y * 100.0);
    match drift {
        Drift::Name { was, now } => format!("The name was \"{was}\" and is \"{now}\""),
        Drift::Role { was, now } => format!("The role was {was} and is {now}"),
        Drift::Container { was, now } => format!("It was in {} and is in {}", path(was), path(now)),
        Drift::Neighbour(anchor) => format!("The neighbour {anchor} is no longer beside it"),
        Drift::Help { was, now } => format!("The help text was \"{was}\" and is \"{now}\""),
        Drift::Place { was, now } => {
            format!("Its place was {} of the window and is {}", percent(was), percent(now))
        }
        Drift::Title { was, now } => format!("The window was called \"{was}\" and is called \"{now}\""),
        Drift::Page { was, now } => format!("The page was {was} and is {now}"),
    }
}

fn agreement(agreement: Agreement, selector: &Selector) -> String {
    let first = |anchors: &[SelectorAnchor]| anchors.first().map(ToString::to_string).unwrap_or_default();
    match agreement {
        Agreement::Row => format!("the row of \"{}\"", selector.row.join("\", \"")),
        Agreement::Column => format!("the column \"{}\"", selector.column.as_deref().unwrap_or_default()),
        Agreement::Label => format!("the label \"{}\"", selector.label.as_deref().unwrap_or_default()),
        Agreement::Help => "the help text".to_owned(),
        Agreement::Keys => format!("the shortcut {}", selector.keys.as_deref().unwrap_or_default()),
        Agreement::Range => "the range of values".to_owned(),
        Agreement::Container => {
            selector.within.last().map_or_else(|| "the container".to_owned(), ToString::to_string)
        }
        Agreement::Before => format!("{} before it", first(&selector.before)),
        Agreement::After => format!("{} after it", first(&selector.after)),
        Agreement::Company => "the neighbours in its container".to_owned(),
        Agreement::Word => "what the name means".to_owned(),
        Agreement::Order => format!("the position {} of {} in its container", selector.nth, selector.of),
        Agreement::Place => "the place in the window".to_owned(),
    }
}

fn obstacle(why: &Obstacle, selector: &Selector) -> String {
    match why {
        Obstacle::NoWindow => {
            let title =
                selector.scope.title.as_ref().map(|title| format!(" \"{title}\"")).unwrap_or_default();
            format!("its window{title} is not open")
        }
        Obstacle::Blocked { by } => format!("the dialog \"{by}\" is in front of its window"),
        Obstacle::NoRow => "no row or column has the wanted texts".to_owned(),
        Obstacle::Hidden => "it exists and is hidden".to_owned(),
        Obstacle::OtherHost { page } => format!("one of its name is on another page, \"{page}\""),
        Obstacle::Nothing => "nothing has its name, and nothing stands in its place".to_owned(),
        Obstacle::Unproven => "there is one of its name, but too little around it is as recorded".to_owned(),
        Obstacle::TakenByOther => "an element that stood elsewhere has taken its place".to_owned(),
        Obstacle::Opposite => "what stands in its place says the opposite or reaches further".to_owned(),
        Obstacle::OtherConsequence => "what stands in its place has other consequences".to_owned(),
        Obstacle::Unrelated => {
            "what stands in its place has a name without relation to the old one".to_owned()
        }
    }
}
