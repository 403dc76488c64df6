//! The values of a workflow that a small model chose: a question of their own, with a field for each.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::decide::TEXT_CHARS_MAX;
use crate::{
    known_tools::RUN_WORKFLOW,
    reply::{HostReply, ProposedAction, ReplyError},
    states::HostStatus,
    workflow::{Parameter, ParameterKind, WorkflowOffer},
};

/// The values that a small model gives to the parameters of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SmallValuesReply(pub(crate) BTreeMap<String, String>);

/// The schema of the values of a workflow.
pub(crate) fn small_values_schema(offer: &WorkflowOffer) -> Value {
    let field = |name: &String| (name.clone(), json!({"type": "string", "maxLength": TEXT_CHARS_MAX}));
    let properties: Map<String, Value> = offer.parameters.keys().map(field).collect();
    let names: Vec<&String> = offer.parameters.keys().collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

/// The parameters of a workflow, a line each: what a value could be, and what it is if the request has none.
pub(crate) fn parameter_lines(offer: &WorkflowOffer) -> String {
    let line = |(name, parameter): (&String, &Parameter)| {
        let kind = match parameter.kind {
            ParameterKind::Text => None,
            ParameterKind::Number => Some("a number"),
            ParameterKind::File => Some("a file"),
        };
        let example = Some(&parameter.example).filter(|example| !example.is_empty());
        let what = [
            kind.map(str::to_owned),
            example.map(|example| format!("such as \"{example}\"")),
            parameter.default.as_ref().map(|default| format!("\"{default}\" if the request names none")),
        ];
        let what: Vec<String> = what.into_iter().flatten().collect();
        format!("- {name}: {}", what.join(", ")).trim_end_matches([':', ' ']).to_owned()
    };
    offer.parameters.iter().map(line).collect::<Vec<_>>().join("\n")
}

impl SmallValuesReply {
    /// The decision to run the workflow with these values. A value that is left empty is the default.
    ///
    /// # Errors
    /// A value is missing, no number where one is meant, or the name of none.
    pub(crate) fn decided(self, offer: &WorkflowOffer) -> Result<HostReply, ReplyError> {
        let given: BTreeMap<String, String> = self.given().collect();
        offer.values(&given).map_err(|problem| ReplyError::field("values", problem.to_string()))?;
        let parameters: Map<String, Value> =
            given.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
        let arguments = [("name", Value::from(offer.name.clone())), ("parameters", Value::from(parameters))];
        let arguments = Map::from_iter(arguments.map(|(name, value)| (name.to_owned(), value)));
        let action = ProposedAction {
            function: RUN_WORKFLOW.to_owned(),
            arguments,
            expect: None,
            carries: Vec::new(),
        };
        let reply = self.unresolved();
        Ok(HostReply { target: Some(offer.target_id()), action: Some(action), ..reply })
    }

    fn given(&self) -> impl Iterator<Item = (String, String)> {
        let is_given = |(_, value): &(&String, &String)| !value.trim().is_empty();
        self.0.iter().filter(is_given).map(|(name, value)| (name.clone(), value.trim().to_owned()))
    }

    /// The decision as it was recorded, without the workflow.
    pub(crate) fn unresolved(&self) -> HostReply {
        let values: Vec<String> = self.given().map(|(name, value)| format!("{name}: {value}")).collect();
        HostReply {
            observation: String::new(),
            thought: format!("the values of the workflow are {}", values.join(", ")),
            status: HostStatus::Continue,
            subtask: None,
            message: Vec::new(),
            target: None,
            target_name: None,
            plan: Vec::new(),
            comment: String::new(),
            notes: Vec::new(),
            questions: Vec::new(),
            action: None,
            next: None,
            result: None,
        }
    }
}
