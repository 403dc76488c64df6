//! A mock visual parser on the loopback interface with the API of OmniParser and scripted results.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::endpoint::{Behaviour, MockEndpoint, RecordedRequest};

/// A parsed box.
#[derive(Debug, Clone, PartialEq)]
pub struct MockBox {
    /// `text` or `icon`.
    pub kind: &'static str,
    /// Its content.
    pub content: String,
    /// Left, top, right and bottom edge, in pixels of the picture.
    pub corners: [u32; 4],
}

/// The parser; it stops when dropped.
pub struct MockParser {
    endpoint: MockEndpoint,
    boxes: Arc<Mutex<Vec<MockBox>>>,
}

impl MockParser {
    /// Starts a parser that requires this bearer token.
    ///
    /// # Errors
    /// If no loopback port can be opened.
    pub async fn start(token: &str) -> io::Result<Self> {
        let boxes = Arc::<Mutex<Vec<MockBox>>>::default();
        let (known, token) = (Arc::clone(&boxes), format!("Bearer {token}"));
        let endpoint = MockEndpoint::answering_requests(move |request| {
            answer(request, &token, &known.lock().unwrap_or_else(PoisonError::into_inner))
        });
        Ok(Self { endpoint: endpoint.await?, boxes })
    }

    /// Its address.
    pub fn address(&self) -> String {
        self.endpoint.root_url()
    }

    /// Sets the boxes returned from now on.
    pub fn set_boxes(&self, boxes: impl IntoIterator<Item = MockBox>) {
        *self.boxes.lock().unwrap_or_else(PoisonError::into_inner) = boxes.into_iter().collect();
    }

    /// Queues other responses for the next requests.
    pub fn misbehave(&self, behaviours: impl IntoIterator<Item = Behaviour>) {
        self.endpoint.push(behaviours);
    }

    /// The number of requests received.
    pub fn asked(&self) -> usize {
        self.endpoint.requests().len()
    }

    /// Closes all connections and the port.
    pub async fn kill(&mut self) {
        self.endpoint.kill().await;
    }
}

fn answer(request: &RecordedRequest, token: &str, boxes: &[MockBox]) -> Behaviour {
    if request.header("authorization") != Some(token) {
        return Behaviour::status(401, json!({ "detail": "Not authenticated" }).to_string());
    }
    if (request.method.as_str(), request.path.as_str()) != ("POST", "/parse/") {
        return Behaviour::status(404, json!({ "detail": "Not Found" }).to_string());
    }
    let file = request.body.get("base64_image").and_then(Value::as_str).unwrap_or_default();
    let Some((width, height)) = STANDARD.decode(file).ok().as_deref().and_then(png_size) else {
        return Behaviour::status(422, json!({ "detail": "no picture" }).to_string());
    };
    let found: Vec<Value> = boxes
        .iter()
        .map(|one| {
            let [left, top, right, bottom] = one.corners.map(f64::from);
            json!({
                "type": one.kind,
                "bbox": [left / width, top / height, right / width, bottom / height],
                "interactivity": one.kind == "icon",
                "content": one.content,
                "source": if one.kind == "icon" { "box_yolo_content_yolo" } else { "box_ocr_content_ocr" },
            })
        })
        .collect();
    let body = json!({ "som_image_base64": file, "parsed_content_list": found, "latency": 0.1 });
    Behaviour::status(200, body.to_string())
}

/// The width and height in the header of a PNG file.
fn png_size(file: &[u8]) -> Option<(f64, f64)> {
    let header = file.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let number = |at: usize| Some(f64::from(u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?)));
    Some((number(8)?, number(12)?))
}
