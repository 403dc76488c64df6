//! The calls and their arguments.

use serde_json::{Map, Value};
use url::Url;

use crate::{
    arguments::{BrowserArgumentParser, missing},
    wire::BrowserCallError,
};

/// Characters that `read_page` returns if it is not told how many.
const CHARACTERS_DEFAULT: usize = 8000;
/// The range of `max_characters`.
const CHARACTERS_RANGE: (usize, usize) = (200, 50_000);
/// The longest address, in bytes.
const URL_BYTES_MAX: usize = 32_768;
/// The longest text for a prompt, in bytes.
const PROMPT_BYTES_MAX: usize = 100_000;
const TOOLS: &str = "read_page, page_forms, tabs, answer_dialog, page_dialog, downloads, open_url, page_info";

/// A call with checked arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BrowserCall {
    ReadPage { start: usize, characters_max: usize, frame: usize },
    PageForms,
    Tabs,
    AnswerDialog { accept: bool, message: Option<String>, text: Option<String> },
    PageDialog,
    Downloads,
    OpenUrl { url: String, new_tab: bool },
    PageInfo,
}

impl BrowserCall {
    pub(crate) fn parse(tool: &str, arguments: Map<String, Value>) -> Result<Self, BrowserCallError> {
        let mut arguments = BrowserArgumentParser::new(arguments);
        let call = match tool {
            "read_page" => Self::ReadPage {
                start: arguments.whole("start", 0, usize::MAX)?.unwrap_or(0),
                characters_max: arguments
                    .whole("max_characters", CHARACTERS_RANGE.0, CHARACTERS_RANGE.1)?
                    .unwrap_or(CHARACTERS_DEFAULT),
                frame: arguments.whole("frame", 0, usize::MAX)?.unwrap_or(0),
            },
            "page_forms" => Self::PageForms,
            "tabs" => Self::Tabs,
            "answer_dialog" => Self::AnswerDialog {
                accept: arguments.truth("accept")?.ok_or_else(|| {
                    missing(
                        tool,
                        "accept",
                        "true for OK (or to leave the page), false for Cancel (or to stay)",
                    )
                })?,
                message: arguments.text("message", PROMPT_BYTES_MAX)?,
                text: arguments.text("text", PROMPT_BYTES_MAX)?,
            },
            "page_dialog" => Self::PageDialog,
            "downloads" => Self::Downloads,
            "open_url" => Self::OpenUrl {
                url: arguments
                    .text("url", URL_BYTES_MAX)?
                    .ok_or_else(|| missing(tool, "url", "an address such as https://example.org/"))
                    .and_then(|url| checked_url(&url))?,
                new_tab: arguments.truth("new_tab")?.unwrap_or(false),
            },
            "page_info" => Self::PageInfo,
            // Names come from outside.
            _ => {
                return Err(BrowserCallError::Invalid(format!(
                    "there is no tool {tool:?}; the tools are: {TOOLS}"
                )));
            }
        };
        arguments.done(tool)?;
        Ok(call)
    }
}

/// The address as browsers write it. Schemes that run code or show the browser's own pages are refused.
fn checked_url(text: &str) -> Result<String, BrowserCallError> {
    let url = Url::parse(text.trim()).map_err(|error| {
        BrowserCallError::Invalid(format!(
            "the argument \"url\" is no full address ({error}); write it with its scheme, such as https://"
        ))
    })?;
    match url.scheme() {
        "http" | "https" | "file" => Ok(url.into()),
        "about" if url.as_str() == "about:blank" => Ok(url.into()),
        // Schemes come from outside.
        scheme => Err(BrowserCallError::Invalid(format!(
            "addresses with {scheme}: are not opened; expected http, https, file or about:blank"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(tool: &str, arguments: Value) -> Result<BrowserCall, String> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        BrowserCall::parse(tool, arguments).map_err(|trouble| match trouble {
            BrowserCallError::Invalid(message) => message,
            BrowserCallError::NoPages(_)
            | BrowserCallError::NoDocument(_)
            | BrowserCallError::Busy(_)
            | BrowserCallError::Failed(_)
            | BrowserCallError::Dialog => panic!("{trouble:?}"),
        })
    }

    #[test]
    fn arguments_have_defaults() {
        assert_eq!(
            parsed("read_page", json!({})),
            Ok(BrowserCall::ReadPage { start: 0, characters_max: 8000, frame: 0 })
        );
        assert_eq!(
            parsed("read_page", json!({"start": 10, "max_characters": 200, "frame": null})),
            Ok(BrowserCall::ReadPage { start: 10, characters_max: 200, frame: 0 })
        );
    }

    #[test]
    fn wrong_arguments_are_named() {
        for (tool, arguments, part) in [
            (
                "read_page",
                json!({"max_characters": 199}),
                "\"max_characters\" is 199; expected a whole number from 200",
            ),
            ("read_page", json!({"start": "1"}), "\"start\" is \"1\""),
            (
                "read_page",
                json!({"frames": 1}),
                "no argument \"frames\"; its arguments are: start, max_characters, frame",
            ),
            ("tabs", json!({"x": 1}), "its arguments are: none"),
            ("answer_dialog", json!({}), "needs the argument \"accept\""),
            ("answer_dialog", json!({"accept": "yes"}), "expected true or false"),
            ("open_url", json!({"url": "example.org"}), "no full address"),
            ("open_url", json!({"url": "javascript:alert(1)"}), "javascript: are not opened"),
            ("open_url", json!({"url": "about:config"}), "about: are not opened"),
            ("open_url", json!({"url": "chrome://settings"}), "chrome: are not opened"),
            ("click", json!({}), "no tool \"click\""),
        ] {
            let message = parsed(tool, arguments).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn addresses_are_written_as_browsers_do() {
        assert_eq!(
            parsed("open_url", json!({"url": " HTTP://Example.org "})),
            Ok(BrowserCall::OpenUrl { url: "http://example.org/".to_owned(), new_tab: false })
        );
    }
}
