//! Questions to people and their replies, their unsolicited messages and actions, and the end of the process.

use deskhand_machine::session::{SessionEvent, Suspension};

use super::{
    Chapter, LedgerPhase, Moment, SessionNote, Story, StoryUpdate, Talk, UserInquiry, UserReply, asking,
};

impl Story {
    pub(super) fn ask(&mut self, asked: UserInquiry, updates: &mut Vec<StoryUpdate>) {
        self.talk = Some(Talk { step: self.steps, asked: asked.clone(), reply: None, waited_ms: 0 });
        updates.push(StoryUpdate::moment(Moment::Asked(asked)));
    }

    pub(super) fn user_replied(&mut self, reply: UserReply, updates: &mut Vec<StoryUpdate>) {
        let Some(mut talk) = self.talk.take() else { return };
        talk.reply = Some(reply.clone());
        updates.push(StoryUpdate::moment(Moment::UserReply(reply)));
        match &mut self.step {
            Some(step) => step.talks.push(talk),
            None => updates.push(StoryUpdate::Chapter(Chapter::Talk(talk))),
        }
    }

    /// Reads what a person says or does of their own accord, and what becomes of withheld texts; false for all other events.
    pub(super) fn is_of_person(
        &mut self,
        event: &SessionEvent,
        since: u64,
        updates: &mut Vec<StoryUpdate>,
    ) -> bool {
        if let SessionEvent::Told { text, .. } = event {
            // The effect in progress goes on.
            self.wait(since);
            self.note(SessionNote::Told(text.clone()), updates);
        } else if let SessionEvent::TakenOver { .. } = event {
            self.wait(since);
            self.withdraw(updates);
            self.note(SessionNote::TakenOver, updates);
            self.open = None;
        } else if let SessionEvent::HandedBack { acts, unwatched, note } = event {
            // The time of the person is not the session's.
            self.was_away(since);
            let (acts, unwatched, words) = (acts.clone(), unwatched.clone(), note.clone());
            self.note(SessionNote::HandedBack { acts, unwatched, words }, updates);
        } else if let SessionEvent::Disclosed { .. } = event {
            // The look in progress goes on.
            self.wait(since);
        } else {
            return false;
        }
        true
    }

    /// A question that nobody answers any more has no reply in the story.
    fn withdraw(&mut self, updates: &mut Vec<StoryUpdate>) {
        let Some(talk) = self.talk.take() else { return };
        match &mut self.step {
            Some(step) => step.talks.push(talk),
            None => updates.push(StoryUpdate::Chapter(Chapter::Talk(talk))),
        }
    }

    /// Reads that the process ends before the round is over; false for all other events. What was asked then was asked in vain.
    pub(super) fn is_suspended(&mut self, event: &SessionEvent, updates: &mut Vec<StoryUpdate>) -> bool {
        let is_asking = self.open.as_ref().is_some_and(|open| open.phase == LedgerPhase::Ask);
        if matches!(
            event,
            SessionEvent::Stopped { .. } | SessionEvent::Suspended { reason: Suspension::Signal }
        ) && is_asking
        {
            self.summary.asked_in_vain();
        }
        if let SessionEvent::Suspended { reason } = event {
            if let Suspension::Model { failure } = reason {
                self.summary.model_failed(&asking(self.step_ref.as_ref()), failure, &self.prices);
            }
            self.note(SessionNote::Suspended(reason.clone()), updates);
            return true;
        }
        false
    }
}
