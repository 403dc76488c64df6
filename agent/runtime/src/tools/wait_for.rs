//! The tool `wait_for`.

use std::time::Duration;

use deskhand_desktop::Desktop;
use deskhand_desktop_act::wait_for;
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use deskhand_ui::{ElementQuery, Role, action::Condition};
use schemars::JsonSchema;
use serde::Deserialize;

use super::tool::{Tool, ToolContext, ToolError, ToolResult};

/// The maximum timeout, in seconds.
const SECONDS_MAX: u64 = 120;

/// Waits until an element of this role and exact name is there, or gone, or a title contains a text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitFor {
    role: Option<String>,
    name: Option<String>,
    #[serde(default)]
    gone: bool,
    title: Option<String>,
    /// 1 to 120, by default 30.
    #[serde(default = "half_a_minute")]
    seconds: u64,
}

const fn half_a_minute() -> u64 {
    30
}

impl<D: Desktop> Tool<D> for WaitFor {
    const NAME: &'static str = "wait_for";
    const DOES: Does = Does::Wait;
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let condition = match (input.title, input.role, input.name) {
            (Some(title), None, None) => Condition::TitleContains(title),
            (None, None, None) | (Some(_), ..) => {
                let hint = "pass either a title, or the role or name of an element".to_owned();
                return Err(ToolError::Reply(hint));
            }
            (None, role, name) => {
                let wanted = ElementQuery { role: role.map(Role::new), name };
                if input.gone { Condition::Disappears(wanted) } else { Condition::Appears(wanted) }
            }
        };
        let bound = Duration::from_secs(input.seconds.clamp(1, SECONDS_MAX));
        Ok(wait_for(context.desktop, context.window()?, &condition, bound).await?.into())
    }
}
