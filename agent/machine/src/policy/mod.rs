//! The policy: rules over tools, applications and names.
//!
//! Names and keys are judged in the form in which they are carried out: a name as elements are found by it
//! ([`fold_name`](deskhand_ui::fold_name)), keys as chords. What an action treats as equal, the policy treats as equal.

mod address;
mod decision;
mod envelope;
mod executed;
mod flow;
mod guard;
mod keyed;
mod looks;
mod origin;
mod passwords;
mod path;
mod rule;
mod subject;
mod surroundings;
mod values;

pub(crate) use address::reached_in;
pub use decision::{PolicyDecision, PolicyRuling};
pub(crate) use envelope::{chooses_file, pastes_clipboard};
pub use flow::ValueFlow;
pub(crate) use flow::{copies_by_name, fixed_host};
pub use guard::SafeGuardLabels;
pub use keyed::Pressable;
pub use origin::{CommandValue, ObservedText, Texts, ValueKind, ValueOrigin};
pub(crate) use passwords::{PasswordPlace, enters_at_focus, field_for_dots, texts_entered};
pub use path::PathRoots;
pub use rule::{Policy, PolicyRule};
pub use subject::Subject;
pub(crate) use subject::element_at;
pub use surroundings::TargetContext;
pub(crate) use values::ValueContext;
