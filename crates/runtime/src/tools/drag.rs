//! The tool `drag`.
use deskhand_core::{command::Listing, intent::Does};
use deskhand_desktop::{Desktop, Held};
use deskhand_desktop_act::{Target, drag};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    registry::{Tool, ToolContext, ToolResult},
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
    const LISTING: Listing = Listing::Name;
    const DOES: Does = Does::Drag;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let (from, to) = (Target::element(input.from.0), Target::element(input.to.0));
        Ok(drag(context.desktop, context.window()?, (&from, &to), &Held::default(), &context.limits)
            .await?
            .into())
    }
}
