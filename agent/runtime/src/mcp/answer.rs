//! Answers of a server, as plain data.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deskhand_ui::text::clip;
use rmcp::model::{CallToolResult, ContentBlock, ReadResourceResult, ResourceContents};
use serde_json::Value;

/// The most text of an answer, in characters.
const TEXT_MAX: usize = 20_000;
/// The most structured data of an answer, in characters of JSON.
const DATA_MAX: usize = 20_000;
/// The most pictures of an answer, and the most bytes of each.
const PICTURES_MAX: usize = 4;
const PICTURE_BYTES_MAX: usize = 4 << 20;

/// The content that a call or a resource returned.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct McpReply {
    /// Its text, clipped.
    pub text: String,
    /// Its structured content; null if there is none, or it is too long.
    pub data: Value,
    /// Its pictures.
    pub pictures: Vec<McpPicture>,
    /// Set if the server marks the answer as an error.
    pub is_error: bool,
}

/// A picture of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpPicture {
    /// Its type: `image/png`.
    pub media_type: String,
    /// The file.
    pub bytes: Vec<u8>,
}

impl McpReply {
    pub(super) fn of_call(result: CallToolResult) -> Self {
        let mut answer = Self { is_error: result.is_error == Some(true), ..Self::default() };
        let mut texts = Vec::new();
        for block in result.content {
            answer.take(block, &mut texts);
        }
        let data = result.structured_content.unwrap_or_default();
        let length = data.to_string().len();
        if length <= DATA_MAX {
            answer.data = data;
        } else {
            texts.push(format!("(structured content of {length} bytes left out)"));
        }
        answer.text = clip(&texts.join("\n"), TEXT_MAX);
        answer
    }

    pub(super) fn of_resource(result: ReadResourceResult) -> Self {
        let mut answer = Self::default();
        let mut texts = Vec::new();
        for contents in result.contents {
            answer.take_contents(contents, &mut texts);
        }
        answer.text = clip(&texts.join("\n"), TEXT_MAX);
        answer
    }

    fn take(&mut self, block: ContentBlock, texts: &mut Vec<String>) {
        match block {
            ContentBlock::Text(text) => texts.push(text.text),
            ContentBlock::Image(image) => self.take_picture(image.mime_type, &image.data, texts),
            ContentBlock::Audio(audio) => texts.push(format!("(audio, {}, left out)", audio.mime_type)),
            ContentBlock::Resource(resource) => self.take_contents(resource.resource, texts),
            ContentBlock::ResourceLink(link) => texts.push(format!("(resource {}: {})", link.uri, link.name)),
            _ => texts.push("(content of an unknown kind left out)".to_owned()),
        }
    }

    fn take_contents(&mut self, contents: ResourceContents, texts: &mut Vec<String>) {
        match contents {
            ResourceContents::TextResourceContents { text, .. } => texts.push(text),
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let media_type = mime_type.unwrap_or_default();
                if media_type.starts_with("image/") {
                    self.take_picture(media_type, &blob, texts);
                } else {
                    texts.push(format!("({uri}: {} bytes of {media_type} left out)", blob.len() / 4 * 3));
                }
            }
            _ => texts.push("(content of an unknown kind left out)".to_owned()),
        }
    }

    fn take_picture(&mut self, media_type: String, encoded: &str, texts: &mut Vec<String>) {
        let is_small = encoded.len() / 4 * 3 <= PICTURE_BYTES_MAX && self.pictures.len() < PICTURES_MAX;
        let bytes = is_small.then(|| STANDARD.decode(encoded).ok()).flatten();
        match bytes {
            Some(bytes) => self.pictures.push(McpPicture { media_type, bytes }),
            None => texts.push(format!("(a picture, {media_type}, left out: too large or not readable)")),
        }
    }
}
