//! Sequence of the moves of a session.

use deskhand_machine::command::ToolCommand;
use deskhand_ui::{fold_name, text::clip};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    catalogue::dollars,
    journal::{JournalError, SessionFolder},
    report::cost_of,
    story::{ActStory, Chapter, StepStory, tell},
    words::{effect_word, result_words, whole_command_words},
};

/// The most moves of a session that are compared; the first ones.
pub const MOVES_MAX: usize = 4_000;
/// The most characters of a text of a move.
const TEXT_CHARS_MAX: usize = 2_000;

/// A call, or the decision of a step without calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Move {
    /// The number of the record that asked for it; 0 for a decision.
    pub record: u64,
    /// The step.
    pub step: u32,
    /// The agent.
    pub agent: String,
    /// The tool; empty for a decision.
    pub tool: String,
    /// Description of the move in words.
    pub words: String,
    /// The arguments of the call, without the id of a target that was found.
    pub arguments: Map<String, Value>,
    /// The result in one word: a verdict, `read`, `failed`, `skipped`, `no result`, or the status of a decision.
    pub verdict: String,
    /// Result of the move in words.
    pub result: String,
    /// The cost of its step in US dollars, for the first move of a step; `None` if it is partly unknown, and for later moves.
    pub cost_usd: Option<f64>,
    /// Duration of the call, in milliseconds; for a decision, of its whole step.
    pub elapsed_ms: u64,
    /// Key by which moves are aligned: the action and its target.
    #[serde(skip)]
    pub(super) key: String,
}

/// The moves of a session, and how many more there are.
pub(super) struct Moves {
    pub(super) moves: Vec<Move>,
    pub(super) left_out: usize,
}

impl Moves {
    /// Of a journal, with dots in place of passwords.
    pub(super) fn of(folder: &SessionFolder) -> Result<Self, JournalError> {
        let mut found = Self { moves: Vec::new(), left_out: 0 };
        tell(folder, |chapter| -> Result<(), JournalError> {
            match chapter {
                Chapter::Step(step) => found.add(&step),
                Chapter::Begun(_)
                | Chapter::Talk(_)
                | Chapter::Note(_)
                | Chapter::Ended { .. }
                | Chapter::Left { .. } => {}
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn add(&mut self, step: &StepStory) {
        let mut moves: Vec<Move> = step.acts.iter().map(|act| of_act(step, act)).collect();
        if moves.is_empty() {
            moves.push(of_decision(step));
        }
        if let Some(first) = moves.first_mut() {
            first.cost_usd = cost_of(step).map(dollars);
        }
        let room = MOVES_MAX.saturating_sub(self.moves.len());
        self.left_out += moves.len().saturating_sub(room);
        self.moves.extend(moves.into_iter().take(room));
    }
}

fn of_act(step: &StepStory, act: &ActStory) -> Move {
    let target = act.target.as_ref();
    let mut arguments = act.command.arguments.clone();
    let aimed_at = match target {
        Some(target) => {
            // The same control has another id in another session.
            arguments.shift_remove("id");
            format!("{} {}", target.kind, fold_name(&target.name))
        }
        None => named_in(&act.command),
    };
    let words = whole_command_words(&act.command, target.map(|target| target.label.as_str()));
    Move {
        record: act.record,
        step: step.number,
        agent: step.agent.to_string(),
        tool: act.command.tool.clone(),
        words: clip(&words, TEXT_CHARS_MAX),
        arguments,
        verdict: act.result.as_ref().map_or("no result", effect_word).to_owned(),
        result: clip(&act.result.as_ref().map(result_words).unwrap_or_default(), TEXT_CHARS_MAX),
        cost_usd: None,
        elapsed_ms: act.result.as_ref().map_or(0, |result| result.elapsed_ms),
        key: format!("{}\n{aimed_at}", act.command.tool),
    }
}

fn of_decision(step: &StepStory) -> Move {
    let said = step.decision.as_ref();
    let status = said.map_or("no decision", |said| said.status.as_str());
    let texts = said.into_iter().flat_map(|said| [&said.subtask, &said.result, &said.comment]);
    let result = texts.into_iter().find(|text| !text.is_empty());
    let times = &step.times;
    Move {
        record: 0,
        step: step.number,
        agent: step.agent.to_string(),
        tool: String::new(),
        words: status.to_lowercase(),
        arguments: Map::new(),
        verdict: status.to_owned(),
        result: result.map(|text| clip(text, TEXT_CHARS_MAX)).unwrap_or_default(),
        cost_usd: None,
        elapsed_ms: times.framework().saturating_add(times.ask),
        key: format!("\n{} {status}", step.agent.kind_word()),
    }
}

/// Names the target of a command without a known target, by its arguments.
fn named_in(command: &ToolCommand) -> String {
    const NAMES: [&str; 7] = ["path", "name", "program", "keys", "key", "item", "file"];
    let argument =
        NAMES.iter().find_map(|name| command.arguments.get(*name).filter(|value| !value.is_null()));
    argument
        .map(|value| fold_name(&value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        .unwrap_or_default()
}
