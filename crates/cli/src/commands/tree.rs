//! `deskhand tree`: what is in a window.

use deskhand_core::ui::WindowInfo;
use deskhand_desktop::{Desktop as _, TreeLimits};
use deskhand_desktop_detect::OcrUse;
use serde_json::json;

use super::stage::{Stage, StagePlan, desktop_error};
use crate::{
    args::TreeArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
    render::tree_lines,
};

pub(crate) async fn tree(args: &TreeArgs) -> CommandResult {
    let mut plan = StagePlan::of(&args.stage)?;
    if args.ocr {
        plan.detect.ocr = OcrUse::Always;
    }
    let limits = TreeLimits { nodes_max: args.nodes_max, ..TreeLimits::default() };
    let work = async |stage: &Stage| {
        let window = stage.window(args.window.as_deref()).await?;
        if args.verify {
            return verify(stage, &window, limits, args.json).await;
        }
        let sight = stage.desktop.see(window.id, limits).await.map_err(|error| desktop_error(&error))?;
        let tree = sight.tree;
        let out = Output::to(Stream::Out);
        if args.json {
            out.pretty_json(&json!({ "window": window, "tree": tree, "notices": sight.notices }));
        } else {
            let count = format!("  {} · {} elements", window.app.name, tree.elements.len());
            out.line(&Line::of(Tone::Strong, window.label()).with(Tone::Faint, count));
            for line in tree_lines(&tree) {
                out.line(&line);
            }
            if tree.elements.is_empty() && !window.accessible {
                let note = "the application shows nothing to assistive technology; a picture may help: `deskhand screenshot`";
                Output::to(Stream::Error).line(&Line::of(Tone::Doubtful, note));
            }
            for notice in sight.notices {
                Output::to(Stream::Error).line(&Line::of(Tone::Doubtful, notice));
            }
        }
        Ok(Exit::Success)
    };
    plan.work(work).await
}

/// Looks at the mirror and at the application, and shows in what they differ.
async fn verify(stage: &Stage, window: &WindowInfo, limits: TreeLimits, json: bool) -> CommandResult {
    let found =
        stage.desktop.inner().verify_tree(window.id, limits).await.map_err(|error| desktop_error(&error))?;
    let out = Output::to(Stream::Out);
    if json {
        out.pretty_json(&json!({ "window": window, "differences": found }));
    } else if found.is_empty() {
        out.line(&Line::of(Tone::Strong, window.label()).with(Tone::Faint, "  the mirror is right"));
    } else {
        for one in &found {
            let what = format!("{} {}: {}", one.element, one.label, one.what);
            let values = format!("  mirror {} · application {}", one.mirror, one.fresh);
            out.line(&Line::of(Tone::Doubtful, what).with(Tone::Plain, values));
        }
    }
    if found.is_empty() {
        return Ok(Exit::Success);
    }
    let places = found.len();
    Err(CliError::new(format!(
        "the mirror of {} differs from the application in {places} places",
        window.label()
    ))
    .with_help("please report this with the name and version of the application"))
}
