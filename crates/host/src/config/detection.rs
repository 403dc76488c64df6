//! What can be configured of finding elements in pictures.

use deskhand_desktop_detect::{DetectOptions, MergeOptions, OcrOptions, OcrUse, OmniparserOptions, Secret};
use deskhand_model::SecretSource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, time::Duration};

use super::ConfigError;

/// What finds the elements of windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ControlBackend {
    /// What applications show to assistive technology.
    #[serde(rename = "at-spi")]
    AtSpi,
    /// Text that is read from pictures of windows, for what is not among those.
    #[serde(rename = "ocr")]
    Ocr,
    /// Boxes that a visual parser finds in pictures of windows; needs `omniparser.endpoint`, to which pictures of your
    /// windows are sent.
    #[serde(rename = "omniparser")]
    Omniparser,
}

/// How text is read from pictures, by the program `tesseract`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OcrSettings {
    /// Whether it is read in windows whose application shows no elements, also where `control_backend` does not name "ocr".
    pub empty_windows: bool,
    /// The program, by name or path.
    pub program: PathBuf,
    /// The languages to read, as `tesseract --list-langs` names them, joined by `+`.
    pub languages: String,
    /// How many times pictures are enlarged first, 1 to 8: more reads smaller letters and takes longer.
    #[schemars(range(min = 1))]
    pub scale: u32,
    /// Words that it is less sure of are left out, in per cent.
    pub confidence_min: u8,
    /// How long it may take for one picture, in seconds.
    #[schemars(range(min = 1))]
    pub timeout_s: u64,
}

impl Default for OcrSettings {
    fn default() -> Self {
        let reader = OcrOptions::default();
        Self {
            empty_windows: true,
            program: reader.program,
            languages: reader.languages,
            scale: reader.scale,
            confidence_min: reader.confidence_min,
            timeout_s: reader.timeout.as_secs(),
        }
    }
}

/// A visual parser that speaks like OmniParser's own server. Nothing is sent unless `control_backend` names "omniparser".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OmniparserSettings {
    /// The address of the server; pictures go to its `/parse/`.
    pub endpoint: Option<String>,
    /// The environment variable that holds a bearer token for it.
    pub token_env: Option<String>,
    /// A file whose first line is the token; wins over `token_env`.
    pub token_file: Option<PathBuf>,
    /// How long an answer may take, in seconds; a look waits for it.
    #[schemars(range(min = 1))]
    pub timeout_s: u64,
    /// The most kilobytes of a picture on its way there; larger ones are scaled down.
    #[schemars(range(min = 1))]
    pub picture_kb_max: u32,
}

impl Default for OmniparserSettings {
    fn default() -> Self {
        Self { endpoint: None, token_env: None, token_file: None, timeout_s: 20, picture_kb_max: 8_192 }
    }
}

/// When things that were found in different ways are the same thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DetectionSettings {
    /// From which intersection over union on two boxes are the same control, 0 to 1.
    pub merge_iou: f64,
    /// From which share of its area on a box lies in another one, 0 to 1.
    pub merge_inside: f64,
    /// How long a detector that failed is left alone before it is tried again, in seconds.
    pub retry_after_s: u64,
}

impl Default for DetectionSettings {
    fn default() -> Self {
        let options = DetectOptions::default();
        Self {
            merge_iou: options.merge.iou,
            merge_inside: options.merge.inside,
            retry_after_s: options.retry_after.as_secs(),
        }
    }
}

/// How elements are found, as the desktop takes it.
pub(super) fn to_options(
    backends: &[ControlBackend],
    ocr: &OcrSettings,
    omniparser: &OmniparserSettings,
    merge: &DetectionSettings,
) -> Result<DetectOptions, ConfigError> {
    check(backends, ocr, merge)?;
    let has = |backend: ControlBackend| backends.contains(&backend);
    let use_ocr = match (has(ControlBackend::Ocr), ocr.empty_windows) {
        (true, _) => OcrUse::Always,
        (false, true) => OcrUse::EmptyWindows,
        (false, false) => OcrUse::Never,
    };
    Ok(DetectOptions {
        tree: has(ControlBackend::AtSpi),
        ocr: use_ocr,
        reader: OcrOptions {
            program: ocr.program.clone(),
            languages: ocr.languages.clone(),
            scale: ocr.scale,
            confidence_min: ocr.confidence_min,
            timeout: Duration::from_secs(ocr.timeout_s),
            ..OcrOptions::default()
        },
        omniparser: if has(ControlBackend::Omniparser) { Some(omniparser.to_options()?) } else { None },
        merge: MergeOptions { iou: merge.merge_iou, inside: merge.merge_inside },
        retry_after: Duration::from_secs(merge.retry_after_s),
    })
}

/// What the types do not rule out.
fn check(
    backends: &[ControlBackend],
    ocr: &OcrSettings,
    merge: &DetectionSettings,
) -> Result<(), ConfigError> {
    for (key, share) in [("merge_iou", merge.merge_iou), ("merge_inside", merge.merge_inside)] {
        if !(0.0..=1.0).contains(&share) {
            let problem = format!("{share} is not from 0 to 1");
            return Err(unfit(&format!("detection.{key}"), problem, "it is a share"));
        }
    }
    if ocr.scale > 8 {
        let problem = format!("{} is more than 8", ocr.scale);
        return Err(unfit("ocr.scale", problem, "2 or 3 read the letters of most screens"));
    }
    if backends.is_empty() {
        let problem = "it is empty, so that no element would be found".to_owned();
        return Err(unfit("control_backend", problem, "name \"at-spi\", \"ocr\" or \"omniparser\""));
    }
    Ok(())
}

impl OmniparserSettings {
    fn to_options(&self) -> Result<OmniparserOptions, ConfigError> {
        let Some(endpoint) = self.endpoint.clone() else {
            let problem = "`control_backend` names \"omniparser\", and no server is configured".to_owned();
            let fix = "set it to the address of your server, such as \"http://127.0.0.1:8000\"";
            return Err(unfit("omniparser.endpoint", problem, fix));
        };
        let kilobytes = usize::try_from(self.picture_kb_max).unwrap_or(usize::MAX);
        Ok(OmniparserOptions {
            endpoint,
            token: self.token()?,
            timeout: Duration::from_secs(self.timeout_s),
            picture_bytes_max: kilobytes.saturating_mul(1_024),
        })
    }

    fn token(&self) -> Result<Option<Secret>, ConfigError> {
        let (key, source, fix) = match (&self.token_file, &self.token_env) {
            (Some(file), _) => (
                "omniparser.token_file",
                SecretSource::File(file.clone()),
                "write the token into its first line",
            ),
            (None, Some(name)) => (
                "omniparser.token_env",
                SecretSource::Environment(name.clone()),
                "set it to the token of the server",
            ),
            (None, None) => return Ok(None),
        };
        Secret::read(&source).map(Some).map_err(|error| unfit(key, format!("{source} {error}"), fix))
    }
}

fn unfit(key: &str, problem: String, fix: &str) -> ConfigError {
    ConfigError::Unfit { key: key.to_owned(), problem, fix: fix.to_owned() }
}
