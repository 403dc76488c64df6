//! Flags that stand for settings, and the configuration overrides that they become. The commands that work on requests
//! and `config explain` take the same ones.

use clap::{Args, ValueEnum, ValueHint};
use deskhand_host::config::{CassetteSetting, Overrides, ScreenSize};
use serde_json::Value;

/// Every flag that stands for a setting.
#[derive(Debug, Clone, Args)]
pub(crate) struct SettingArgs {
    // First, because the heading of a group also applies to the arguments after it.
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) pictures: PictureArgs,
    #[command(flatten)]
    pub(crate) desktop: DesktopArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) approval: ApprovalArgs,
}

/// Which model.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// Use this model: `PROVIDER:MODEL` (openai, openai_responses, azure, anthropic, gemini, ollama, deepseek, qwen, openrouter,
    /// mistral, groq, xai, vllm, llama_cpp), `script:FILE`, or a name from [models] in the configuration [default: the section
    /// [model]].
    #[arg(long, value_name = "SPEC")]
    pub(crate) model: Option<String>,
    /// Address of the endpoint [default: that of the provider].
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Environment variable that holds the API key.
    #[arg(long, value_name = "NAME", conflicts_with = "api_key_file")]
    pub(crate) api_key_env: Option<String>,
    /// File whose first line is the API key.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) api_key_file: Option<String>,
    /// Seconds that the endpoint may be silent before its reply or between parts of it [default: 1800].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    /// Record what is sent to the endpoint and what comes back, or play a recording instead of asking: `record:FILE` or `play:FILE`.
    #[arg(long, value_name = "WHAT")]
    pub(crate) cassette: Option<CassetteSetting>,
}

/// Options for the pictures sent to the model.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct PictureArgs {
    /// Send the model no pictures of windows.
    #[arg(long)]
    no_pictures: bool,
}

/// Which desktop requests are carried out on.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Desktop")]
pub(crate) struct DesktopArgs {
    /// Desktop to work on [default: virtual].
    #[arg(long, value_enum, value_name = "KIND")]
    desktop: Option<DesktopName>,
    #[command(flatten)]
    screen: ScreenArgs,
    /// Keep the virtual desktop when the run ends, for `desktop.keep_minutes` [default: auto, if a document has unsaved changes,
    /// or if something was done and the request is not finished].
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "always")]
    keep: Option<KeepWhen>,
}

/// Condition for retaining a virtual desktop when a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepWhen {
    /// Keep it if a document has unsaved changes, or if something was done and the request is not finished.
    Auto,
    /// Keep it.
    Always,
    /// End it; unsaved changes are lost.
    Never,
}

/// The screen of a virtual desktop.
#[derive(Debug, Clone, Args)]
pub(crate) struct ScreenArgs {
    /// Screen size of a virtual desktop [default: 1920x1080].
    #[arg(long, value_name = "WxH")]
    size: Option<ScreenSize>,
}

/// A kind of desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DesktopName {
    /// A private desktop that is started for this command and ended after it.
    Virtual,
    /// The desktop that `WAYLAND_DISPLAY` or else `DISPLAY` names.
    Current,
}

/// Location of stored sessions.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreArgs {
    /// Folder of the sessions [default: ~/.local/state/deskhand/sessions].
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    state_dir: Option<String>,
}

/// Limits for a request.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Stop after this many steps of all agents together [default: 50].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: Option<u32>,
    /// Stop after this many requests to the model [default: 100].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_model_calls: Option<u32>,
    /// Stop before the model reads and writes more tokens than this [default: no limit].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_tokens: Option<u64>,
    /// The most tokens that one reply of the model may have [default: 4000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_reply_tokens: Option<u32>,
    /// Stop before the model costs more than this, in US dollars [default: no limit].
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<f64>,
    /// Stop after this many minutes [default: no limit].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_minutes: Option<u64>,
}

/// Options for questions, approvals and verification.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Approval and checks")]
pub(crate) struct ApprovalArgs {
    /// Allow agents to ask you questions [default: auto].
    #[arg(long, value_enum, value_name = "WHEN")]
    ask: Option<AskWhen>,
    /// Reply to actions that need approval [default: ask].
    #[arg(long, value_enum, value_name = "HOW")]
    approve: Option<ApproveWhen>,
    /// Seconds to wait for the answer to a question; 0 waits without limit [default: 0].
    #[arg(long, value_name = "N")]
    question_timeout: Option<u64>,
    /// Seconds to wait for an approval; 0 waits without limit [default: 0].
    #[arg(long, value_name = "N")]
    approval_timeout: Option<u64>,
    #[command(flatten)]
    policy: PolicyFileArgs,
    /// Ask for approval only where a rule of the policy says so; what the policy denies stays denied.
    #[arg(long)]
    no_safe_guard: bool,
    /// Let the HostAgent check each sub-task that an AppAgent reports as done [default: auto].
    #[arg(long, value_enum, value_name = "WHEN")]
    verify: Option<VerifyWhen>,
    /// Evaluate the result before the request ends: by rules over the journal, then by the model.
    #[arg(long)]
    evaluate: bool,
}

