//! The tool `click_element`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::{ActionTarget, Click, click};
use deskhand_machine::intent::Does;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::{ElementArgument, MouseButton, held},
    tool::{Tool, ToolContext, ToolResult},
};

/// Clicks an element.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClickElement {
    /// The element id.
    id: ElementArgument,
    /// The expected name.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
    #[serde(default)]
    button: MouseButton,
    /// 1 to 3.
    #[serde(default = "once")]
    count: u8,
    /// Ctrl, shift or alt.
    hold: Option<String>,
}

const fn once() -> u8 {
    1
}

impl<D: Desktop> Tool<D> for ClickElement {
    const NAME: &'static str = "click_element";
    const DOES: Does = Does::Press;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let target = ActionTarget::Element { id: input.id.0, name: input.name };
        let held = held(input.button, input.hold.as_deref())?;
        let request = Click { target, held, count: input.count.clamp(1, 3) };
        Ok(click(context.desktop, context.window()?, &request, &context.limits).await?.into())
    }
}
