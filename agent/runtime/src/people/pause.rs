//! The pause switch: who has the desktop, the agents or a person.

use tokio::sync::watch;

/// The pause state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum PauseMode {
    /// The session runs.
    #[default]
    Off,
    /// The session is paused.
    Paused,
    /// A person has taken over mouse and keyboard.
    TakenOver,
}

#[derive(Debug, Default)]
struct PauseState {
    hold: PauseMode,
    /// Set if a person took over and the session has not handled that yet.
    was_taken_over: bool,
    /// The note that the person left when handing back.
    note: Option<String>,
}

/// Pauses a session before its next effect, and hands its desktop to a person and back. Cheap to clone; clones share the state.
#[derive(Debug, Clone)]
pub struct PauseSwitch {
    on: watch::Sender<PauseState>,
}

impl Default for PauseSwitch {
    fn default() -> Self {
        Self { on: watch::Sender::new(PauseState::default()) }
    }
}

impl PauseSwitch {
    /// Pauses the session; returns false if it was paused or taken over already.
    pub fn pause(&self) -> bool {
        self.change(|state| {
            let is_off = state.hold == PauseMode::Off;
            if is_off {
                state.hold = PauseMode::Paused;
            }
            is_off
        })
    }

    /// Resumes the session, and hands back if a person had taken over; returns false if neither was so.
    pub fn resume(&self) -> bool {
        self.change(|state| std::mem::take(&mut state.hold) != PauseMode::Off)
    }

    /// A person takes over mouse and keyboard before the next effect; returns false if somebody has already.
    pub fn take_over(&self) -> bool {
        self.change(|state| {
            state.was_taken_over = true;
            std::mem::replace(&mut state.hold, PauseMode::TakenOver) != PauseMode::TakenOver
        })
    }

    /// The person hands back, perhaps with a word to the agents; returns false, and changes nothing, if nobody has taken over.
    pub fn hand_back(&self, note: Option<String>) -> bool {
        self.change(|state| {
            let is_theirs = state.hold == PauseMode::TakenOver;
            if is_theirs {
                state.hold = PauseMode::Off;
                let notes: Vec<String> = state.note.take().into_iter().chain(note).collect();
                state.note = (!notes.is_empty()).then(|| notes.join("\n"));
            }
            is_theirs
        })
    }

    fn change(&self, change: impl FnOnce(&mut PauseState) -> bool) -> bool {
        self.on.send_if_modified(change)
    }

    /// Returns `true` if the session is paused or taken over.
    pub fn is_paused(&self) -> bool {
        self.on.borrow().hold != PauseMode::Off
    }

    /// Returns `true` if a person has taken over.
    pub fn is_taken_over(&self) -> bool {
        self.on.borrow().hold == PauseMode::TakenOver
    }

    /// Returns `true` if somebody took over, also if they have handed back since, and the session has not dealt with that.
    pub(crate) fn was_taken_over(&self) -> bool {
        self.on.borrow().was_taken_over
    }

    /// The session has dealt with the hand-over. Returns what was said when it was handed back.
    pub(crate) fn dealt_with(&self) -> Option<String> {
        let mut note = None;
        self.on.send_if_modified(|state| {
            // Somebody may have taken over once more.
            state.was_taken_over = state.hold == PauseMode::TakenOver;
            note = state.note.take();
            false
        });
        note
    }

    /// Waits until the session goes on.
    pub async fn wait_until_resumed(&self) {
        self.wait_for(|state| state.hold == PauseMode::Off).await;
    }

    /// Waits until a person takes over.
    pub(crate) async fn wait_until_taken_over(&self) {
        self.wait_for(|state| state.was_taken_over).await;
    }

    async fn wait_for(&self, is_so: impl FnMut(&PauseState) -> bool) {
        // `self` holds the sender, so waiting cannot fail.
        self.on.subscribe().wait_for(is_so).await.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_took_over_hands_back_and_a_resume_does_as_well() {
        let switch = PauseSwitch::default();
        assert!(!switch.hand_back(Some("nothing".to_owned())), "nobody has taken over");
        assert!(switch.pause() && !switch.pause() && switch.is_paused() && !switch.is_taken_over());
        assert!(!switch.hand_back(None), "a pause is no hand-over");
        assert!(switch.take_over() && !switch.take_over() && switch.is_taken_over());
        assert!(!switch.pause(), "it is more than a pause");
        assert!(switch.hand_back(Some("look".to_owned())) && !switch.is_paused() && switch.was_taken_over());
        assert!(switch.take_over() && switch.hand_back(Some("again".to_owned())));
        assert_eq!(switch.dealt_with().as_deref(), Some("look\nagain"));
        assert!(!switch.was_taken_over());
        assert!(switch.take_over() && switch.resume() && switch.was_taken_over());
        assert_eq!(switch.dealt_with(), None);
    }

    #[test]
    fn a_hand_over_that_begins_before_the_last_was_dealt_with_is_not_lost() {
        let switch = PauseSwitch::default();
        assert!(switch.take_over() && switch.hand_back(None) && switch.take_over());
        assert_eq!(switch.dealt_with(), None);
        assert!(switch.was_taken_over(), "the second one is still to be dealt with");
    }
}
