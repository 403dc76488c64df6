//! Settings of what agents see.

use deskhand_machine::session::{PictureCompression, ViewConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// View that agents have of their windows, and the way they act in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ViewSettings {
    /// About how many tokens the list of a window's elements may have. The least useful elements are dropped first.
    #[schemars(range(min = 100))]
    pub tokens_max: u32,
    /// If `true`, agents see only the changes in a window that they have seen before, instead of all of it.
    pub changes: bool,
    /// If `true`, agents see pictures of their windows, if the model accepts pictures.
    pub pictures: bool,
    /// If `true`, controls in a picture are framed and marked with the number of their id.
    pub marks: bool,
    /// The longest side of a picture, in pixels; larger pictures are scaled down. 0 for no limit.
    pub picture_side_max: u32,
    /// Compression of pictures.
    pub picture_compression: CompressionSetting,
    /// The quality of JPEG pictures, 1 to 100.
    #[schemars(range(min = 1, max = 100))]
    #[serde(deserialize_with = "quality")]
    pub jpeg_quality: u8,
    /// If `true`, all actions of one reply run. Otherwise only the first runs.
    pub action_sequences: bool,
}

/// Compression of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompressionSetting {
    /// PNG, compressed quickly.
    Fast,
    /// PNG, compressed into fewer bytes.
    Small,
    /// JPEG, the smallest; loses detail.
    Jpeg,
}

/// Deserializes a quality from 1 to 100.
fn quality<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let quality = u8::deserialize(deserializer)?;
    if (1..=100).contains(&quality) {
        return Ok(quality);
    }
    Err(serde::de::Error::custom(format!("{quality} is not between 1 and 100")))
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
    /// The settings for the session machine.
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
