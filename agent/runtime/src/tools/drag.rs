//! The tool `drag`.
use deskhand_desktop::{Desktop, PointerChord};
use deskhand_desktop_act::{ActionTarget, drag};
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolResult},
};

/// Drags one element onto another.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Drag {
    from: ElementArgument,
    to: ElementArgument,
}

impl<D: Desktop> Tool<D> for Drag {
    const NAME: &'static str = "drag";
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    const DOES: Does = Does::Drag;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let (from, to) = (ActionTarget::element(input.from.0), ActionTarget::element(input.to.0));
        Ok(drag(context.desktop, context.window()?, (&from, &to), &PointerChord::default(), &context.limits)
            .await?
            .into())
    }
}
