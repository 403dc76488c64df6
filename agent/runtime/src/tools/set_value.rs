//! The tool `set_value`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::{NewValue, set_value};
use deskhand_machine::intent::Does;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolError, ToolResult},
};

/// Sets the content of a field, slider or spin button.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SetValue {
    /// The element id.
    id: ElementArgument,
    /// The expected name.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
    #[schemars(extend("x-takes" = "value"))]
    value: Value,
}

impl<D: Desktop> Tool<D> for SetValue {
    const NAME: &'static str = "set_value";
    const DOES: Does = Does::Set;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let value = match &input.value {
            Value::String(text) => NewValue::Text(text.clone()),
            Value::Number(number) => NewValue::Number(number.as_f64().unwrap_or_default()),
            other @ (Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
                return Err(ToolError::Reply(format!("`{other}` is neither text nor a number")));
            }
        };
        let (id, name) = (input.id.0, input.name.as_deref());
        Ok(set_value(context.desktop, context.window()?, id, name, &value, &context.limits).await?.into())
    }
}
