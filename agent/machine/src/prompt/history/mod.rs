//! Earlier actions, findings and notes, as text for a prompt.
//!
//! Everything here is bounded, and every omission is reported: entries that do not fit are summarized, and
//! where even a summary does not fit, the text states how much is missing and how to look it up.

mod fitting;
mod kept;
mod others;
mod steps;

pub(super) use fitting::{HistoryEntry, InFull, fitting, fitting_entries};
pub(super) use kept::{
    WORDS_TOKENS_MAX, answers_text, hits_text, notes_text, past_text, pictures_text, readings_text,
    zoomed_text,
};
pub(crate) use kept::{ZoomedPicture, ZoomedPictures, context_for, digest};
pub(super) use others::others_texts;
pub(super) use steps::{RESULT_CHARS_MAX, operator_step_text, short_step_text, step_text};
pub(crate) use steps::{brief_text, call_text, is_reading, reads, result_line, result_text};
