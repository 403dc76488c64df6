//! The tool `more`.

use deskhand_desktop::{Desktop, TreeLimits};
use deskhand_machine::{
    intent::Does,
    prompt::{PageQuery, view_page},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolError, ToolOutput, ToolResult},
};
use crate::observe::see_surfaces;

/// The approximate token budget of a page.
const PAGE_TOKENS_MAX: usize = 1_400;

/// Lists elements by pages: all, those with a text in role, name or content, or those inside one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct More {
    find: Option<String>,
    /// An id.
    inside: Option<ElementArgument>,
    #[serde(default = "first")]
    page: usize,
}

const fn first() -> usize {
    1
}

impl<D: Desktop> Tool<D> for More {
    const NAME: &'static str = "more";
    const DOES: Does = Does::Read;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let view = see_surfaces(context.desktop, context.window()?, TreeLimits::default())
            .await
            .map_err(|failure| ToolError::Reply(failure.to_string()))?;
        let query = PageQuery { find: input.find, inside: input.inside.map(|id| id.0), page: input.page };
        let page = view_page(&view, &query, PAGE_TOKENS_MAX);
        Ok(ToolOutput::read(page, Value::Null))
    }
}
