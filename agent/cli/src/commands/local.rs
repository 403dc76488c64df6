//! `deskhand model pull`, `remove` and `list local`: models that run on this machine.

use deskhand_host::{
    Host,
    config::{LocalModelKind, Overrides, Provider, local_program_missing},
    local::{LocalModel, LocalModels, PullStep},
};
use deskhand_ui::text::one_line;
use serde_json::json;

use super::host::load;
use crate::{
    exit::{CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

/// Number of bytes in a megabyte, as disks count.
const MEGABYTE: u64 = 1_000_000;

pub(super) async fn pull(name: &str) -> CommandResult {
    let models = LocalModels::of(load(Overrides::default())?.config());
    let steps = Output::to(OutputStream::Error);
    let mut shown = PullProgressPrinter { out: &steps, tenths: 0 };
    let mut on_step = |step: PullStep| shown.step(&step);
    // A signal ends this process as a power failure would: the next pull goes on from there.
    let pulled = models.pull(name, &mut on_step).await;
    steps.clear_status();
    let file = pulled?;
    let out = Output::to(OutputStream::Out);
    out.text(format!("{name} is here: {}", file.display()));
    let known = models.list();
    let kind = known.iter().find(|model| model.name == name).map(|model| model.kind);
    out.text(match kind {
        Some(LocalModelKind::Embeddings) => "small models are offered what it finds nearest".to_owned(),
        Some(LocalModelKind::Ocr) => {
            "text that is only drawn is read with it; `deskhand tree WINDOW --ocr` shows what".to_owned()
        }
        Some(LocalModelKind::Chat) | None => format!(
            "use it with `--model {}:{name}`, or without --model if no other one is configured",
            Provider::Local.name()
        ),
    });
    if let (Some(LocalModelKind::Embeddings | LocalModelKind::Ocr), Some(missing)) =
        (kind, local_program_missing())
    {
        out.text(format!("nothing uses it yet: {missing}"));
    }
    let has_embeddings =
        known.iter().any(|model| model.kind == LocalModelKind::Embeddings && model.file.is_some());
    if kind != Some(LocalModelKind::Ocr) && !has_embeddings {
        out.text(
            "`deskhand model pull all-minilm-l6-v2` gets a model that chooses what a small one is offered",
        );
    }
    Ok(Exit::Success)
}

pub(super) async fn remove(name: &str) -> CommandResult {
    let models = LocalModels::of(load(Overrides::default())?.config());
    let out = Output::to(OutputStream::Out);
    if models.remove(name).await? {
        out.text(format!("{name} is removed"));
        Ok(Exit::Success)
    } else {
        out.text(format!("{name} was not pulled"));
        Ok(Exit::Negative)
    }
}

/// Shows the pulled models, with `all` also those that can be pulled; negative if there is none.
pub(super) fn list(out: &Output, host: &Host, all: bool, as_json: bool) -> Exit {
    let models: Vec<LocalModel> = LocalModels::of(host.config())
        .list()
        .into_iter()
        .filter(|model| all || model.file.is_some())
        .collect();
    let provider = Provider::Local.name();
    if models.is_empty() {
        return Exit::Negative;
    }
    if !as_json {
        out.line(
            &StyledLine::of(OutputTone::Strong, provider).with(OutputTone::Faint, "  runs on this machine"),
        );
    }
    for model in models {
        if as_json {
            out.json(&json!({
                "provider": provider, "model": model.name, "kind": model.kind, "pictures": false,
                "pulled": model.file.is_some(), "bytes": model.bytes, "source": model.source,
            }));
            continue;
        }
        let kind = match model.kind {
            LocalModelKind::Chat => "",
            LocalModelKind::Embeddings => "  for embeddings,",
            LocalModelKind::Ocr => "  reads pictures,",
        };
        let fact = match model.bytes {
            Some(bytes) => format!("pulled, {} MB", bytes / MEGABYTE),
            None => format!("`deskhand model pull {}` gets it from {}", model.name, one_line(&model.source)),
        };
        out.line(
            &StyledLine::of(OutputTone::Plain, format!("  {provider}:{}", model.name))
                .with(OutputTone::Faint, format!("{kind}  {fact}")),
        );
    }
    Exit::Success
}

/// Shows steps: on a terminal in one line, else one line a step and a tenth of a download.
struct PullProgressPrinter<'a> {
    out: &'a Output,
    tenths: u64,
}

impl PullProgressPrinter<'_> {
    fn step(&mut self, step: &PullStep) {
        let text = match step {
            PullStep::Waiting => "waiting for another process that pulls".to_owned(),
            PullStep::Package { package, number, of } => format!("downloading {package}, {number} of {of}"),
            PullStep::Bytes { done, total } => match self.bytes(*done, *total) {
                Some(text) => text,
                None => return,
            },
            PullStep::Cut(problem) => format!("{}; going on from there", one_line(problem)),
            PullStep::Checking => "comparing the SHA-256".to_owned(),
            PullStep::Server => "installing a llama.cpp server for Python (xllamacpp)".to_owned(),
        };
        let line = StyledLine::of(OutputTone::Faint, text);
        if self.out.is_terminal() { self.out.status(&line) } else { self.out.line(&line) }
    }

    /// Describes the progress in bytes; `None` if that is not worth a line.
    fn bytes(&mut self, done: u64, total: Option<u64>) -> Option<String> {
        let of = total.filter(|total| *total > 0);
        let tenths = of.map_or(done / (100 * MEGABYTE), |total| done.saturating_mul(10) / total);
        if !self.out.is_terminal() && tenths <= self.tenths {
            return None;
        }
        self.tenths = tenths;
        let done = done / MEGABYTE;
        Some(match of {
            Some(total) => format!("{done} of {} MB", total / MEGABYTE),
            None => format!("{done} MB"),
        })
    }
}
