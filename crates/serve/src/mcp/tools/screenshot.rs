//! The tool `screenshot`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, Called, Tool};

/// Takes a picture of the whole screen, without numbers. `look` has one of a window with numbers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Screenshot {
    #[serde(default)]
    desktop: Option<String>,
}

impl Tool for Screenshot {
    const NAME: &'static str = "screenshot";
    const ONLY_READS: bool = true;

    async fn run(self, called: Called) -> Result<Answer, String> {
        let (_, mut desk) = called.desk(self.desktop.as_deref()).await?;
        let picture = desk.screen().await?;
        Answer::default().with_picture(&desk, Some(&picture))
    }
}
