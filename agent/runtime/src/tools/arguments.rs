//! Argument types shared by several tools.

use deskhand_desktop::{Button, Desktop, DesktopError, PointerChord, WindowManagement as _};
use deskhand_desktop_act::TableTarget;
use deskhand_ui::{
    geometry::{Point, Screen},
    ids::ElementId,
    keys::KeyModifier,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

use super::tool::{ToolContext, ToolError};

/// An element id as models write it: `e17`, `17`, or the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String", inline, extend("x-takes" = "element"))]
pub(super) struct ElementArgument(pub(super) ElementId);

impl<'de> Deserialize<'de> for ElementArgument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let id = deskhand_machine::intent::element_id(&value);
        id.map(Self).ok_or_else(|| {
            let said = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            de::Error::custom(format!("`{said}` is not an element id"))
        })
    }
}

/// The text of a cell; numbers and booleans are converted, null is empty.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub(super) struct CellText(pub(super) String);

impl<'de> Deserialize<'de> for CellText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => Ok(Self(text)),
            serde_json::Value::Null => Ok(Self(String::new())),
            scalar @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_)) => {
                Ok(Self(scalar.to_string()))
            }
            other @ (serde_json::Value::Array(_) | serde_json::Value::Object(_)) => {
                Err(de::Error::custom(format!("`{other}` is not a cell text")))
            }
        }
    }
}

/// A mouse button.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum MouseButton {
    #[default]
    Left,
    Middle,
    Right,
}

impl From<MouseButton> for Button {
    fn from(button: MouseButton) -> Self {
        match button {
            MouseButton::Left => Self::Left,
            MouseButton::Middle => Self::Middle,
            MouseButton::Right => Self::Right,
        }
    }
}

/// A button, and the modifiers that are held with it, such as `ctrl` or `ctrl+shift`.
pub(super) fn held(button: MouseButton, hold: Option<&str>) -> Result<PointerChord, ToolError> {
    let names = hold.unwrap_or_default().split('+').map(str::trim).filter(|name| !name.is_empty());
    let parsed: Result<Vec<KeyModifier>, _> = names.map(str::parse).collect();
    let mut modifiers =
        parsed.map_err(|error| ToolError::Reply(format!("`hold`: {error}; nothing was done")))?;
    modifiers.sort_unstable();
    modifiers.dedup();
    Ok(PointerChord { button: button.into(), modifiers })
}

/// Converts fractions of the window's width and height to a point in the window of the calling agent.
pub(super) async fn place<D: Desktop>(
    context: &ToolContext<'_, D>,
    (x_name, x): (&str, f64),
    (y_name, y): (&str, f64),
) -> Result<Point<Screen>, ToolError> {
    let id = context.window()?;
    for (name, value) in [(x_name, x), (y_name, y)] {
        if !(0.0..=1.0).contains(&value) {
            return Err(ToolError::Reply(format!(
                "`{name}` must be a fraction of the window from 0 to 1, not pixels: got {value}; divide by the width or \
                 height of the window; nothing was done"
            )));
        }
    }
    let windows = context.desktop.windows().await?;
    let window = windows.iter().find(|window| window.id == id).ok_or(DesktopError::NoWindow(id))?;
    window
        .bounds
        .at_fraction(x, y)
        .ok_or_else(|| ToolError::Reply(format!("{id} has no size; nothing was done")))
}

/// Selects a table: by id, by name, or the largest one.
pub(super) fn table_target(id: Option<ElementArgument>, name: Option<String>) -> TableTarget {
    match (id, name) {
        (Some(ElementArgument(id)), _) => TableTarget::Element(id),
        (None, Some(name)) => TableTarget::Named(name),
        (None, None) => TableTarget::Largest,
    }
}

/// Parses a text argument such as a cell range.
pub(super) fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, ToolError> {
    text.parse().map_err(|error| ToolError::Reply(format!("{error}; nothing was done")))
}
