//! Reads the documents of a page's frames in Firefox.

use std::{collections::VecDeque, time::Duration};

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Bidi, act::call_function};
use crate::{
    compose::{FrameContent, FrameReading},
    requests::{FRAMES_MAX, FrameReadOptions, SCRIPT, reading},
    state::kept,
    wire::BrowserCallError,
};

/// Maximum time for reading a frame inside a page.
const FRAME_BOUND: Duration = Duration::from_secs(6);

impl Bidi {
    pub(crate) async fn look(
        &self,
        page: &str,
        wanted: FrameReadOptions,
    ) -> Result<FrameContent, BrowserCallError> {
        match self.read_frame(page, page, wanted).await {
            // The document may have been replaced meanwhile.
            Err(BrowserCallError::Failed(_)) => self.read_frame(page, page, wanted).await,
            result => result,
        }
        .map(|(reading, _)| reading)
    }

    pub(crate) async fn read(
        &self,
        page: &str,
        wanted: FrameReadOptions,
    ) -> Result<Vec<FrameReading>, BrowserCallError> {
        match self.read_once(page, wanted).await {
            // The document may have been replaced meanwhile.
            Err(BrowserCallError::Failed(_)) => self.read_once(page, wanted).await,
            result => result,
        }
    }

    async fn read_once(
        &self,
        page: &str,
        wanted: FrameReadOptions,
    ) -> Result<Vec<FrameReading>, BrowserCallError> {
        let mut readings: Vec<FrameReading> = Vec::new();
        let mut left = VecDeque::from([page.to_owned()]);
        let mut count = 1;
        while let Some(context) = left.pop_front() {
            let read = self.read_frame(page, &context, wanted);
            let (reading, inside) = if readings.is_empty() {
                read.await?
            } else {
                match timeout(FRAME_BOUND, read).await {
                    Ok(Err(BrowserCallError::Dialog)) => return Err(BrowserCallError::Dialog),
                    Ok(Ok(read)) => read,
                    // It was removed or does not answer: the rest of the page can be read.
                    Ok(Err(_)) | Err(_) => (FrameContent::silent(String::new()), Vec::new()),
                }
            };
            let mut children = Vec::new();
            for window in inside {
                let child = window.filter(|_| count < FRAMES_MAX).map(|window| {
                    left.push_back(window);
                    count += 1;
                    count - 1
                });
                children.push(child);
            }
            readings.push(FrameReading { name: reading.name.clone(), reading, children });
        }
        Ok(readings)
    }

    /// Runs the script in the sandbox of a frame; returns also the frames inside by the numbers in its text.
    async fn read_frame(
        &self,
        page: &str,
        context: &str,
        wanted: FrameReadOptions,
    ) -> Result<(FrameContent, Vec<Option<String>>), BrowserCallError> {
        let truth = |name: &str, value: bool| json!([name, {"type": "boolean", "value": value}]);
        let request = json!({"type": "object", "value": [
            truth("text", wanted.text), truth("fields", wanted.fields), truth("info", wanted.info), truth("windows", true),
        ]});
        let answer = self.link().ask_page(page, call_function(context, SCRIPT, &[request])).await?;
        if let Some(thrown) = answer.pointer("/exceptionDetails/text").and_then(Value::as_str) {
            return Err(BrowserCallError::Failed(format!("the page could not be read: {}", kept(thrown))));
        }
        let parts = answer.pointer("/result/value").and_then(Value::as_array).map(Vec::as_slice);
        let (text, windows) = match parts {
            Some([text, windows @ ..]) => (text.get("value").unwrap_or(&Value::Null), windows),
            Some([]) | None => (&Value::Null, [].as_slice()),
        };
        let windows = windows
            .iter()
            .map(|window| window.pointer("/value/context").and_then(Value::as_str).map(str::to_owned))
            .collect();
        Ok((reading(text)?, windows))
    }
}
