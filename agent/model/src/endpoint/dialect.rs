//! Capabilities of an endpoint, learnt from its refusals.

use super::config::EndpointConfig;
use crate::wire::{Dialect, ReasoningEffort, StructuredOutput, TokenLimitField, Wire};

/// Names for the form of a reply in refusals.
const FORM_WORDS: &[&str] = &[
    "response_format",
    "json_schema",
    "json_object",
    "structured output",
    "json mode",
    "text.format",
    "tool_choice",
    "input_schema",
    "responsejsonschema",
    "response_json_schema",
    "responsemimetype",
    "response_mime_type",
    "invalid format",
];

impl Dialect {
    pub(crate) fn new(config: &EndpointConfig) -> Self {
        Self {
            output: match config.structured_output {
                StructuredOutput::Auto => StructuredOutput::Schema,
                chosen @ (StructuredOutput::Schema | StructuredOutput::Object | StructuredOutput::Off) => {
                    chosen
                }
            },
            token_limit: match config.token_limit_field {
                TokenLimitField::Auto => TokenLimitField::MaxTokens,
                chosen @ (TokenLimitField::MaxTokens | TokenLimitField::MaxCompletionTokens) => chosen,
            },
            temperature: config.temperature.is_some(),
            reasoning: config.reasoning != ReasoningEffort::Auto,
            stream: true,
        }
    }

    /// The dialect to try after a refusal, or `None` if the message is about something else.
    pub(crate) fn after_refusal(self, message: &str, config: &EndpointConfig) -> Option<Self> {
        let text = message.to_ascii_lowercase();
        let unsupported =
            ["support", "unknown", "unrecognized", "unexpected", "instead", "not permitted", "extra"]
                .iter()
                .any(|word| text.contains(word));
        if config.token_limit_field == TokenLimitField::Auto
            && self.token_limit == TokenLimitField::MaxTokens
            && text.contains("max_tokens")
            && unsupported
            && !text.contains("too large")
        {
            return Some(Self { token_limit: TokenLimitField::MaxCompletionTokens, ..self });
        }
        if self.temperature && text.contains("temperature") && unsupported {
            return Some(Self { temperature: false, ..self });
        }
        let about_reasoning = ["reasoning", "thinking", "think"].iter().any(|word| text.contains(word));
        if self.reasoning && about_reasoning && unsupported {
            return Some(Self { reasoning: false, ..self });
        }
        if self.stream && text.contains("stream") && unsupported {
            return Some(Self { stream: false, ..self });
        }
        let about_form = FORM_WORDS.iter().any(|word| text.contains(word));
        if !about_form || config.structured_output != StructuredOutput::Auto {
            return None;
        }
        match self.output {
            StructuredOutput::Schema if config.wire == Wire::Messages => {
                Some(Self { output: StructuredOutput::Off, ..self })
            }
            StructuredOutput::Schema => Some(Self { output: StructuredOutput::Object, ..self }),
            StructuredOutput::Object => Some(Self { output: StructuredOutput::Off, ..self }),
            StructuredOutput::Off | StructuredOutput::Auto => None,
        }
    }
}
