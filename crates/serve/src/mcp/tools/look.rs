//! The tool `look`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, Called, Tool, window_of};
use crate::mcp::words;

/// Shows a window: its elements with their ids, and a picture in which they are numbered. Brings it to the front.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Look {
    #[serde(default)]
    desktop: Option<String>,
    /// Its id; by default the one that is worked in.
    #[serde(default)]
    window: Option<String>,
    /// What is looked for: large windows list what fits it best.
    #[serde(default)]
    words: String,
    /// By default false.
    #[serde(default)]
    picture: bool,
}

impl Tool for Look {
    const NAME: &'static str = "look";
    const ONLY_READS: bool = false;

    async fn run(self, called: Called) -> Result<Answer, String> {
        let (_, mut desk) = called.desk(self.desktop.as_deref()).await?;
        let window = window_of(&desk, self.window.as_deref())?;
        let view = desk.look(window).await?;
        let text = words::window(&view, None, &called.server.listing(&self.words));
        let picture = view.picture.clone().filter(|_| self.picture);
        desk.shown(window, view);
        Answer::text(text).with_picture(&desk, picture.as_ref())
    }
}
