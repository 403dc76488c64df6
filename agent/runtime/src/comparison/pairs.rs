//! Moves of two sessions, paired and compared.

use serde::{Deserialize, Serialize};

use super::{
    align::align,
    moves::{Move, Moves},
};
use crate::{
    catalogue::{SessionFacts, facts_of},
    journal::{JournalError, SessionFolder},
};

/// Times are different if one is longer than the other by this factor, in percent, …
const TIME_PERCENT: u64 = 150;
/// … and by this much, in milliseconds.
const TIME_MS: u64 = 500;

/// Two sessions side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionComparison {
    /// The first session.
    pub left: ComparedSession,
    /// The second session.
    pub right: ComparedSession,
    /// The last record that both have in common, if one was forked from the other.
    pub shared_records: Option<u64>,
    /// Moves of both sessions, in order.
    pub pairs: Vec<Pair>,
    /// The number of pairs in which nothing differs.
    pub equal: usize,
}

/// One of two sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedSession {
    /// Its id.
    pub id: String,
    /// Its totals.
    pub facts: SessionFacts,
    /// The number of moves after those that are compared.
    pub left_out: usize,
}

/// The same move of both sessions, or a move of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The move of the first session.
    pub left: Option<Move>,
    /// The move of the second session.
    pub right: Option<Move>,
    /// Differences; empty if there are none, or if only one session has the move.
    pub differs: Vec<MoveAspect>,
}

/// Possible difference between two moves that do the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MoveAspect {
    /// The verdict.
    Verdict,
    /// The arguments, other than the id of the target.
    Arguments,
    /// Result of the move.
    Result,
    /// The cost of the step.
    Cost,
    /// The time: one took half as long again as the other, and half a second more.
    Time,
}

/// Compares two sessions. Blocking; passwords are replaced by dots.
///
/// # Errors
/// [`JournalError`] if a journal cannot be read.
pub fn compare(left: &SessionFolder, right: &SessionFolder) -> Result<SessionComparison, JournalError> {
    let (left_moves, left) = read(left)?;
    let (right_moves, right) = read(right)?;
    let keys = |moves: &'_ [Move]| moves.iter().map(|one| one.key.clone()).collect::<Vec<String>>();
    let (left_keys, right_keys) = (keys(&left_moves), keys(&right_moves));
    let (left_keys, right_keys) = (borrowed(&left_keys), borrowed(&right_keys));
    let (mut left_moves, mut right_moves) = (left_moves.into_iter(), right_moves.into_iter());
    let pairs: Vec<Pair> = align(&left_keys, &right_keys)
        .into_iter()
        .map(|(in_left, in_right)| {
            // Places come in order, each once.
            let left = in_left.and_then(|_| left_moves.next());
            let right = in_right.and_then(|_| right_moves.next());
            let differs = left.as_ref().zip(right.as_ref()).map(|(left, right)| differences(left, right));
            Pair { left, right, differs: differs.unwrap_or_default() }
        })
        .collect();
    let is_equal = |pair: &&Pair| pair.left.is_some() && pair.right.is_some() && pair.differs.is_empty();
    let equal = pairs.iter().filter(is_equal).count();
    let shared_records = shared(&left, &right).or_else(|| shared(&right, &left));
    Ok(SessionComparison { left, right, shared_records, pairs, equal })
}

fn read(folder: &SessionFolder) -> Result<(Vec<Move>, ComparedSession), JournalError> {
    let Moves { moves, left_out } = Moves::of(folder)?;
    Ok((moves, ComparedSession { id: folder.name(), facts: facts_of(folder)?, left_out }))
}

fn borrowed(keys: &[String]) -> Vec<&str> {
    keys.iter().map(String::as_str).collect()
}

/// The records that a fork has of its origin.
fn shared(fork: &ComparedSession, origin: &ComparedSession) -> Option<u64> {
    fork.facts.origin.as_ref().filter(|from| from.session.0 == origin.id).map(|from| from.record)
}

fn differences(left: &Move, right: &Move) -> Vec<MoveAspect> {
    let (shorter, longer) = (left.elapsed_ms.min(right.elapsed_ms), left.elapsed_ms.max(right.elapsed_ms));
    let is_slower = longer.saturating_mul(100) >= shorter.saturating_mul(TIME_PERCENT)
        && longer.saturating_sub(shorter) >= TIME_MS;
    let aspects = [
        (MoveAspect::Verdict, left.verdict != right.verdict),
        (MoveAspect::Arguments, left.arguments != right.arguments),
        (MoveAspect::Result, left.result != right.result),
        (MoveAspect::Cost, left.cost_usd != right.cost_usd),
        (MoveAspect::Time, is_slower),
    ];
    aspects.into_iter().filter_map(|(aspect, differs)| differs.then_some(aspect)).collect()
}
