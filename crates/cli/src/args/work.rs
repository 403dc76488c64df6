//! Arguments that several commands have in common, and the overrides of the configuration that they stand for.

use std::{collections::BTreeMap, path::PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use deskhand_host::config::{Overrides, ScreenSize};
use serde_json::Value;

/// Which desktop requests are carried out on.
#[derive(Debug, Clone, Args)]
pub(crate) struct DesktopArgs {
    /// Where to work [default: virtual].
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) desktop: Option<DesktopName>,
    #[command(flatten)]
    pub(crate) setup: SetupArgs,
}

/// Which desktop is looked at or acted on by hand, and what to start on it.
#[derive(Debug, Clone, Args)]
pub(crate) struct StageArgs {
    /// Which desktop [default: the current one; a virtual one where there is no display].
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) desktop: Option<DesktopName>,
    #[command(flatten)]
    pub(crate) setup: SetupArgs,
    /// Start a program first, by the name of its desktop entry or as a command.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) launch: Option<String>,
}

/// How a desktop is set up before it is worked on.
#[derive(Debug, Clone, Args)]
pub(crate) struct SetupArgs {
    /// The size of a virtual desktop's screen [default: 1920x1080].
    #[arg(long, value_name = "WxH")]
    pub(crate) size: Option<ScreenSize>,
    /// Open a document first; can be given more than once.
    #[arg(long, value_name = "FILE")]
    pub(crate) open: Vec<PathBuf>,
}

/// A kind of desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DesktopName {
    /// A private one, started for the request and gone after it.
    Virtual,
    /// The one that `DISPLAY` names.
    Current,
}

/// Where sessions are kept.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreArgs {
    /// The folder of the sessions [default: ~/.local/state/deskhand/sessions].
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) state_dir: Option<String>,
}

/// What every way to have work done takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct WorkArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) desktop: DesktopArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// Judge the request when it is said to be finished: by rules over the record, then by the model.
    #[arg(long)]
    pub(crate) evaluate: bool,
    /// Show the model no pictures.
    #[arg(long)]
    pub(crate) no_pictures: bool,
    /// Speak JSON lines: the journal and a summary on standard output, answers on standard input (docs/guides/protocol.md).
    #[arg(long)]
    pub(crate) json: bool,
    /// Say how it ended and nothing else.
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: what the agents think (-v), what they look at and what it costs (-vv).
    #[arg(long, short, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Which model.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ModelArgs {
    /// `openai:MODEL`, `script:FILE`, or the name of a model in the configuration [default: its section `model`].
    #[arg(long, value_name = "SPEC")]
    pub(crate) model: Option<String>,
    /// The address of an OpenAI-compatible endpoint.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The environment variable that holds the endpoint's key.
    #[arg(long, value_name = "NAME", conflicts_with = "api_key_file")]
    pub(crate) api_key_env: Option<String>,
    /// A file whose first line is the endpoint's key.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) api_key_file: Option<String>,
    /// A variable of the script; can be given more than once.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
    pub(crate) script_var: Vec<(String, String)>,
}

/// Who is asked.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AskArgs {
    /// Whether agents may ask you questions [default: auto].
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) ask: Option<AskWhen>,
    /// What becomes of an action that needs approval [default: ask].
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) approve: Option<ApproveWhen>,
    /// How long a question waits for an answer, in seconds; 0 for ever [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) question_timeout: Option<u64>,
    /// How long an action waits for approval, in seconds; 0 for ever [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) approval_timeout: Option<u64>,
}

/// Whether agents may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AskWhen {
    /// They may, where somebody can answer: on a terminal, or over --json.
    Auto,
    /// They decide for themselves.
    Never,
}

/// What becomes of an action that needs approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApproveWhen {
    /// You are asked; where nobody can be, it is not done.
    Ask,
    /// It is done without asking. What the policy denies is not.
    All,
    /// It is not done, and nobody is asked.
    None,
}

/// What the request may use up.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LimitArgs {
    /// The most steps of all agents together [default: 50].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_steps: Option<u32>,
    /// The most requests to the model [default: 100].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_model_calls: Option<u32>,
    /// The most tokens, read and written [default: no limit].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_tokens: Option<u64>,
    /// The most money for the model, in US dollars [default: no limit].
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) max_cost: Option<f64>,
    /// The longest it may take, in minutes [default: no limit].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_minutes: Option<u64>,
    /// Whether the HostAgent judges what an AppAgent says is done [default: auto].
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) verify: Option<VerifyWhen>,
    /// Ask for no approvals; what the policy denies is still not done, and what its rules ask about is still asked.
    #[arg(long)]
    pub(crate) no_safe_guard: bool,
}

