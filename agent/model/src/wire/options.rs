//! Options that can differ between requests of one format.

/// Method for requesting structured output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StructuredOutput {
    /// A JSON schema; if refused, a JSON object; if refused too, nothing.
    Auto,
    /// A JSON schema, without fallback. Anthropic takes it as that of a tool which must be called.
    Schema,
    /// Any JSON object.
    Object,
    /// Nothing: the prompt alone describes the format.
    Off,
}

/// The detail level of pictures; it affects their cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageDetail {
    /// The endpoint decides.
    Auto,
    /// Low resolution.
    Low,
    /// Full resolution.
    High,
}

impl ImageDetail {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Low => "low",
            Self::High => "high",
        }
    }
}

/// The field that limits the reply length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenLimitField {
    /// `max_tokens`, then `max_completion_tokens` if refused.
    Auto,
    /// `max_tokens`
    MaxTokens,
    /// `max_completion_tokens`
    MaxCompletionTokens,
}

/// Amount of reasoning before a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReasoningEffort {
    /// As the endpoint has it: nothing is sent.
    #[default]
    Auto,
    /// Not at all, or as little as the model allows.
    Off,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl ReasoningEffort {
    /// The tokens that thoughts may take. They count as part of the reply, so its limit must leave room for them.
    #[must_use]
    pub const fn tokens(self) -> u32 {
        match self {
            Self::Auto | Self::Off => 0,
            Self::Low => 4_096,
            Self::Medium => 16_384,
            Self::High => 32_768,
        }
    }

    /// The level, as OpenAI and others call it; `None` where nothing is sent.
    pub(super) const fn effort(self) -> Option<&'static str> {
        match self {
            Self::Auto => None,
            Self::Off => Some("minimal"),
            Self::Low => Some("low"),
            Self::Medium => Some("medium"),
            Self::High => Some("high"),
        }
    }
}

/// The request features that an endpoint supports, learnt from its refusals and kept for later calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// Never `Auto`.
    pub(crate) output: StructuredOutput,
    /// Never `Auto`.
    pub(crate) token_limit: TokenLimitField,
    /// Set if a temperature is sent.
    pub(crate) temperature: bool,
    /// Set if the amount of reasoning is sent.
    pub(crate) reasoning: bool,
    /// Set if the reply is streamed, so that a model that works can be distinguished from a server that is down.
    pub(crate) stream: bool,
}
