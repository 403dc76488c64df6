//! Screenshots: capturing, encoding, and marking controls.

use deskhand_desktop::{Capture as _, TreeLimits, UiTree as _, picture::ElementMark};
use serde_json::{Value, json};
use std::time::Instant;

use crate::{Failure, median, stage::Stage};

const PICTURES: usize = 15;

pub(crate) async fn measure(stage: &Stage) -> Result<Value, Failure> {
    let ms = |begun: Instant| begun.elapsed().as_secs_f64() * 1e3;
    let tree = stage.desktop.tree(stage.window.id, TreeLimits::default()).await?;
    let (mut captures, mut encodes, mut annotates) = (Vec::new(), Vec::new(), Vec::new());
    let (mut bytes, mut marked) = (0, 0);
    for _ in 0..PICTURES {
        let begun = Instant::now();
        let mut picture = stage.desktop.screen().await?;
        captures.push(ms(begun));
        let begun = Instant::now();
        bytes = picture.to_png()?.len();
        encodes.push(ms(begun));
        let marks: Vec<ElementMark> = tree
            .elements
            .iter()
            .filter(|element| element.role.is_interactive())
            .filter_map(|element| {
                let bounds = picture.place(&element.bounds?)?;
                Some(ElementMark { number: element.id.0, bounds })
            })
            .collect();
        let begun = Instant::now();
        marked = picture.mark(&marks).len();
        annotates.push(ms(begun));
    }
    Ok(json!({
        "capture_ms": median(captures),
        "encode_ms": median(encodes),
        "annotate_ms": median(annotates),
        "bytes": bytes,
        "marks": marked,
    }))
}
