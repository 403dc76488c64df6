//! Ranks texts for small models, by a ranker that whoever runs the session brings.

use std::sync::Arc;

use tokio::task::spawn_blocking;

/// Computes how near texts are in meaning to what is wanted: a number for each, -1 to 1, the higher the nearer. May block.
///
/// # Errors
/// The problem, if they cannot be compared.
pub type Ranker = Arc<dyn Fn(&str, &[String]) -> Result<Vec<f32>, String> + Send + Sync>;

/// The scores of texts, in thousandths; empty if there is no ranker or it fails, in which case shared words decide.
pub(crate) async fn scores(ranker: Option<Ranker>, wanted: String, texts: Vec<String>) -> Vec<i32> {
    let Some(ranker) = ranker else { return Vec::new() };
    let ranked = spawn_blocking(move || ranker(&wanted, &texts)).await;
    match ranked.map_err(|error| error.to_string()).and_then(|ranked| ranked) {
        Ok(nearness) => nearness.into_iter().map(thousandths).collect(),
        Err(problem) => {
            tracing::warn!(problem, "texts were not ranked by their meaning");
            Vec::new()
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "at most a thousand")]
fn thousandths(nearness: f32) -> i32 {
    (nearness.clamp(-1.0, 1.0) * 1_000.0).round() as i32
}
