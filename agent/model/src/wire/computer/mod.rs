//! Computer use: how an operator is asked what to do, and what its reply says, in the protocols of several models.
//!
//! Every reply becomes the JSON that `deskhand_machine` reads from operators, with pixels of the picture that the request shows. What
//! an action means, and whether it may be, is not decided here: one that is unknown is passed on by its name.
//!
//! - `openai`: the tool `computer_use_preview` of OpenAI's Responses.
//! - `anthropic`: the tool `computer_20250124` of Anthropic's Messages.
//! - `ui_tars`: lines `Action: click(start_box='(x,y)')`, of UI-TARS and its relatives.
//! - JSON, for any other model that sees.

mod anthropic;
mod openai;
mod ui_tars;

use deskhand_machine::model::{ModelRequest, ReplyKind, Speaker};
use serde_json::{Value, json};

use super::{Dialect, StructuredOutput, WireMessage, WireMessagePart};

/// Protocol by which a model works in pictures, if it is an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ComputerUse {
    /// The model is no operator. If it gets such a request nevertheless, for instance as a backup, JSON is requested.
    #[default]
    Off,
    /// By the tool `computer_use_preview` of OpenAI's Responses.
    OpenAi,
    /// By the tool `computer_20250124` of Anthropic's Messages.
    Anthropic,
    /// By lines of text as UI-TARS writes them, with places from 0 to 1000 across and down the picture.
    UiTars,
    /// The same with pixels of the picture.
    UiTarsPixels,
    /// By JSON with pixels of the picture.
    Json,
}

/// A question to an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Computer {
    form: Form,
    /// The size of the picture, in pixels.
    width: u32,
    height: u32,
}

/// The form of its replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    OpenAi,
    Anthropic,
    UiTars { relative: bool },
    Json,
}

impl ComputerUse {
    /// Headers that it needs besides those of the wire format.
    pub(crate) const fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Anthropic => &[("anthropic-beta", "computer-use-2025-01-24")],
            Self::Off | Self::OpenAi | Self::UiTars | Self::UiTarsPixels | Self::Json => &[],
        }
    }
}

impl Computer {
    /// Returns the protocol for an operator; `None` if the request is for another agent. Without a picture, JSON is
    /// requested: a tool would have no places to point at.
    pub(crate) fn of(usage: ComputerUse, request: &ModelRequest) -> Option<Self> {
        let asked = (request.reply == ReplyKind::Operator).then_some(usage)?;
        let form = match (request.picture(), asked) {
            (None, _) | (_, ComputerUse::Off | ComputerUse::Json) => Form::Json,
            (Some(_), ComputerUse::OpenAi) => Form::OpenAi,
            (Some(_), ComputerUse::Anthropic) => Form::Anthropic,
            (Some(_), ComputerUse::UiTars) => Form::UiTars { relative: true },
            (Some(_), ComputerUse::UiTarsPixels) => Form::UiTars { relative: false },
        };
        let (width, height) = request.picture().map_or((0, 0), |picture| (picture.width, picture.height));
        Some(Self { form, width, height })
    }

    /// The tool to declare, in the form of the endpoint; `None` if the model replies without one.
    pub(super) fn tool(self) -> Option<Value> {
        match self.form {
            Form::OpenAi => Some(openai::tool(self.width, self.height)),
            Form::Anthropic => Some(anthropic::tool(self.width, self.height)),
            Form::UiTars { .. } | Form::Json => None,
        }
    }

    /// The dialect for its request: the schema is that of JSON replies.
    pub(crate) fn dialect(self, dialect: Dialect) -> Dialect {
        match self.form {
            Form::OpenAi | Form::Anthropic | Form::UiTars { .. } => {
                Dialect { output: StructuredOutput::Off, ..dialect }
            }
            Form::Json => dialect,
        }
    }

