//! The prompts: templates, their typed inputs, and the text of views.
//!
//! The templates are files (`agent/machine/prompts/`). An undefined variable in a template is an error, never an empty
//! string. All text from outside is marked, has a source, and is clipped.

mod heal;
mod history;
mod inputs;
mod listing;
mod marks;
mod set;
mod small;
mod tools;
mod view;

pub(crate) use heal::{HealInput, heal_texts};
pub(crate) use history::{
    ZoomedPicture, ZoomedPictures, brief_text, call_text, context_for, digest, is_reading, reads,
    result_line, result_text,
};
pub use inputs::system_message;
pub(crate) use inputs::{
    AgentInput, AppInput, EvaluationInput, HostInput, SubtaskInput, WindowPromptView, agent_system_text,
    agent_user_text, app_user_text, evaluation_user_text, host_user_text, operator_texts,
};
pub use listing::{escape_name, targets_text, unescape_name, window_line};
pub(crate) use marks::Marks;
pub use set::{PromptError, PromptSet, RolePrompts};
pub(crate) use small::{
    SmallAppInput, SmallHostInput, SmallPromptPrefix, small_app_text, small_host_text, small_values_text,
};
pub use tools::tools_text;
pub(crate) use view::{ListedElement, listed_elements, split_at_dialog, titled_elements};
pub use view::{
    PageQuery, ViewListOptions, changes_text, element_line, marked_elements, relevant_words, view_page,
    view_text,
};
