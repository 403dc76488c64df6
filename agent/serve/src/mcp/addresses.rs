//! Kinds of resources, and their addresses.

use rmcp::model::ResourceTemplate;

const PNG: &str = "image/png";
pub(super) const PLAIN: &str = "text/plain";
pub(super) const MARKDOWN: &str = "text/markdown";
pub(super) const LINES: &str = "application/jsonl";

/// A kind of resource: the last part of its address, its media type, what it is.
pub(super) type Part = (&'static str, &'static str, &'static str);

/// The resources of a desktop.
pub(super) const OF_DESKTOPS: [Part; 2] = [
    ("screenshot", PNG, "The whole screen of a desktop, as it is now"),
    ("tree", PLAIN, "The elements of the window that is worked in, else the open windows"),
];
/// The resources of a session.
pub(super) const OF_SESSIONS: [Part; 2] = [
    ("report", MARKDOWN, "What was done in a session, step by step, with verdicts"),
    ("journal", LINES, "The steps of a session as lines of JSON"),
];

/// The forms of all addresses.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let desktops = OF_DESKTOPS.iter().map(|part| (address("desktops", "{desktop}", part), part));
    let sessions = OF_SESSIONS.iter().map(|part| (address("sessions", "{session}", part), part));
    let template = |(address, (part, media, about)): (String, &Part)| {
        ResourceTemplate::new(address, *part).with_description(*about).with_mime_type(*media)
    };
    desktops.chain(sessions).map(template).collect()
}

/// The address of one.
pub(super) fn address(kind: &str, name: &str, (part, ..): &Part) -> String {
    format!("deskhand://{kind}/{name}/{part}")
}

/// The addresses of those of a desktop.
pub(super) fn of_desktop(name: &str) -> [String; 2] {
    OF_DESKTOPS.map(|part| address("desktops", name, &part))
}