/// Which policy.
#[derive(Debug, Clone, Args)]
pub(crate) struct PolicyFileArgs {
    /// Rules to use instead of those of the configuration: a TOML file with the keys of `[policy]`, `safe_guard` and `[[rules]]`.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    policy: Option<String>,
}

/// Condition under which agents may ask questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AskWhen {
    /// Ask if somebody can answer: on a terminal, or over --json.
    Auto,
    /// Never ask; agents decide for themselves.
    Never,
}

/// Reply to an action that needs approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApproveWhen {
    /// Ask you; reject the action if nobody can be asked.
    Ask,
    /// Approve every action without asking; what the policy denies stays denied.
    All,
    /// Reject every action without asking.
    None,
}

/// Condition under which the HostAgent checks a sub-task that an AppAgent reports as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerifyWhen {
    /// Always check; costs one more model call for each sub-task.
    Always,
    /// Check unless the effect of every action was seen, as the AppAgent expected it.
    Auto,
    /// Never check; trust the AppAgent.
    Never,
}

/// The word of a choice, which is the same on the command line and in the configuration.
fn word(choice: Option<impl ValueEnum>) -> Option<String> {
    Some(choice?.to_possible_value()?.get_name().to_owned())
}

impl SettingArgs {
    /// The settings that these flags stand for.
    pub(crate) fn overrides(&self) -> Overrides {
        let overrides = self.model.add_to(self.store.overrides());
        let overrides = self.approval.add_to(self.limits.add_to(overrides));
        let no_pictures = self.pictures.no_pictures.then_some(false);
        self.desktop
            .screen
            .add_to(overrides, self.desktop.desktop)
            .set_if("desktop.keep", word(self.desktop.keep), "the flag --keep")
            .set_if("view.pictures", no_pictures, "the flag --no-pictures")
    }
}

impl ScreenArgs {
    /// Adds the settings that this flag and the kind of desktop stand for.
    pub(super) fn add_to(&self, overrides: Overrides, desktop: Option<DesktopName>) -> Overrides {
        overrides.set_if("desktop.kind", word(desktop), "the flag --desktop").set_if(
            "desktop.size",
            self.size.map(String::from),
            "the flag --size",
        )
    }
}

impl StoreArgs {
    /// The folder of the sessions, if it is named.
    pub(crate) fn state_dir(&self) -> Option<&str> {
        self.state_dir.as_deref()
    }

    /// The settings that these flags stand for.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides::default().set_if("sessions.dir", self.state_dir.clone(), "the flag --state-dir")
    }
}

impl ModelArgs {
    /// The settings that these flags stand for.
    pub(crate) fn overrides(&self) -> Overrides {
        self.add_to(Overrides::default())
    }

    fn add_to(&self, overrides: Overrides) -> Overrides {
        let overrides = match &self.model {
            Some(spec) => overrides.model(spec, "the flag --model"),
            None => overrides,
        };
        let overrides = overrides
            .set_if("model.base_url", self.base_url.clone(), "the flag --base-url")
            .set_if("model.timeout_s", self.timeout, "the flag --timeout")
            .set_if("model.cassette", self.cassette.clone().map(String::from), "the flag --cassette");
        match &self.api_key_env {
            // A key file in the configuration would win.
            Some(name) => overrides.set("model.api_key_env", name.as_str(), "the flag --api-key-env").set(
                "model.api_key_file",
                Value::Null,
                "the flag --api-key-env",
            ),
            None => {
                overrides.set_if("model.api_key_file", self.api_key_file.clone(), "the flag --api-key-file")
            }
        }
    }
}

impl LimitArgs {
    fn add_to(&self, overrides: Overrides) -> Overrides {
        overrides
            .set_if("limits.steps_max", self.max_steps, "the flag --max-steps")
            .set_if("limits.model_calls_max", self.max_model_calls, "the flag --max-model-calls")
            .set_if("limits.tokens_max", self.max_tokens, "the flag --max-tokens")
            .set_if("limits.completion_tokens_max", self.max_reply_tokens, "the flag --max-reply-tokens")
            .set_if("limits.cost_max", self.max_cost, "the flag --max-cost")
            .set_if("limits.minutes_max", self.max_minutes, "the flag --max-minutes")
    }
}

impl PolicyFileArgs {
    /// Adds the setting that this flag stands for.
    pub(crate) fn add_to(&self, overrides: Overrides) -> Overrides {
        overrides.set_if("policy.file", self.policy.clone(), "the flag --policy")
    }
}

impl ApprovalArgs {
    fn add_to(&self, overrides: Overrides) -> Overrides {
        let may_ask = self.ask.map(|when| when == AskWhen::Auto);
        self.policy
            .add_to(overrides)
            .set_if("people.ask_questions", may_ask, "the flag --ask")
            .set_if("people.approvals", word(self.approve), "the flag --approve")
            .set_if("people.question_timeout_s", self.question_timeout, "the flag --question-timeout")
            .set_if("people.approval_timeout_s", self.approval_timeout, "the flag --approval-timeout")
            .set_if("policy.safe_guard", self.no_safe_guard.then_some(false), "the flag --no-safe-guard")
            .set_if("work.verify", word(self.verify), "the flag --verify")
            .set_if("evaluation.enabled", self.evaluate.then_some(true), "the flag --evaluate")
    }
}
