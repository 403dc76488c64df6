//! Workflows: tasks that were done once and are done again without a model.
//!
//! A [`Workflow`] is a file that a person reads, edits and keeps: parameters, and steps with their elements as [`selector`]s, repeated for
//! rows of a table where that is meant. [`WorkflowExecution`] is one that is being run. The session machine asks it what to do next in the window
//! that it sees, sends that through the same gate as everything else, and gives it the results. What has changed in an application is
//! found again by the rules of selectors, and proposed as a [`StepChange`]; what is really gone stops the run, or costs one question to
//! a model.

mod ahead;
mod change;
mod dialogs;
mod file;
mod filling;
mod fitting;
mod healing;
mod lines;
mod offer;
mod performing;
mod reads;
mod results;
mod run;
mod seeking;
pub mod selector;
mod summary;
mod values;

pub(crate) use ahead::WorkflowCalls;
pub use change::{Healer, StepChange, WorkflowEnd};
pub use file::{
    DialogRule, EachRow, FORMAT, Parameter, ParameterKind, StepExpectation, StepWindow, Workflow,
    WorkflowError, WorkflowOrigin, WorkflowStep,
};
pub use fitting::{WorkflowMatch, fitting};
pub use lines::line_difference;
pub use offer::{ValueProblem, WorkflowOffer, given_values};
pub(crate) use performing::{NextWindowStep, Where, WorkflowExecution, WorkflowStepFailure};
pub(crate) use run::stranger_of;
pub use run::{Heal, WorkflowRun};
pub use summary::{StepConsequence, SummaryLine, WorkflowSummary};
pub use values::{TemplateError, Values, literal};
