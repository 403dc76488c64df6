//! The tool `screenshot`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, Called, Tool, said};

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
        let (_, desk) = called.desk(self.desktop.as_deref()).await?;
        let mut desk = desk.lock().await;
        let picture = desk.windows().await.map_err(said)?.picture.clone();
        let picture = picture.ok_or("pictures are off: set `view.pictures` in Deskhand's configuration")?;
        Answer::default().with_picture(&desk, Some(&picture))
    }
}
