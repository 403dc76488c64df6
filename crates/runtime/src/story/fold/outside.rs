//! Questions to people and their replies, their unsolicited messages and actions, and the end of the process.

use deskhand_core::session::{Event, Suspension};

use super::{Asked, Chapter, Moment, Note, Phase, Story, Talk, Update, UserReply, asking};

impl Story {
    pub(super) fn ask(&mut self, asked: Asked, updates: &mut Vec<Update>) {
        self.talk = Some(Talk { step: self.steps, asked: asked.clone(), reply: None, waited_ms: 0 });
        updates.push(Update::moment(Moment::Asked(asked)));
    }

    pub(super) fn user_replied(&mut self, reply: UserReply, updates: &mut Vec<Update>) {
        let Some(mut talk) = self.talk.take() else { return };
        talk.reply = Some(reply.clone());
        updates.push(Update::moment(Moment::UserReply(reply)));
        match &mut self.step {
            Some(step) => step.talks.push(talk),
            None => updates.push(Update::Chapter(Chapter::Talk(talk))),
        }
    }

    /// Reads what a person says or does of their own accord, and what becomes of withheld texts; false for all other events.
    pub(super) fn is_of_person(&mut self, event: &Event, since: u64, updates: &mut Vec<Update>) -> bool {
        if let Event::Told { text, .. } = event {
            // The effect in progress goes on.
            self.wait(since);
            self.note(Note::Told(text.clone()), updates);
        } else if let Event::TakenOver { .. } = event {
            self.wait(since);
            self.withdraw(updates);
            self.note(Note::TakenOver, updates);
            self.open = None;
        } else if let Event::HandedBack { acts, unwatched, note } = event {
            // The time of the person is not the session's.
            self.was_away(since);
            let (acts, unwatched, words) = (acts.clone(), unwatched.clone(), note.clone());
            self.note(Note::HandedBack { acts, unwatched, words }, updates);
        } else if let Event::Disclosed { .. } = event {
            // The look in progress goes on.
            self.wait(since);
        } else {
            return false;
        }
        true
    }

    /// A question that nobody answers any more has no reply in the story.
    fn withdraw(&mut self, updates: &mut Vec<Update>) {
        let Some(talk) = self.talk.take() else { return };
        match &mut self.step {
            Some(step) => step.talks.push(talk),
            None => updates.push(Update::Chapter(Chapter::Talk(talk))),
        }
    }

    /// Reads that the process ends before the round is over; false for all other events. What was asked then was asked in vain.
    pub(super) fn is_suspended(&mut self, event: &Event, updates: &mut Vec<Update>) -> bool {
        let is_asking = self.open.as_ref().is_some_and(|open| open.phase == Phase::Ask);
        if matches!(event, Event::Stopped { .. } | Event::Suspended { reason: Suspension::Signal })
            && is_asking
        {
            self.summary.asked_in_vain();
        }
        if let Event::Suspended { reason } = event {
            if let Suspension::Model { failure } = reason {
                self.summary.model_failed(&asking(self.step_ref.as_ref()), failure, &self.prices);
            }
            self.note(Note::Suspended(reason.clone()), updates);
            return true;
        }
        false
    }
}
