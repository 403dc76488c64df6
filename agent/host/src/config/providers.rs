//! The providers of models, and how each is reached.

use deskhand_model::{ApiKeyHeader, Wire};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Any endpoint for OpenAI's chat completions, local ones included.
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenAI's Responses.
    #[serde(rename = "openai_responses")]
    OpenAiResponses,
    /// Azure OpenAI; `base_url` is that of the resource.
    Azure,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Ollama, by its own interface.
    Ollama,
    /// DeepSeek.
    #[serde(rename = "deepseek")]
    DeepSeek,
    /// Qwen of Alibaba Cloud.
    Qwen,
    /// OpenRouter.
    #[serde(rename = "openrouter")]
    OpenRouter,
    /// Mistral AI.
    Mistral,
    /// Groq.
    Groq,
    /// xAI.
    #[serde(rename = "xai")]
    XAi,
    /// A vLLM server.
    Vllm,
    /// A llama.cpp server.
    #[serde(rename = "llama_cpp")]
    LlamaCpp,
    /// A pulled model, with a llama.cpp server that Deskhand starts; the settings are those of `local` and `local_models`.
    Local,
    /// A script: a file of prepared replies, without a model.
    Script,
}

/// Endpoint of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderEndpoint {
    /// Display name: `Ollama`.
    pub title: &'static str,
    /// Its usual address; `None` if everybody has another one.
    pub base_url: Option<&'static str>,
    /// Its wire format.
    pub wire: Wire,
    /// The header that takes the API key.
    pub key_header: ApiKeyHeader,
    /// The variable that usually holds the API key; `None` for servers that need none.
    pub key_env: Option<&'static str>,
}

impl ProviderEndpoint {
    /// A service that speaks OpenAI's chat completions.
    const fn compatible(title: &'static str, base_url: &'static str, key_env: Option<&'static str>) -> Self {
        Self { title, base_url: Some(base_url), wire: Wire::Chat, key_header: ApiKeyHeader::Bearer, key_env }
    }

    /// Returns `true` if a base URL is one that this service's usual key is for: no other server gets it.
    pub(crate) fn is_at(&self, base_url: &str) -> bool {
        let given = base_url.trim().trim_end_matches('/');
        match self.base_url {
            Some(usual) => given == usual,
            None => azure_host(given),
        }
    }
}

