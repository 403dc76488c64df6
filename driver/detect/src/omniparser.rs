//! The client of a visual parser with the HTTP API of OmniParser's server: it sends a picture and receives boxes.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deskhand_desktop::Picture;
use deskhand_http::{BodyError, HttpCredential, HttpTimeout, UrlError, http_url, read_body, root_cause};
use deskhand_ui::{
    geometry::{Rect, Screen},
    text::{collapse_whitespace, excerpt},
};
use reqwest::{
    Client, StatusCode, Url,
    header::{AUTHORIZATION, CONTENT_TYPE},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::options::OmniparserOptions;

/// The path that accepts pictures.
const PATH: &str = "parse/";
/// The longest response that is read, in bytes: it contains an annotated picture, which is not used.
const ANSWER_MAX: usize = 64 * 1024 * 1024;
/// The most boxes of one response that are used.
const BOXES_MAX: usize = 1_000;
/// The longest text of a box, in characters.
const CONTENT_MAX: usize = 200;
/// Maximum length of the quote of an unexpected response, in characters.
const QUOTE_MAX: usize = 120;
/// Maximum number of times a picture is scaled down to fit.
const SHRINKS_MAX: u32 = 4;

/// A box that the parser found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedBox {
    /// Its content in the words of the parser; may be empty.
    pub(crate) content: String,
    /// Its bounds.
    pub(crate) bounds: Rect<Screen>,
    /// `true` if it is text, as opposed to an icon.
    pub(crate) is_text: bool,
    /// `true` if the parser considers it clickable.
    pub(crate) interactive: bool,
}

/// Why a request returned no boxes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ParseError {
    /// The endpoint is not a valid address.
    #[error("`{endpoint}` is not the address of an OmniParser server: {reason}")]
    Address {
        /// The configured value.
        endpoint: String,
        /// The reason.
        reason: String,
    },
    /// No connection.
    #[error("the OmniParser server at {url} cannot be reached: {reason}")]
    Unreachable {
        /// Its URL.
        url: String,
        /// The reason.
        reason: String,
    },
    /// No response in time.
    #[error("the OmniParser server at {url} did not answer within {limit_ms} ms")]
    TimedOut {
        /// Its URL.
        url: String,
        /// The limit.
        limit_ms: u128,
    },
    /// The server rejected the token.
    #[error("the OmniParser server at {url} rejected the token ({status})")]
    Forbidden {
        /// Its URL.
        url: String,
        /// The HTTP status.
        status: StatusCode,
    },
    /// The server responded with an error status.
    #[error("the OmniParser server at {url} answered {status}: {body}")]
    Status {
        /// Its URL.
        url: String,
        /// The HTTP status.
        status: StatusCode,
        /// The beginning of the response body.
        body: String,
    },
    /// Its response has an unknown format.
    #[error("the OmniParser server at {url} sent an invalid response: {reason}")]
    Answer {
        /// Its URL.
        url: String,
        /// Problem with the response.
        reason: String,
    },
    /// The picture could not be encoded or sent.
    #[error("cannot send the picture to the OmniParser server: {0}")]
    Picture(String),
}

impl ParseError {
    /// Returns the next step to take.
    pub(crate) const fn fix(&self) -> &'static str {
        match self {
            Self::Address { .. } => {
                "set `omniparser.endpoint` to its address, such as \"http://127.0.0.1:8000\""
            }
            Self::Unreachable { .. } => "start it, or correct `omniparser.endpoint`",
            Self::TimedOut { .. } => "raise `omniparser.timeout_s`, or use a faster server",
            Self::Forbidden { .. } => "correct `omniparser.token_env` or `omniparser.token_file`",
            Self::Status { .. } => "check the log of the server",
            Self::Answer { .. } => {
                "check that the server at `omniparser.endpoint` supports OmniParser's `/parse/`"
            }
            Self::Picture(_) => "raise `omniparser.picture_kb_max`",
        }
    }
}

/// A client of one server.
#[derive(Debug)]
pub(crate) struct Omniparser {
    client: Client,
    url: Url,
    token: Option<HttpCredential>,
    timeout: Duration,
    picture_bytes_max: usize,
}

#[derive(Deserialize)]
struct OmniparserItem {
    #[serde(default, rename = "type")]
    kind: String,
    bbox: [f64; 4],
    #[serde(default)]
    interactivity: bool,
    #[serde(default)]
    content: Option<String>,
}

