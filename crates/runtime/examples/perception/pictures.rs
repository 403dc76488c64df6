//! Pictures of the whole screen.

use std::time::Instant;

use deskhand_desktop::Capture as _;
use serde_json::{Value, json};

use crate::{Failure, median, stage::Stage};

const PICTURES: usize = 15;

pub(crate) async fn measure(stage: &Stage) -> Result<Value, Failure> {
    let (mut captures, mut encodes, mut bytes) = (Vec::new(), Vec::new(), 0);
    for _ in 0..PICTURES {
        let begun = Instant::now();
        let picture = stage.desktop.screen().await?;
        captures.push(begun.elapsed().as_secs_f64() * 1e3);
        let begun = Instant::now();
        bytes = picture.to_png()?.len();
        encodes.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(json!({ "capture_ms": median(captures), "encode_ms": median(encodes), "bytes": bytes }))
}