    /// Adds to the message of the system how to reply, where no tool says it.
    pub(crate) fn instruct(self, said: &mut [WireMessage]) {
        let (width, height) = (self.width, self.height);
        let size = format!("pixels of the picture, which is {width} wide and {height} high");
        let (text, places) = match self.form {
            Form::OpenAi | Form::Anthropic => return,
            Form::UiTars { relative: false } => (include_str!("ui_tars.md"), size),
            Form::UiTars { relative: true } => {
                (include_str!("ui_tars.md"), "0 to 1000 across and down the picture".to_owned())
            }
            Form::Json => (include_str!("json.md"), size),
        };
        let text = text.replace("{places}", &places);
        if let Some(system) = said.iter_mut().find(|one| one.speaker == Speaker::System) {
            system.parts.push(WireMessagePart::Text(text.trim().to_owned()));
        }
    }

    /// Converts a reply to JSON; `text` is its text. Empty if the reply is empty.
    pub(crate) fn told(self, reply: &Value, text: String) -> String {
        let (thought, actions, warning) = match self.form {
            Form::Json => return text,
            Form::OpenAi => (text, openai::actions(reply), openai::warning(reply)),
            Form::Anthropic => {
                let actions = anthropic::actions(reply);
                (anthropic::words(reply), actions, None)
            }
            Form::UiTars { relative } => {
                let (thought, actions) = ui_tars::read(&text, |x, y| self.pixel(x, y, relative));
                (thought, actions, None)
            }
        };
        // A model whose reply was refused may write the JSON itself.
        let is_json = || serde_json::from_str::<Value>(thought.trim()).is_ok_and(|value| value.is_object());
        if actions.is_empty() && (thought.trim().is_empty() || is_json()) {
            return thought;
        }
        json!({"thought": thought, "action": actions, "confirm": warning}).to_string()
    }

    /// A place as the model names it, in pixels.
    fn pixel(self, x: f64, y: f64, relative: bool) -> (f64, f64) {
        /// The right and the lower edge.
        const EDGE: f64 = 1_000.0;
        if !relative {
            return (x, y);
        }
        let along = |at: f64, side: u32| {
            let pixel = at / EDGE * f64::from(side);
            // The edge is the last pixel; what lies beyond is left as it is, and refused.
            if at <= EDGE { pixel.min(f64::from(side.saturating_sub(1))) } else { pixel }
        };
        (along(x, self.width), along(y, self.height))
    }
}

/// An action with its fields, without those that are missing.
fn action<const N: usize>(name: &str, fields: [(&str, Option<&Value>); N]) -> Value {
    let mut members = serde_json::Map::new();
    members.insert("do".to_owned(), json!(name));
    members.extend(fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.clone()))));
    Value::Object(members)
}

/// One that cannot be done while keys are held.
fn held(name: &str) -> Value {
    action(&format!("{name} with keys held"), [])
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const ASKED: Computer = Computer { form: Form::Json, width: 1280, height: 720 };

    #[test]
    fn places_of_a_thousand_become_pixels() {
        let pixel = |x, y| ASKED.pixel(x, y, /*relative*/ true);
        assert_eq!(pixel(0.0, 0.0), (0.0, 0.0));
        assert_eq!(pixel(500.0, 250.0), (640.0, 180.0));
        assert_eq!(pixel(1000.0, 1000.0), (1279.0, 719.0));
        assert!(pixel(1200.0, 0.0).0 > 1280.0, "what is not in the picture stays out of it");
    }

    #[test]
    fn a_reply_in_words_or_in_json_is_passed_on() {
        let told = |form, text: &str| Computer { form, ..ASKED }.told(&json!({}), text.to_owned());
        let done = json!({"thought": "DONE: saved", "action": [], "confirm": null}).to_string();
        assert_eq!(told(Form::OpenAi, "DONE: saved"), done);
        assert_eq!(told(Form::UiTars { relative: true }, "DONE: saved"), done);
        let json = r#"{"action": [{"do": "wait"}]}"#;
        assert_eq!(told(Form::OpenAi, json), json);
        assert_eq!(told(Form::Json, "anything"), "anything");
        assert_eq!(told(Form::UiTars { relative: false }, "  "), "");
    }
}