impl Omniparser {
    /// Prepares a client; sends nothing.
    ///
    /// # Errors
    /// [`ParseError::Address`] if the endpoint is not a valid address.
    pub(crate) fn new(options: &OmniparserOptions) -> Result<Self, ParseError> {
        let url = address(&options.endpoint)?;
        let client =
            deskhand_http::client(&url, options.timeout, HttpTimeout::Whole(options.timeout)).map_err(
                |error| ParseError::Address { endpoint: options.endpoint.clone(), reason: error.to_string() },
            )?;
        let token = options.token.clone();
        let picture_bytes_max = options.picture_bytes_max;
        Ok(Self { client, url, token, timeout: options.timeout, picture_bytes_max })
    }

    /// The boxes in a picture.
    ///
    /// # Errors
    /// [`ParseError`] if the server cannot be reached, refuses, fails, or sends an invalid response.
    pub(crate) async fn parse(&self, picture: &Picture) -> Result<Vec<ParsedBox>, ParseError> {
        let (region, most) = (picture.region, self.picture_bytes_max);
        let picture = picture.clone();
        let encoding = tokio::task::spawn_blocking(move || encode(&picture, most));
        let file = encoding.await.map_err(|error| ParseError::Picture(error.to_string()))??;
        let answer = tokio::time::timeout(self.timeout, self.ask(&file)).await;
        let bytes = answer.unwrap_or_else(|_| Err(self.timed_out()))?;
        let url = self.url.to_string();
        let reading = tokio::task::spawn_blocking(move || boxes(&bytes, &region, &url));
        reading.await.map_err(|error| self.wrong(error.to_string()))?
    }

    async fn ask(&self, file: &str) -> Result<Vec<u8>, ParseError> {
        let body = json!({ "base64_image": file }).to_string();
        let mut builder =
            self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        if let Some(token) = &self.token {
            builder = builder.header(AUTHORIZATION, token.bearer());
        }
        let mut response = builder.send().await.map_err(|error| self.not_sent(&error))?;
        let status = response.status();
        let bytes = read_body(&mut response, ANSWER_MAX).await.map_err(|error| match error {
            BodyError::Truncated { source, .. } => self.not_sent(&source),
            BodyError::Silent { .. } => self.timed_out(),
            BodyError::TooLong { limit } => self.wrong(format!("it is longer than {limit} bytes")),
        })?;
        match status {
            status if status.is_success() => Ok(bytes),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(ParseError::Forbidden { url: self.url.to_string(), status })
            }
            status => {
                // Redacted first: a secret that is cut in two is still a secret.
                let body = String::from_utf8_lossy(&bytes);
                let body = self.token.as_ref().map_or_else(|| body.to_string(), |token| token.redact(&body));
                let body = excerpt(&body, QUOTE_MAX);
                Err(ParseError::Status { url: self.url.to_string(), status, body })
            }
        }
    }

    fn not_sent(&self, error: &reqwest::Error) -> ParseError {
        if error.is_timeout() {
            return self.timed_out();
        }
        ParseError::Unreachable { url: self.url.to_string(), reason: root_cause(error) }
    }

    fn timed_out(&self) -> ParseError {
        ParseError::TimedOut { url: self.url.to_string(), limit_ms: self.timeout.as_millis() }
    }

    fn wrong(&self, reason: String) -> ParseError {
        ParseError::Answer { url: self.url.to_string(), reason }
    }
}

/// The URL that pictures are sent to.
fn address(endpoint: &str) -> Result<Url, ParseError> {
    let trimmed = endpoint.trim().trim_end_matches('/');
    let base = trimmed.strip_suffix("/parse").unwrap_or(trimmed);
    let wrong = |error: UrlError| ParseError::Address {
        endpoint: error.redacted(endpoint),
        reason: error.to_string(),
    };
    http_url(&format!("{base}/{PATH}")).map_err(wrong)
}

/// The picture as the base64 of a PNG file of at most this many bytes.
fn encode(picture: &Picture, bytes_max: usize) -> Result<String, ParseError> {
    for halvings in 0..SHRINKS_MAX {
        let file = picture.shrunk(1 << halvings).to_png();
        let file = file.map_err(|error| ParseError::Picture(error.chain()))?;
        if file.len() <= bytes_max {
            return Ok(STANDARD.encode(file));
        }
    }
    Err(ParseError::Picture(format!("it has more than {bytes_max} bytes, even scaled down")))
}

