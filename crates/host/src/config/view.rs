//! What can be configured of what agents are shown.

use deskhand_core::session::{PictureCompression, ViewConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What agents are shown of their windows, and how they act in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ViewSettings {
    /// About how many tokens the list of a window's elements may have; what is least useful is left out.
    #[schemars(range(min = 100))]
    pub tokens_max: u32,
    /// Whether agents are told what changed in a window after they have seen it, instead of all of it again.
    pub changes: bool,
    /// Whether agents are shown pictures of their windows, if the model can see them.
    pub pictures: bool,
    /// Whether the controls in a picture are framed and carry the numbers of their ids.
    pub marks: bool,
    /// The most pixels that a side of a picture may have; larger ones are scaled down. 0 for no limit.
    pub picture_side_max: u32,
    /// Whether pictures are compressed in little time, into few bytes, or into fewer as JPEG, which no longer holds every
    /// pixel.
    pub picture_compression: CompressionSetting,
    /// How good a JPEG picture is, 1 to 100.
    #[schemars(range(min = 1, max = 100))]
    #[serde(deserialize_with = "quality")]
    pub jpeg_quality: u8,
    /// Whether the several actions of one reply are run, or only the first.
    pub action_sequences: bool,
}

/// How pictures are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompressionSetting {
    /// In little time.
    Fast,
    /// Into few bytes.
    Small,
    /// Into fewer bytes, as JPEG.
    Jpeg,
}

/// A quality that there is.
fn quality<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let quality = u8::deserialize(deserializer)?;
    if (1..=100).contains(&quality) {
        return Ok(quality);
    }
    Err(serde::de::Error::custom(format!("{quality} is no quality; say a number from 1 to 100")))
}

impl Default for ViewSettings {
    fn default() -> Self {
        let view = ViewConfig::default();
        Self {
            tokens_max: u32::try_from(view.tokens_max).unwrap_or(u32::MAX),
            changes: view.changes,
            pictures: true,
            marks: view.marks,
            picture_side_max: view.picture_side_max,
            picture_compression: CompressionSetting::Fast,
            jpeg_quality: view.jpeg_quality,
            action_sequences: true,
        }
    }
}

impl ViewSettings {
    /// The settings as the session machine takes them.
    pub fn to_view(&self) -> ViewConfig {
        ViewConfig {
            tokens_max: usize::try_from(self.tokens_max).unwrap_or(usize::MAX),
            changes: self.changes,
            marks: self.marks,
            picture_side_max: self.picture_side_max,
            picture_compression: match self.picture_compression {
                CompressionSetting::Fast => PictureCompression::Fast,
                CompressionSetting::Small => PictureCompression::Small,
                CompressionSetting::Jpeg => PictureCompression::Jpeg,
            },
            jpeg_quality: self.jpeg_quality,
        }
    }
}
