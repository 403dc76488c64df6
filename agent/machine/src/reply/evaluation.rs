//! The reply of the EvaluationAgent.

use serde_json::Value;

use super::{ReplyError, extract_json, fields::ReplyFields};
use crate::evaluation::{Judgement, SubScore};

/// The EvaluationAgent's reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluationReply {
    /// Judgement on the fulfilment of the request.
    pub complete: Judgement,
    /// The reason for the judgement.
    pub reason: String,
    /// The parts of the request.
    pub sub_scores: Vec<SubScore>,
}

/// The most sub-scores that are kept.
const SUB_SCORES_MAX: usize = 30;

/// Parses the reply of the EvaluationAgent.
///
/// # Errors
/// If a field is missing or invalid.
pub fn parse_evaluation_reply(text: &str) -> Result<EvaluationReply, ReplyError> {
    let mut fields = ReplyFields::of(extract_json(text)?.value, "")?;
    let said = fields.required_text("complete", "say yes, no or unsure")?;
    let complete = judgement("complete", &said)?;
    let reason = match fields.text("reason")? {
        reason if reason.is_empty() => {
            fields.required_text("thought", "give the reason for the judgement")?
        }
        reason => reason,
    };
    let sub_scores = match fields.take("sub_scores") {
        None => Vec::new(),
        Some(value) => sub_scores(value)?,
    };
    Ok(EvaluationReply { complete, reason, sub_scores })
}

fn judgement(path: &str, said: &str) -> Result<Judgement, ReplyError> {
    said.parse().map_err(|problem: String| ReplyError::field(path, problem))
}

/// A list of objects with `name` and `evaluation`, or an object of names.
fn sub_scores(value: Value) -> Result<Vec<SubScore>, ReplyError> {
    let pairs: Vec<(String, String, String)> = match value {
        Value::Object(scores) => scores
            .into_iter()
            .map(|(name, said)| (format!("sub_scores.{name}"), name, plain(&said)))
            .collect(),
        Value::Array(items) => {
            let mut pairs = Vec::with_capacity(items.len());
            for (index, item) in items.into_iter().enumerate() {
                let path = format!("sub_scores[{index}]");
                let mut fields = ReplyFields::of(item, &path)?;
                let name = fields.required_text("name", "name the part in a few words")?;
                let said = fields.required_text("evaluation", "say yes, no or unsure")?;
                pairs.push((format!("{path}.evaluation"), name, said));
            }
            pairs
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            vec![("sub_scores".to_owned(), "the request".to_owned(), plain(&other))]
        }
    };
    let pairs = pairs.into_iter().take(SUB_SCORES_MAX);
    pairs.map(|(path, name, said)| Ok(SubScore { name, evaluation: judgement(&path, &said)? })).collect()
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, complete: Judgement, scores: &[(&str, Judgement)]) {
        let reply = parse_evaluation_reply(text).unwrap();
        let found: Vec<(&str, Judgement)> =
            reply.sub_scores.iter().map(|score| (score.name.as_str(), score.evaluation)).collect();
        assert_eq!((reply.complete, found.as_slice()), (complete, scores), "{text}");
        assert_eq!(reply.reason, "r");
    }

    #[test]
    fn accepts_alternative_spellings() {
        check(r#"{"reason": "r", "complete": "yes", "sub_scores": []}"#, Judgement::Yes, &[]);
        check(
            "Here it is:\n```json\n{\"Complete\": \"No\", \"reason\": \"r\", \"SubScores\": [{\"name\": \"chart\", \
             \"evaluation\": \"no\"}, {\"Name\": \"table\", \"Evaluation\": \"Yes\"}],}\n```",
            Judgement::No,
            &[("chart", Judgement::No), ("table", Judgement::Yes)],
        );
        check(
            r#"{"thought": "r", "complete": "unsure", "sub_scores": {"chart": "unsure"}}"#,
            Judgement::Unsure,
            &[("chart", Judgement::Unsure)],
        );
        check(r#"{"reason": "r", "complete": true}"#, Judgement::Yes, &[]);
    }

    #[test]
    fn what_is_wrong_is_named_by_its_field() {
        let problem = |text: &str| parse_evaluation_reply(text).unwrap_err().to_string();
        assert!(problem(r#"{"reason": "r"}"#).contains("`complete`"));
        assert!(problem(r#"{"reason": "r", "complete": "perhaps"}"#).contains("yes, no, unsure"));
        assert!(problem(r#"{"complete": "yes"}"#).contains("reason"));
        let scores = r#"{"reason": "r", "complete": "no", "sub_scores": [{"name": "a", "evaluation": "5"}]}"#;
        assert!(problem(scores).contains("sub_scores[0].evaluation"));
        assert!(problem("I think it is done.").contains("JSON"));
    }
}