/// The boxes of a response, in screen coordinates. Invalid boxes are skipped.
fn boxes(bytes: &[u8], region: &Rect<Screen>, url: &str) -> Result<Vec<ParsedBox>, ParseError> {
    let wrong = |reason: String| ParseError::Answer { url: url.to_owned(), reason };
    let answer: Value =
        serde_json::from_slice(bytes).map_err(|error| wrong(format!("{error} in `{}`", quote(bytes))))?;
    let Some(Value::Array(items)) = answer.get("parsed_content_list") else {
        return Err(wrong(format!("no list `parsed_content_list` in `{}`", quote(bytes))));
    };
    let parsed: Vec<ParsedBox> = items
        .iter()
        .take(BOXES_MAX)
        .filter_map(|item| OmniparserItem::deserialize(item).ok())
        .filter_map(|item| place(&item, region))
        .collect();
    if parsed.is_empty() && !items.is_empty() {
        return Err(wrong("none of its boxes has corners from 0 to 1".to_owned()));
    }
    Ok(parsed)
}

/// A box in screen coordinates: its corners are fractions of the picture's sides.
fn place(item: &OmniparserItem, region: &Rect<Screen>) -> Option<ParsedBox> {
    let [left, top, right, bottom] = item.bbox;
    let sane = item.bbox.iter().all(|share| (-0.01..=1.01).contains(share)) && left < right && top < bottom;
    if !sane {
        return None;
    }
    let pixel = |share: f64, side: i32| (share.clamp(0.0, 1.0) * f64::from(side)).round() as i32;
    let (x, y) = (pixel(left, region.width), pixel(top, region.height));
    let (width, height) = (pixel(right, region.width) - x, pixel(bottom, region.height) - y);
    let content = item.content.as_deref().unwrap_or_default();
    let content = collapse_whitespace(content).chars().take(CONTENT_MAX).collect();
    let bounds = Rect::new(region.x + x, region.y + y, width, height);
    (!bounds.is_empty()).then_some(ParsedBox {
        content,
        bounds,
        is_text: item.kind == "text",
        interactive: item.interactivity,
    })
}

/// The beginning of an answer, for a message.
fn quote(answer: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(answer), QUOTE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGION: Rect<Screen> = Rect::new(100, 50, 200, 100);

    #[test]
    fn the_path_is_added_to_an_address_without_it() {
        for endpoint in [
            "http://127.0.0.1:8000",
            "http://127.0.0.1:8000/",
            "http://127.0.0.1:8000/parse",
            "http://127.0.0.1:8000/parse/",
        ] {
            assert_eq!(address(endpoint).unwrap().as_str(), "http://127.0.0.1:8000/parse/");
        }
        assert_eq!(address("https://host/omni").unwrap().as_str(), "https://host/omni/parse/");
        for endpoint in ["", "127.0.0.1", "ftp://host", "http://me:secret@host"] {
            let error = address(endpoint).unwrap_err();
            assert!(matches!(error, ParseError::Address { .. }), "{endpoint}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn corners_are_fractions_of_the_picture() {
        let answer = json!({ "parsed_content_list": [
            { "type": "icon", "bbox": [0.25, 0.1, 0.5, 0.3], "interactivity": true, "content": "save  disk\n", "source": "box_yolo_content_yolo" },
            { "type": "text", "bbox": [0.0, 0.0, 1.0, 1.0], "interactivity": false, "content": null },
            { "type": "icon", "bbox": [0.5, 0.5, 0.4, 0.6] },
            { "type": "icon", "bbox": [10, 10, 40, 60] },
            "no box",
        ]});
        let found = boxes(answer.to_string().as_bytes(), &REGION, "u").unwrap();
        let expected = [
            ParsedBox {
                content: "save disk".to_owned(),
                bounds: Rect::new(150, 60, 50, 20),
                is_text: false,
                interactive: true,
            },
            ParsedBox { content: String::new(), bounds: REGION, is_text: true, interactive: false },
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_invalid_response_is_an_error() {
        for (answer, part) in [
            ("<html>", "in `<html>`"),
            ("{}", "no list `parsed_content_list`"),
            (r#"{"parsed_content_list": [{"bbox": [1, 2, 30, 40]}]}"#, "corners from 0 to 1"),
        ] {
            let text = boxes(answer.as_bytes(), &REGION, "u").unwrap_err().to_string();
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(boxes(br#"{"parsed_content_list": []}"#, &REGION, "u").unwrap(), []);
    }

    #[test]
    fn a_picture_that_is_too_large_is_scaled_down_or_not_sent() {
        let noise: Vec<u8> =
            (0..64 * 64 * 3_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let picture = Picture { region: Rect::new(0, 0, 64, 64), rgb: noise };
        let whole = encode(&picture, usize::MAX).unwrap().len();
        assert!(encode(&picture, 5_000).unwrap().len() < whole / 2);
        assert!(encode(&picture, 10).unwrap_err().to_string().contains("more than 10 bytes"));
    }
}
