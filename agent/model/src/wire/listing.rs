//! The models that an endpoint says it has.

use serde_json::Value;

use super::{Wire, number, word};

/// A model that an endpoint offers, with what the endpoint says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointModel {
    /// Its name in requests.
    pub name: String,
    /// The most tokens that it reads.
    pub context_tokens: Option<u64>,
    /// `true` if the model accepts pictures.
    pub pictures: Option<bool>,
}

/// The models in a response, by name; `None` if it lists none.
pub(crate) fn listed(wire: Wire, response: &Value) -> Option<Vec<EndpointModel>> {
    let models = response.get("data").or_else(|| response.get("models"))?.as_array()?;
    let mut listed: Vec<EndpointModel> = models.iter().filter_map(|model| one(wire, model)).collect();
    listed.sort_by(|one, other| one.name.cmp(&other.name));
    Some(listed)
}

/// Path at which an Ollama server returns details of one model.
pub(crate) const DETAILS: &str = "/api/show";

/// Reads the description of a model from an Ollama server. The model family is a part of the field's name:
/// `qwen2.context_length`.
pub(crate) fn detailed(name: &str, response: &Value) -> EndpointModel {
    let facts = response.get("model_info").and_then(Value::as_object).into_iter().flatten();
    let mut context = facts.filter(|(field, _)| field.ends_with(".context_length"));
    EndpointModel {
        name: name.to_owned(),
        context_tokens: context.find_map(|(_, value)| value.as_u64()),
        pictures: response.get("capabilities").and_then(Value::as_array).map(|inputs| takes_pictures(inputs)),
    }
}

fn takes_pictures(inputs: &[Value]) -> bool {
    inputs.iter().any(|input| ["image", "vision", "multimodal"].iter().any(|word| input == word))
}

fn one(wire: Wire, model: &Value) -> Option<EndpointModel> {
    let name = word(model, "/id").or_else(|| word(model, "/model")).or_else(|| word(model, "/name"))?;
    if wire == Wire::Gemini {
        let methods = model.get("supportedGenerationMethods").and_then(Value::as_array);
        // The others make vectors, pictures or films.
        if methods.is_some_and(|methods| !methods.iter().any(|method| method == "generateContent")) {
            return None;
        }
    }
    let context =
        ["/context_length", "/max_model_len", "/meta/n_ctx", "/meta/n_ctx_train", "/inputTokenLimit"];
    let inputs = model.pointer("/architecture/input_modalities").or_else(|| model.get("capabilities"));
    Some(EndpointModel {
        name: name.strip_prefix("models/").map_or_else(|| name.clone(), str::to_owned),
        context_tokens: context.iter().find_map(|pointer| number(model, pointer)),
        pictures: inputs.and_then(Value::as_array).map(|inputs| takes_pictures(inputs)),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_way_to_list_is_read() {
        let found = |wire, response: Value| {
            let listed = listed(wire, &response).unwrap();
            listed.into_iter().map(|one| (one.name, one.context_tokens, one.pictures)).collect::<Vec<_>>()
        };
        let router = json!({"data": [
            {"id": "b", "context_length": 9, "architecture": {"input_modalities": ["text", "image"]}},
            {"id": "a", "max_model_len": 7, "architecture": {"input_modalities": ["text"]}},
        ]});
        assert_eq!(
            found(Wire::Chat, router),
            [("a".to_owned(), Some(7), Some(false)), ("b".to_owned(), Some(9), Some(true))]
        );
        let google = json!({"models": [
            {"name": "models/g", "inputTokenLimit": 5, "supportedGenerationMethods": ["generateContent"]},
            {"name": "models/e", "supportedGenerationMethods": ["embedContent"]},
        ]});
        assert_eq!(found(Wire::Gemini, google), [("g".to_owned(), Some(5), None)]);
        let ollama =
            json!({"models": [{"name": "q:4b", "model": "q:4b", "capabilities": ["completion", "vision"]}]});
        assert_eq!(found(Wire::Ollama, ollama), [("q:4b".to_owned(), None, Some(true))]);
        assert_eq!(listed(Wire::Chat, &json!({"error": "no"})), None);
        let shown = json!({"model_info": {"qwen2.block_count": 2, "qwen2.context_length": 32768}, "capabilities": ["vision"]});
        let shown = detailed("q", &shown);
        assert_eq!((shown.context_tokens, shown.pictures), (Some(32_768), Some(true)));
        assert_eq!(detailed("q", &json!({})).context_tokens, None);
    }
}
