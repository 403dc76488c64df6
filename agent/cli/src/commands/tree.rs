//! `deskhand tree`: prints the elements of a window.

use deskhand_desktop::{Desktop as _, TreeLimits};
use deskhand_ui::WindowInfo;
use serde_json::json;

use deskhand_host::Workspace;

use super::host::{by_hand, work};
use crate::{
    args::TreeArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
    render::tree_lines,
};

pub(crate) async fn tree(args: &TreeArgs) -> CommandResult {
    let mut plan = by_hand(&args.stage)?;
    if args.ocr {
        plan = plan.with_ocr();
    }
    let limits = TreeLimits { nodes_max: args.nodes_max, ..TreeLimits::default() };
    let looking = async |workspace: &Workspace| {
        let window = workspace.window(args.window.as_deref()).await?;
        if args.verify {
            return verify(workspace, &window, limits, args.json).await;
        }
        let sight = workspace.desktop.see(window.id, limits).await?;
        let tree = sight.tree;
        let out = Output::to(OutputStream::Out);
        if args.json {
            out.pretty_json(&json!({ "window": window, "tree": tree, "notices": sight.notices }));
        } else {
            let count = format!("  {} · {} elements", window.app.name, tree.elements.len());
            out.line(&StyledLine::of(OutputTone::Strong, window.label()).with(OutputTone::Faint, count));
            for line in tree_lines(&tree) {
                out.line(&line);
            }
            if tree.elements.is_empty() && !window.accessible {
                let note =
                    "the application exposes no elements; take a picture instead: `deskhand screenshot`";
                Output::to(OutputStream::Error).line(&StyledLine::of(OutputTone::Doubtful, note));
            }
            for notice in sight.notices {
                Output::to(OutputStream::Error).line(&StyledLine::of(OutputTone::Doubtful, notice));
            }
        }
        Ok(Exit::Success)
    };
    work(&plan, looking).await
}

/// Compares the mirror with the application, and prints the differences.
async fn verify(workspace: &Workspace, window: &WindowInfo, limits: TreeLimits, json: bool) -> CommandResult {
    let found = workspace.back_end().verify_tree(window.id, limits).await?;
    let out = Output::to(OutputStream::Out);
    if json {
        out.pretty_json(&json!({ "window": window, "differences": found }));
    } else if found.is_empty() {
        out.line(
            &StyledLine::of(OutputTone::Strong, window.label())
                .with(OutputTone::Faint, "  the mirror equals the application"),
        );
    } else {
        for one in &found {
            let what = format!("{} {}: {}", one.element, one.label, one.what);
            let values = format!("  mirror {} · application {}", one.mirror, one.fresh);
            out.line(&StyledLine::of(OutputTone::Doubtful, what).with(OutputTone::Plain, values));
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
    .with_help("please report this bug with the name and version of the application"))
}
