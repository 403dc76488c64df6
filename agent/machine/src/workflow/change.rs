//! Changes of a workflow that a run proposes: a person looks at them, and takes them over or not.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    file::{DialogRule, Workflow, WorkflowStep},
    selector::Selector,
};

/// Who found what a step is aimed at now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Healer {
    /// A rule: enough of what was recorded agrees.
    Rule,
    /// A model that was asked about the step.
    Model,
}

impl fmt::Display for Healer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rule => "a rule",
            Self::Model => "a model",
        })
    }
}

/// A change that a run proposes. Its effect was seen before it is proposed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum StepChange {
    /// A step is aimed at an element that looks otherwise now.
    Selector {
        /// The number of the step, as in 3 or 4.2.
        step: String,
        /// The argument.
        argument: String,
        /// As it is in the workflow.
        was: Box<Selector>,
        /// As it should be.
        now: Box<Selector>,
        /// Why it is the same element.
        why: String,
        /// Who found it.
        by: Healer,
    },
    /// A dialog came that the workflow does not know.
    Dialog {
        /// Control that was pressed in it.
        press: Box<Selector>,
        /// Why.
        why: String,
        /// Who decided.
        by: Healer,
    },
}

impl fmt::Display for StepChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Selector { step, argument, was, now, why, by } => {
                writeln!(f, "step {step}, `{argument}`, by {by}: {why}")?;
                for line in was.difference(now).lines() {
                    writeln!(f, "  {line}")?;
                }
                Ok(())
            }
            Self::Dialog { press, why, by } => {
                writeln!(f, "a dialog, by {by}: {why}")?;
                writeln!(f, "  press {}", press.describe())
            }
        }
    }
}

/// Outcome of a workflow run, for whoever maintains the workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkflowEnd {
    /// The name of the workflow.
    pub name: String,
    /// The calls that were done.
    pub done: u32,
    /// Those of them whose effect was not seen.
    #[serde(default)]
    pub unseen: u32,
    /// The step at which it stopped; `None` if all were done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_at: Option<String>,
    /// Proposed changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<StepChange>,
}

impl Workflow {
    /// The workflow with these changes; those that no longer fit are left out and counted.
    pub fn changed(&self, changes: &[StepChange]) -> (Self, usize) {
        let mut changed = self.clone();
        let mut left_out = 0;
        for change in changes {
            let is_made = match change {
                StepChange::Selector { step, argument, was, now, .. } => {
                    let aim = step_mut(&mut changed.steps, step).and_then(|step| step.aims.get_mut(argument));
                    match aim {
                        Some(aim) if *aim == **was => {
                            aim.clone_from(now);
                            true
                        }
                        // A repeated step proposes its change once for each row.
                        Some(aim) => *aim == **now,
                        None => false,
                    }
                }
                StepChange::Dialog { press, why, .. } => {
                    if !changed.dialogs.iter().any(|rule| rule.press == **press) {
                        changed.dialogs.push(DialogRule { about: why.clone(), press: (**press).clone() });
                    }
                    true
                }
            };
            left_out += usize::from(!is_made);
        }
        (changed, left_out)
    }
}

/// The step with a number such as 3 or 4.2.
fn step_mut<'a>(steps: &'a mut [WorkflowStep], label: &str) -> Option<&'a mut WorkflowStep> {
    let (first, rest) = label.split_once('.').map_or((label, None), |(first, rest)| (first, Some(rest)));
    let step = steps.get_mut(first.parse::<usize>().ok()?.checked_sub(1)?)?;
    match rest {
        Some(rest) => step_mut(&mut step.steps, rest),
        None => Some(step),
    }
}
