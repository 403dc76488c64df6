//! The tool `press_keys`.
use deskhand_desktop::{Desktop, keys::KeyChord};
use deskhand_desktop_act::{press_again, press_keys};
use deskhand_machine::intent::Does;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::parse,
    tool::{Tool, ToolContext, ToolResult},
};

/// Presses keys, chord by chord: "ctrl+s", "Tab Return".
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PressKeys {
    #[schemars(extend("x-takes" = "keys"))]
    keys: String,
    #[serde(default = "once")]
    times: u32,
}

const fn once() -> u32 {
    1
}

impl<D: Desktop> Tool<D> for PressKeys {
    const NAME: &'static str = "press_keys";
    const DOES: Does = Does::Press;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let chords: Vec<KeyChord> = input.keys.split_whitespace().map(parse).collect::<Result<_, _>>()?;
        let (desktop, window, limits) = (context.desktop, context.window()?, &context.limits);
        Ok(match input.times {
            1 => press_keys(desktop, window, &chords, limits).await?.into(),
            times => press_again(desktop, window, (&chords, times), limits).await?.into(),
        })
    }
}
