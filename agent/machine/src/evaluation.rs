//! The evaluation of a finished round: by rules over its record, and by a model.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Judgement on an achievement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// Achieved.
    Yes,
    /// Not achieved.
    No,
    /// Cannot be determined.
    Unsure,
}

impl Judgement {
    /// Every judgement.
    pub const ALL: [Self; 3] = [Self::Yes, Self::No, Self::Unsure];

    /// The word that is printed, stored and used by the model.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unsure => "unsure",
        }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Judgement {
    type Err = String;

    /// Also accepts `true`, `Complete` or `uncertain`, which models write.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim().trim_end_matches('.').to_lowercase().as_str() {
            "yes" | "y" | "true" | "complete" | "completed" | "success" => Ok(Self::Yes),
            "no" | "n" | "false" | "incomplete" | "not complete" | "failure" => Ok(Self::No),
            "unsure" | "uncertain" | "unknown" | "partial" | "partially" | "maybe" => Ok(Self::Unsure),
            _ => Err(format!("`{text}` is not one of yes, no, unsure")),
        }
    }
}

/// The judgement of one part of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubScore {
    /// The part.
    pub name: String,
    /// Judgement on its achievement.
    pub evaluation: Judgement,
}

/// The judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// Rules over the record of the round, without a model call.
    Rules,
    /// The model; the rules found no problem.
    Model,
}

/// The judgement of a finished round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Judgement on the fulfilment of the request.
    pub complete: Judgement,
    /// The reason in a sentence or two.
    pub reason: String,
    /// The parts; those from rules come first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sub_scores: Vec<SubScore>,
    /// The judge.
    pub by: Judge,
    /// `true` if the HostAgent was requested once to complete the request after an earlier `no`.
    #[serde(default)]
    pub repaired: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_judgements_as_models_write_them() {
        let check = |text: &str, expected: Option<Judgement>| {
            assert_eq!(text.parse::<Judgement>().ok(), expected, "{text}");
        };
        for judgement in Judgement::ALL {
            check(judgement.word(), Some(judgement));
        }
        check(" Yes. ", Some(Judgement::Yes));
        check("FALSE", Some(Judgement::No));
        check("partially", Some(Judgement::Unsure));
        check("perhaps not", None);
    }
}
