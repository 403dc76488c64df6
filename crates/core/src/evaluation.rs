//! The judgement of a finished round: what rules find in its record, and what a model says of it.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Whether something was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// It was.
    Yes,
    /// It was not.
    No,
    /// There is no way to tell.
    Unsure,
}

impl Judgement {
    /// Every judgement.
    pub const ALL: [Self; 3] = [Self::Yes, Self::No, Self::Unsure];

    /// The word that is printed and stored, and that a model says.
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

    /// Models also say `true`, `Complete` or `uncertain`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim().trim_end_matches('.').to_lowercase().as_str() {
            "yes" | "y" | "true" | "complete" | "completed" | "success" => Ok(Self::Yes),
            "no" | "n" | "false" | "incomplete" | "not complete" | "failure" => Ok(Self::No),
            "unsure" | "uncertain" | "unknown" | "partial" | "partially" | "maybe" => Ok(Self::Unsure),
            _ => Err(format!("`{text}` is none of yes, no, unsure")),
        }
    }
}

/// The judgement of one part of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubScore {
    /// The part.
    pub name: String,
    /// Whether it was reached.
    pub evaluation: Judgement,
}

/// Who judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// Rules over the record of the round; no model was asked.
    Rules,
    /// The model, after the rules had nothing against it.
    Model,
}

/// The judgement of a finished round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Whether the request is fulfilled.
    pub complete: Judgement,
    /// Why, in a sentence or two.
    pub reason: String,
    /// Its parts; what rules found comes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sub_scores: Vec<SubScore>,
    /// Who judged.
    pub by: Judge,
    /// Whether the round was sent back to work once, after an earlier judgement that it is not complete.
    #[serde(default)]
    pub repaired: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judgements_are_read_in_the_words_of_models() {
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
