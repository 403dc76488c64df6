//! Typed inputs of the templates, and the messages rendered from them.

mod evaluation;
mod host;
mod subtask;
mod system;

pub(crate) use evaluation::{EvaluationInput, evaluation_user_text};
pub(crate) use host::{HostInput, host_user_text};
pub(crate) use subtask::{
    AgentInput, AppInput, SubtaskInput, WindowPromptView, agent_system_text, agent_user_text, app_user_text,
    operator_texts,
};
pub use system::system_message;
