//! The tool `press_keys`.
use deskhand_core::intent::Does;
use deskhand_desktop::{Desktop, keys::KeyChord};
use deskhand_desktop_act::press_keys;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::parse,
    registry::{Tool, ToolContext, ToolResult},
};

/// Presses keys, chord by chord: "ctrl+s", "Tab Return".
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PressKeys {
    #[schemars(extend("x-takes" = "keys"))]
    keys: String,
}

impl<D: Desktop> Tool<D> for PressKeys {
    const NAME: &'static str = "press_keys";
    const DOES: Does = Does::Press;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let chords: Vec<KeyChord> = input.keys.split_whitespace().map(parse).collect::<Result<_, _>>()?;
        Ok(press_keys(context.desktop, context.window()?, &chords, &context.limits).await?.into())
    }
}
