//! Reads the documents of a page's frames in Chromium.

use std::{collections::VecDeque, time::Duration};

use serde_json::{Value, json};
use tokio::time::timeout;

use super::Cdp;
use crate::{
    compose::{FrameContent, FrameReading},
    link::BrowserCommand,
    requests::{FRAMES_MAX, FrameReadOptions, SCRIPT, WORLD, reading},
    state::kept,
    wire::BrowserCallError,
};

/// Maximum time for reading a frame inside a page.
const FRAME_BOUND: Duration = Duration::from_secs(6);
/// The elements that are kept in the browser during a call.
const OBJECTS: &str = "deskhand";

/// A frame and the session in which it is asked.
#[derive(Debug, Clone)]
struct CdpFrame {
    id: String,
    parent: Option<String>,
    session: String,
    name: String,
    url: String,
}

impl Cdp {
    pub(crate) async fn look(
        &self,
        page: &str,
        wanted: FrameReadOptions,
    ) -> Result<FrameContent, BrowserCallError> {
        let session = self.main_session(page)?;
        let main =
            CdpFrame { id: page.to_owned(), parent: None, session, name: String::new(), url: String::new() };
        match self.read_frame(page, &main, &[], wanted).await {
            // The document may have been replaced meanwhile.
            Err(BrowserCallError::Failed(_)) => self.read_frame(page, &main, &[], wanted).await,
            result => result,
        }
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
        let frames = self.frames(page).await?;
        let mut readings = Vec::new();
        for (index, frame) in frames.iter().enumerate() {
            let inside: Vec<(usize, &CdpFrame)> = frames
                .iter()
                .enumerate()
                .filter(|(_, other)| other.parent.as_deref() == Some(frame.id.as_str()))
                .collect();
            let read = self.read_frame(page, frame, &inside, wanted);
            let reading = if index == 0 {
                read.await?
            } else {
                match timeout(FRAME_BOUND, read).await {
                    Ok(Err(BrowserCallError::Dialog)) => return Err(BrowserCallError::Dialog),
                    Ok(Ok(reading)) => reading,
                    // It was removed or does not answer: the rest of the page can be read.
                    Ok(Err(_)) | Err(_) => FrameContent::silent(frame.url.clone()),
                }
            };
            let children = inside.iter().map(|(index, _)| Some(*index)).collect();
            readings.push(FrameReading { reading, name: frame.name.clone(), children });
        }
        for session in self.sessions(page) {
            let release = json!({"objectGroup": OBJECTS});
            let message = BrowserCommand::new("Runtime.releaseObjectGroup", release).in_session(session);
            // The objects are gone already if the frame is.
            let _ = timeout(FRAME_BOUND, self.link().ask_page(page, message)).await;
        }
        Ok(readings)
    }

    fn sessions(&self, page: &str) -> Vec<String> {
        let state = self.link().state();
        state
            .page(page)
            .into_iter()
            .flat_map(|page| &page.sessions)
            .map(|known| known.session.clone())
            .collect()
    }

