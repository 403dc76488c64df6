//! Settings of detection: finding elements in pictures of windows.

use deskhand_desktop_detect::{
    DetectOptions, HttpCredential, MergeOptions, OcrOptions, OcrUse, OmniparserOptions, unread_language,
};
use deskhand_model::SecretSource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, time::Duration};

use super::{ConfigError, find_local};

/// Source of the elements of windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ControlBackend {
    /// Elements that applications expose to assistive technology.
    #[serde(rename = "at-spi")]
    AtSpi,
    /// Text read from pictures of windows (OCR), where no other element covers it.
    #[serde(rename = "ocr")]
    Ocr,
    /// Boxes that a visual parser finds in pictures of windows. Needs `omniparser.endpoint`; pictures of your windows
    /// are sent there.
    #[serde(rename = "omniparser")]
    Omniparser,
}

/// Program that reads text in pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OcrReader {
    /// The model that `deskhand model pull ocr` gets, if it is there and knows the languages; else `tesseract`.
    #[default]
    Auto,
    /// The model.
    PpOcr,
    /// The program `tesseract`.
    Tesseract,
}

/// Settings for reading text from pictures of windows (OCR).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OcrSettings {
    /// If `true`, windows whose application exposes no elements are read even if `control_backend` does not name
    /// "ocr".
    pub empty_windows: bool,
    /// Program that reads text in pictures.
    pub reader: OcrReader,
    /// The program `tesseract`, by name or path.
    pub program: PathBuf,
    /// The languages, as `tesseract --list-langs` names them, joined by `+`.
    pub languages: String,
    /// Factor by which pictures are enlarged for `tesseract`, 1 to 8. A larger factor reads smaller letters and takes
    /// longer.
    #[schemars(range(min = 1))]
    pub scale: u32,
    /// The least confidence of a word, in percent; less certain words are dropped.
    pub confidence_min: u8,
    /// Maximum time for one picture, in seconds.
    #[schemars(range(min = 1))]
    pub timeout_s: u64,
}

impl Default for OcrSettings {
    fn default() -> Self {
        let reader = OcrOptions::default();
        Self {
            empty_windows: true,
            reader: OcrReader::default(),
            program: reader.program,
            languages: reader.languages,
            scale: reader.scale,
            confidence_min: reader.confidence_min,
            timeout_s: reader.timeout.as_secs(),
        }
    }
}

/// A visual parser with the API of OmniParser's own server. Used only if `control_backend` names "omniparser".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OmniparserSettings {
    /// The address of the server; pictures are posted to its `/parse/`.
    pub endpoint: Option<String>,
    /// The environment variable that holds the bearer token.
    pub token_env: Option<String>,
    /// A file whose first line is the bearer token. Takes precedence over `token_env`.
    pub token_file: Option<PathBuf>,
    /// Maximum time to wait for a reply, in seconds. Every observation waits for it.
    #[schemars(range(min = 1))]
    pub timeout_s: u64,
    /// The most kilobytes of a picture; larger ones are scaled down before they are sent.
    #[schemars(range(min = 1))]
    pub picture_kb_max: u32,
}

impl Default for OmniparserSettings {
    fn default() -> Self {
        Self { endpoint: None, token_env: None, token_file: None, timeout_s: 20, picture_kb_max: 8_192 }
    }
}

/// When elements that several back ends found count as one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DetectionSettings {
    /// The intersection over union from which two boxes count as the same control, 0 to 1.
    pub merge_iou: f64,
    /// The share of its area from which a box counts as lying inside another one, 0 to 1.
    pub merge_inside: f64,
    /// Delay before a failed detector is tried again, in seconds.
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

impl OcrSettings {
    /// The model that reads, out of the one that is `pulled`; `None` if the program does.
    fn model(&self, pulled: impl FnOnce() -> Option<PathBuf>) -> Result<Option<PathBuf>, ConfigError> {
        match (self.reader, unread_language(&self.languages)) {
            (OcrReader::Tesseract, _) | (OcrReader::Auto, Some(_)) => Ok(None),
            (OcrReader::Auto, None) => Ok(pulled()),
            (OcrReader::PpOcr, _) => match pulled() {
                Some(model) => Ok(Some(model)),
                None => {
                    let problem = "there is no model".to_owned();
                    Err(unfit("ocr.reader", problem, "`deskhand model pull ocr`, or set \"auto\""))
                }
            },
        }
    }
}

/// The detection options of the desktop. `pulled` finds the model for OCR. Blocking.
pub(super) fn to_options(
    backends: &[ControlBackend],
    ocr: &OcrSettings,
    omniparser: &OmniparserSettings,
    merge: &DetectionSettings,
    pulled: impl FnOnce() -> Option<PathBuf>,
) -> Result<DetectOptions, ConfigError> {
    check(backends, ocr, merge)?;
    let has = |backend: ControlBackend| backends.contains(&backend);
    let use_ocr = match (has(ControlBackend::Ocr), ocr.empty_windows) {
        (true, _) => OcrUse::Always,
        (false, true) => OcrUse::EmptyWindows,
        (false, false) => OcrUse::Never,
    };
    let model = if use_ocr == OcrUse::Never { None } else { ocr.model(pulled)? };
    Ok(DetectOptions {
        tree: has(ControlBackend::AtSpi),
        ocr: use_ocr,
        reader: OcrOptions {
            local: model.is_some().then(find_local).flatten(),
            model,
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

/// Checks what the types do not rule out.
fn check(
    backends: &[ControlBackend],
    ocr: &OcrSettings,
    merge: &DetectionSettings,
) -> Result<(), ConfigError> {
    for (key, share) in [("merge_iou", merge.merge_iou), ("merge_inside", merge.merge_inside)] {
        if !(0.0..=1.0).contains(&share) {
            let problem = format!("{share} is not between 0 and 1");
            return Err(unfit(&format!("detection.{key}"), problem, "use a fraction such as 0.5"));
        }
    }
    if ocr.scale > 8 {
        let problem = format!("{} is more than 8", ocr.scale);
        return Err(unfit("ocr.scale", problem, "2 or 3 is enough for most screens"));
    }
    if backends.is_empty() {
        let problem = "the list is empty, so no element would be found".to_owned();
        return Err(unfit("control_backend", problem, "name \"at-spi\", \"ocr\" or \"omniparser\""));
    }
    Ok(())
}

impl OmniparserSettings {
    fn to_options(&self) -> Result<OmniparserOptions, ConfigError> {
        let Some(endpoint) = self.endpoint.clone() else {
            let problem = "`control_backend` names \"omniparser\", but no server is configured".to_owned();
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

    fn token(&self) -> Result<Option<HttpCredential>, ConfigError> {
        let (key, source, fix) = match (&self.token_file, &self.token_env) {
            (Some(file), _) => (
                "omniparser.token_file",
                SecretSource::File(file.clone()),
                "write the token into the first line of that file",
            ),
            (None, Some(name)) => (
                "omniparser.token_env",
                SecretSource::Environment(name.clone()),
                "set it to the token of the server",
            ),
            (None, None) => return Ok(None),
        };
        HttpCredential::read(&source).map(Some).map_err(|error| unfit(key, format!("{source} {error}"), fix))
    }
}

fn unfit(key: &str, problem: String, fix: &str) -> ConfigError {
    ConfigError::Unfit { key: key.to_owned(), problem, fix: fix.to_owned() }
}
