//! The reply about a step of a workflow that cannot be done as it is written.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ReplyError, extract_json, fields::ReplyFields};
use deskhand_ui::ids::ElementId;

/// Decision about a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HealChoice {
    /// Do the step with this element in place of the missing one.
    Use(ElementId),
    /// This element is pressed, then the step is tried again.
    Press(ElementId),
    /// Skip the step.
    Skip,
    /// The run stops.
    Stop,
}

/// A model's decision about a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealReply {
    /// Its reason.
    pub thought: String,
    /// The decision.
    pub choice: HealChoice,
}

/// The words of the choices.
const USE: &str = "USE";
const PRESS: &str = "PRESS";
const SKIP: &str = "SKIP";
const STOP: &str = "STOP";

impl HealReply {
    /// Parses a reply.
    ///
    /// # Errors
    /// If a field is missing or invalid.
    pub fn parse(text: &str) -> Result<Self, ReplyError> {
        let mut fields = ReplyFields::of(extract_json(text)?.value, "")?;
        let thought = fields.required_text("thought", "give the reason in a sentence")?;
        let said = fields.required_text("choice", "use one of USE, PRESS, SKIP, STOP")?;
        let mut element = || -> Result<ElementId, ReplyError> {
            let id =
                fields.required_text("element", "give the id of an element that is listed, such as e17")?;
            id.parse().map_err(|error| ReplyError::field("element", format!("{error}")))
        };
        let choice = match said.trim().to_uppercase().as_str() {
            USE => HealChoice::Use(element()?),
            PRESS => HealChoice::Press(element()?),
            SKIP => HealChoice::Skip,
            STOP => HealChoice::Stop,
            other => {
                let problem = format!("`{other}` is none of USE, PRESS, SKIP, STOP");
                return Err(ReplyError::field("choice", problem));
            }
        };
        Ok(Self { thought, choice })
    }
}

/// Schema of a reply about a step.
pub fn heal_reply_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "thought": {"type": "string", "description": "Reason for the choice."},
            "choice": {"type": "string", "enum": [USE, PRESS, SKIP, STOP]},
            "element": {"type": "string", "description": "With USE and PRESS: the id of an element, such as e17."},
        },
        "required": ["thought", "choice"],
    })
}