    /// The frames of all sessions of a page; the page's own is the first.
    async fn frames(&self, page: &str) -> Result<Vec<CdpFrame>, BrowserCallError> {
        let known = match self.link().state().page(page) {
            Some(page) => page.sessions.clone(),
            None => Vec::new(),
        };
        let mut frames: Vec<CdpFrame> = Vec::new();
        for (index, known) in known.into_iter().enumerate() {
            let message = BrowserCommand::new("Page.getFrameTree", json!({})).in_session(&known.session);
            let asked = self.link().ask_page(page, message);
            let answer = match (timeout(FRAME_BOUND, asked).await, index) {
                (Ok(Err(BrowserCallError::Dialog)), _) => return Err(BrowserCallError::Dialog),
                (Ok(Ok(answer)), _) => answer,
                (Ok(Err(trouble)), 0) => return Err(trouble),
                (Err(_), 0) => return Err(silent()),
                (Ok(Err(_)) | Err(_), _) => {
                    let (id, parent) = (known.frame.clone(), known.parent.clone());
                    frames.push(CdpFrame {
                        id,
                        parent,
                        session: known.session,
                        name: String::new(),
                        url: String::new(),
                    });
                    continue;
                }
            };
            let mut trees =
                VecDeque::from([(answer.get("frameTree").unwrap_or(&Value::Null), known.parent.clone())]);
            while let Some((tree, parent)) = trees.pop_front() {
                let frame = tree.get("frame").unwrap_or(&Value::Null);
                let text = |name: &str| frame.get(name).and_then(Value::as_str).unwrap_or_default();
                let parent = frame.get("parentId").and_then(Value::as_str).map(str::to_owned).or(parent);
                // A frame that has moved to another process is asked there.
                if !frames.iter().any(|other| other.id == text("id")) && frames.len() < FRAMES_MAX {
                    frames.push(CdpFrame {
                        id: text("id").to_owned(),
                        parent,
                        session: known.session.clone(),
                        name: kept(text("name")),
                        url: kept(text("url")),
                    });
                }
                let inside = tree.get("childFrames").and_then(Value::as_array).into_iter().flatten();
                trees.extend(inside.map(|tree| (tree, Some(text("id").to_owned()))));
            }
        }
        Ok(frames)
    }

    /// Runs the script in a world of its own in a frame.
    async fn read_frame(
        &self,
        page: &str,
        frame: &CdpFrame,
        inside: &[(usize, &CdpFrame)],
        wanted: FrameReadOptions,
    ) -> Result<FrameContent, BrowserCallError> {
        let asking = (page, frame.session.as_str());
        let parameters = json!({"frameId": frame.id, "worldName": WORLD});
        let world = self.ask(asking, "Page.createIsolatedWorld", parameters).await?;
        let context = world.get("executionContextId").cloned().unwrap_or_default();
        let mut arguments = vec![json!({"value": wanted})];
        for (_, child) in inside {
            let owner = self.owner(asking, &child.id, &context).await;
            arguments.push(match owner {
                Ok(owner) => json!({"objectId": owner}),
                Err(BrowserCallError::Dialog) => return Err(BrowserCallError::Dialog),
                // It was removed.
                Err(_) => json!({"value": null}),
            });
        }
        let parameters = json!({
            "functionDeclaration": SCRIPT, "executionContextId": context, "arguments": arguments, "returnByValue": true,
        });
        let answer = self.ask(asking, "Runtime.callFunctionOn", parameters).await?;
        if let Some(details) = answer.get("exceptionDetails") {
            let thrown =
                details.pointer("/exception/description").and_then(Value::as_str).unwrap_or("no reason");
            return Err(BrowserCallError::Failed(format!("the page could not be read: {}", kept(thrown))));
        }
        reading(answer.pointer("/result/value").unwrap_or(&Value::Null))
    }

    /// The element that shows a frame, as an object of the context.
    async fn owner(
        &self,
        asking: (&str, &str),
        frame: &str,
        context: &Value,
    ) -> Result<Value, BrowserCallError> {
        let owner = self.ask(asking, "DOM.getFrameOwner", json!({"frameId": frame})).await?;
        let node = owner.get("backendNodeId").cloned().unwrap_or_default();
        let parameters =
            json!({"backendNodeId": node, "executionContextId": context, "objectGroup": OBJECTS});
        let resolved = self.ask(asking, "DOM.resolveNode", parameters).await?;
        Ok(resolved.pointer("/object/objectId").cloned().unwrap_or_default())
    }

    /// Asks in a session of a page.
    async fn ask(
        &self,
        (page, session): (&str, &str),
        method: &'static str,
        parameters: Value,
    ) -> Result<Value, BrowserCallError> {
        self.link().ask_page(page, BrowserCommand::new(method, parameters).in_session(session)).await
    }
}

fn silent() -> BrowserCallError {
    BrowserCallError::Busy(
        "the page does not answer; wait until it has loaded, or look at its window".to_owned(),
    )
}
