//! Temporary.
use serde_json::Value;
/// x
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExtractError(String);
/// x
pub struct Extracted {
    /// x
    pub value: Value,
    /// x
    pub repaired: Vec<Repair>,
}
/// x
pub enum Repair {}
/// x
pub fn extract_json(text: &str) -> Result<Extracted, ExtractError> {
    serde_json::from_str(text)
        .map(|value| Extracted { value, repaired: vec![] })
        .map_err(|e| ExtractError(e.to_string()))
}
