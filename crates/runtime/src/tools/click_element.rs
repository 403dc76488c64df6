//! The tool `click_element`.

use deskhand_desktop::{
    Button, Desktop,
    act::{Click, Target, click},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    registry::{Tool, ToolContext, ToolResult},
};

/// Clicks an element: activates a button, opens a menu, puts the cursor somewhere. Refused when the element is
/// gone, disabled or covered, or its name is another one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClickElement {
    /// The id of the element, such as e17.
    id: ElementArgument,
    /// The name that it should have.
    name: Option<String>,
    /// Which mouse button; left if not given.
    #[serde(default)]
    button: MouseButton,
    /// How many clicks, 1 to 3; 1 if not given.
    #[serde(default = "once")]
    count: u8,
}

/// A mouse button.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum MouseButton {
    #[default]
    Left,
    Middle,
    Right,
}

const fn once() -> u8 {
    1
}

impl<D: Desktop> Tool<D> for ClickElement {
    const NAME: &'static str = "click_element";
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let button = match input.button {
            MouseButton::Left => Button::Left,
            MouseButton::Middle => Button::Middle,
            MouseButton::Right => Button::Right,
        };
        let target = Target::Element { id: input.id.0, name: input.name };
        let request = Click { target, button, count: input.count.clamp(1, 3) };
        Ok(click(context.desktop, context.window()?, &request, &context.limits).await?)
    }
}
