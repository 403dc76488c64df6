//! Events without secrets.

use deskhand_core::{
    command::{CallResult, Verdict},
    observation::ObserveFailure,
    session::Event,
};
use deskhand_secret::Veil;

/// An event without the values of secrets. The desktop hides them already; this covers agents, tools, people and errors.
pub(crate) fn hidden(event: Event, veil: &Veil) -> Event {
    if veil.is_empty() {
        return event;
    }
    let acts = matches!(event, Event::Returned { .. });
    veil.hide_in(event).unwrap_or_else(|_| {
        let message = "what came back could not be shown without a secret".to_owned();
        if acts {
            Event::Returned { result: CallResult::failure(Some(Verdict::Unknown), message) }
        } else {
            Event::ObserveFailed {
                failure: ObserveFailure { window_gone: false, desktop_gone: false, message },
            }
        }
    })
}
