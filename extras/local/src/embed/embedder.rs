//! Texts to vectors.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

use crate::archive::{ArchiveError, ModelArchive};
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config, HiddenAct, PositionEmbeddingType};
use tokenizers::{Tokenizer, TruncationParams};

use super::kept::EmbeddingCache;

/// The largest file that is read out of an archive, in bytes. The weights of all-MiniLM-L6-v2 have 91 MB.
const FILE_MAX: u64 = 512 * 1024 * 1024;
/// The most tokens of a text that count, as the model was trained.
const TOKENS_MAX: usize = 256;

/// Texts that cannot be embedded.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The archive of the model cannot be used.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// Its tokenizer cannot be used.
    #[error("the tokenizer of the embedding model: {0}")]
    Tokenizer(String),
    /// The weights have another form, or the computation failed.
    #[error("the embedding model: {0}")]
    Model(#[from] candle_core::Error),
}

/// A model that embeds texts.
pub struct Embedder {
    model: BertModel,
    tokenizer: Tokenizer,
    kept: Mutex<EmbeddingCache>,
}

impl Embedder {
    /// Reads a model out of an archive with `model.safetensors` and `tokenizer.json`. Blocking, about half a second.
    ///
    /// # Errors
    /// The archive cannot be read, or does not have a model of the form of all-MiniLM-L6-v2.
    pub fn open(archive: &Path) -> Result<Self, EmbedError> {
        let mut archive = ModelArchive::open(archive, FILE_MAX)?;
        let mut read = |wanted: &'static str| archive.read(wanted, |name| name == wanted);
        let (weights, tokenizer) = (read("model.safetensors")?, read("tokenizer.json")?);
        let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)?;
        let model = BertModel::load(weights, &form())?;
        let wrong = |error: tokenizers::Error| EmbedError::Tokenizer(error.to_string());
        let mut tokenizer = Tokenizer::from_bytes(tokenizer).map_err(wrong)?;
        let truncation = TruncationParams { max_length: TOKENS_MAX, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(wrong)?.with_padding(None);
        Ok(Self { model, tokenizer, kept: Mutex::default() })
    }

    /// Returns the similarity of each text to `query` in meaning: the cosine of the angle between their embeddings,
    /// -1 to 1. Blocking, about 12 ms for each text that was not embedded before.
    ///
    /// # Errors
    /// The computation failed.
    pub fn nearness(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, EmbedError> {
        let query = self.embedding(query)?;
        let near = |text: &String| {
            let text = self.embedding(text)?;
            // Both have the length 1.
            Ok(query.iter().zip(&text).map(|(one, other)| one * other).sum::<f32>().clamp(-1.0, 1.0))
        };
        texts.iter().map(near).collect()
    }

    /// The embedding of a text, a vector of length 1.
    fn embedding(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vector) = kept().get(text) {
            return Ok(vector.to_vec());
        }
        let encoded = self.tokenizer.encode(text, /*add_special_tokens*/ true);
        let encoded = encoded.map_err(|error| EmbedError::Tokenizer(error.to_string()))?;
        let ids = Tensor::new(encoded.get_ids(), &Device::Cpu)?.unsqueeze(0)?;
        let hidden = self.model.forward(&ids, &ids.zeros_like()?, None)?;
        // One text at a time has no padding: the mean is over all its tokens.
        let mean = hidden.mean(1)?.squeeze(0)?;
        let length = mean.sqr()?.sum_all()?.sqrt()?;
        let vector: Vec<f32> = mean.broadcast_div(&length)?.to_vec1()?;
        kept().add(text, vector.clone());
        Ok(vector)
    }
}

/// The form of all-MiniLM-L6-v2, as its `config.json` has it.
fn form() -> Config {
    Config {
        vocab_size: 30_522,
        hidden_size: 384,
        num_hidden_layers: 6,
        num_attention_heads: 12,
        intermediate_size: 1_536,
        hidden_act: HiddenAct::Gelu,
        hidden_dropout_prob: 0.1,
        max_position_embeddings: 512,
        type_vocab_size: 2,
        initializer_range: 0.02,
        layer_norm_eps: 1e-12,
        pad_token_id: 0,
        position_embedding_type: PositionEmbeddingType::Absolute,
        use_cache: true,
        classifier_dropout: None,
        model_type: Some("bert".to_owned()),
    }
}