/// Returns `true` if an address is one of Azure's.
fn azure_host(url: &str) -> bool {
    let host = url.strip_prefix("https://").and_then(|rest| rest.split('/').next()).unwrap_or_default();
    [".openai.azure.com", ".services.ai.azure.com"].iter().any(|end| host.ends_with(end))
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::OpenAi,
        Self::OpenAiResponses,
        Self::Azure,
        Self::Anthropic,
        Self::Gemini,
        Self::Ollama,
        Self::DeepSeek,
        Self::Qwen,
        Self::OpenRouter,
        Self::Mistral,
        Self::Groq,
        Self::XAi,
        Self::Vllm,
        Self::LlamaCpp,
        Self::Local,
        Self::Script,
    ];

    /// Its name in specifications and in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai_responses",
            Self::Azure => "azure",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::DeepSeek => "deepseek",
            Self::Qwen => "qwen",
            Self::OpenRouter => "openrouter",
            Self::Mistral => "mistral",
            Self::Groq => "groq",
            Self::XAi => "xai",
            Self::Vllm => "vllm",
            Self::LlamaCpp => "llama_cpp",
            Self::Local => "local",
            Self::Script => "script",
        }
    }

    /// Returns `true` if its chat completions cache only what a request marks. OpenRouter passes the marks on to Anthropic's models, which cache
    /// nothing without them; the providers of its other models find by themselves what was sent before
    /// (<https://openrouter.ai/docs/features/prompt-caching>).
    pub(crate) fn wants_cache_marks(self, model: &str) -> bool {
        self == Self::OpenRouter && model.starts_with("anthropic/")
    }

    /// The provider of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.name() == name)
    }

    /// Returns the endpoint of the provider; `None` for a script, and for a server that Deskhand starts.
    pub const fn service(self) -> Option<ProviderEndpoint> {
        let compatible = ProviderEndpoint::compatible;
        Some(match self {
            Self::OpenAi => compatible("OpenAI", "https://api.openai.com/v1", Some("OPENAI_API_KEY")),
            Self::OpenAiResponses => ProviderEndpoint {
                wire: Wire::Responses,
                ..compatible("OpenAI Responses", "https://api.openai.com/v1", Some("OPENAI_API_KEY"))
            },
            Self::Azure => ProviderEndpoint {
                title: "Azure OpenAI",
                base_url: None,
                wire: Wire::Chat,
                key_header: ApiKeyHeader::ApiKey,
                key_env: Some("AZURE_OPENAI_API_KEY"),
            },
            Self::Anthropic => ProviderEndpoint {
                title: "Anthropic",
                base_url: Some("https://api.anthropic.com/v1"),
                wire: Wire::Messages,
                key_header: ApiKeyHeader::XApiKey,
                key_env: Some("ANTHROPIC_API_KEY"),
            },
            Self::Gemini => ProviderEndpoint {
                title: "Gemini",
                base_url: Some("https://generativelanguage.googleapis.com/v1beta"),
                wire: Wire::Gemini,
                key_header: ApiKeyHeader::XGoogApiKey,
                key_env: Some("GEMINI_API_KEY"),
            },
            Self::Ollama => ProviderEndpoint {
                wire: Wire::Ollama,
                ..compatible("Ollama", "http://127.0.0.1:11434", None)
            },
            Self::DeepSeek => compatible("DeepSeek", "https://api.deepseek.com/v1", Some("DEEPSEEK_API_KEY")),
            Self::Qwen => compatible(
                "Qwen",
                "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
                Some("DASHSCOPE_API_KEY"),
            ),
            Self::OpenRouter => {
                compatible("OpenRouter", "https://openrouter.ai/api/v1", Some("OPENROUTER_API_KEY"))
            }
            Self::Mistral => compatible("Mistral", "https://api.mistral.ai/v1", Some("MISTRAL_API_KEY")),
            Self::Groq => compatible("Groq", "https://api.groq.com/openai/v1", Some("GROQ_API_KEY")),
            Self::XAi => compatible("xAI", "https://api.x.ai/v1", Some("XAI_API_KEY")),
            Self::Vllm => compatible("vLLM", "http://127.0.0.1:8000/v1", None),
            Self::LlamaCpp => compatible("llama.cpp", "http://127.0.0.1:8080/v1", None),
            Self::Local | Self::Script => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_configuration() {
        for provider in Provider::ALL {
            assert_eq!(serde_json::to_value(provider).unwrap(), provider.name());
            assert_eq!(Provider::named(provider.name()), Some(provider));
        }
    }

    #[test]
    fn cache_marks_are_for_models_that_need_them() {
        assert!(Provider::OpenRouter.wants_cache_marks("anthropic/claude-sonnet"));
        assert!(!Provider::OpenRouter.wants_cache_marks("openai/gpt"));
        assert!(!Provider::OpenAi.wants_cache_marks("anthropic/claude-sonnet"));
    }

    #[test]
    fn a_key_is_for_the_usual_address_alone() {
        let is_at = |provider: Provider, url: &str| provider.service().unwrap().is_at(url);
        assert!(is_at(Provider::Anthropic, "https://api.anthropic.com/v1/"));
        assert!(!is_at(Provider::Anthropic, "http://127.0.0.1:1/v1"));
        assert!(is_at(Provider::Azure, "https://ours.openai.azure.com/openai/v1"));
        assert!(!is_at(Provider::Azure, "https://ours.openai.azure.com.example/openai/v1"));
        assert!(!is_at(Provider::Azure, "http://ours.openai.azure.com/openai/v1"));
    }
}