/// Whether the HostAgent judges what an AppAgent says is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerifyWhen {
    /// It always does, which takes one more call of the model.
    Always,
    /// It does not where everything was seen to be done, as it was expected.
    Auto,
    /// It does not: the AppAgent's word is taken.
    Never,
}

/// The word of a choice, which is the same on the command line and in the configuration.
fn word(choice: Option<impl ValueEnum>) -> Option<String> {
    Some(choice?.to_possible_value()?.get_name().to_owned())
}

impl StageArgs {
    /// The settings that these flags stand for.
    pub(crate) fn overrides(&self) -> Overrides {
        self.setup.add_to(Overrides::default(), self.desktop)
    }
}

impl SetupArgs {
    /// Adds the settings that these flags and the kind of desktop stand for.
    fn add_to(&self, overrides: Overrides, desktop: Option<DesktopName>) -> Overrides {
        overrides.set_if("desktop.kind", word(desktop), "--desktop").set_if(
            "desktop.size",
            self.size.map(String::from),
            "--size",
        )
    }
}

impl StoreArgs {
    /// The settings that these flags stand for.
    pub(crate) fn overrides(&self) -> Overrides {
        self.add_to(Overrides::default())
    }

    fn add_to(&self, overrides: Overrides) -> Overrides {
        overrides.set_if("sessions.dir", self.state_dir.clone(), "--state-dir")
    }
}

impl ModelArgs {
    /// The variables of a script.
    pub(crate) fn variables(&self) -> BTreeMap<String, String> {
        self.script_var.iter().cloned().collect()
    }

    /// The settings that these flags stand for.
    pub(crate) fn overrides(&self) -> Overrides {
        self.add_to(Overrides::default())
    }

    fn add_to(&self, overrides: Overrides) -> Overrides {
        let overrides = match &self.model {
            Some(spec) => overrides.model(spec, "--model"),
            None => overrides,
        };
        let overrides = overrides.set_if("model.base_url", self.base_url.clone(), "--base-url");
        match &self.api_key_env {
            // A file would win.
            Some(name) => overrides.set("model.api_key_env", name.as_str(), "--api-key-env").set(
                "model.api_key_file",
                Value::Null,
                "--api-key-env",
            ),
            None => overrides.set_if("model.api_key_file", self.api_key_file.clone(), "--api-key-file"),
        }
    }
}

impl LimitArgs {
    fn add_to(&self, overrides: Overrides) -> Overrides {
        overrides
            .set_if("limits.steps_max", self.max_steps, "--max-steps")
            .set_if("limits.model_calls_max", self.max_model_calls, "--max-model-calls")
            .set_if("limits.tokens_max", self.max_tokens, "--max-tokens")
            .set_if("limits.cost_max", self.max_cost, "--max-cost")
            .set_if("limits.minutes_max", self.max_minutes, "--max-minutes")
            .set_if("work.verify", word(self.verify), "--verify")
            .set_if("policy.safe_guard", self.no_safe_guard.then_some(false), "--no-safe-guard")
    }
}

impl AskArgs {
    fn add_to(&self, overrides: Overrides) -> Overrides {
        let may_ask = self.ask.map(|when| when == AskWhen::Auto);
        overrides
            .set_if("people.ask_questions", may_ask, "--ask")
            .set_if("people.approvals", word(self.approve), "--approve")
            .set_if("people.question_timeout_s", self.question_timeout, "--question-timeout")
            .set_if("people.approval_timeout_s", self.approval_timeout, "--approval-timeout")
    }
}

impl WorkArgs {
    /// The settings that these flags stand for.
    pub(crate) fn overrides(&self) -> Overrides {
        let overrides = self.model.add_to(self.store.overrides());
        let overrides = self.ask.add_to(self.limits.add_to(overrides));
        self.desktop
            .setup
            .add_to(overrides, self.desktop.desktop)
            .set_if("evaluation.enabled", self.evaluate.then_some(true), "--evaluate")
            .set_if("view.pictures", self.no_pictures.then_some(false), "--no-pictures")
    }
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not NAME=VALUE")),
    }
}
