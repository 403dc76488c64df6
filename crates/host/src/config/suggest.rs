//! The name that was probably meant.

/// The candidate that is most like what was said, if one is alike enough.
pub fn nearest(said: &str, candidates: &[String]) -> Option<String> {
    const ALIKE: f64 = 0.8;
    candidates
        .iter()
        .map(|candidate| (strsim::jaro_winkler(&said.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, candidate)| candidate.clone())
}
