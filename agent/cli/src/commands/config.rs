//! `deskhand config`: explain, path, init, schema.

use std::{fs, io::Write as _};

use deskhand_host::{
    ProviderCandidate,
    config::{self, Explanation},
    found_providers,
};
use deskhand_runtime::private;
use deskhand_ui::text::collapse_whitespace;

use super::host::load;
use crate::{
    args::{ConfigArgs, ConfigCommand, ExplainArgs},
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

pub(crate) fn config(args: &ConfigArgs) -> CommandResult {
    let out = Output::to(OutputStream::Out);
    match &args.command {
        ConfigCommand::Path => out.text(config::config_path().display()),
        ConfigCommand::Schema => out.text(config::schema_text().trim_end()),
        ConfigCommand::Init => init(&out)?,
        ConfigCommand::Explain(args) => explain(&out, args)?,
    }
    Ok(Exit::Success)
}

fn explain(out: &Output, args: &ExplainArgs) -> Result<(), CliError> {
    let host = load(args.settings.overrides())?;
    if let Some(key) = args.key.as_ref().filter(|key| !config::is_section_key(key)) {
        let explanation = config::explain(host.loaded(), key)?;
        if args.json {
            out.pretty_json(&explanation);
        } else {
            explained(out, &explanation);
        }
        return Ok(());
    }
    let keys = match &args.key {
        Some(section) => config::keys_below(section)?,
        None => config::all_keys(),
    };
    for key in keys {
        let explanation = config::explain(host.loaded(), &key)?;
        if args.json {
            out.json(&explanation);
        } else {
            let line = StyledLine::of(OutputTone::Strong, format!("{key:<32} "));
            out.line(
                &line.with(OutputTone::Plain, shown(&explanation.value)).with(
                    OutputTone::Faint,
                    format!("  {} ({})", explanation.meaning, explanation.comes_from),
                ),
            );
        }
    }
    Ok(())
}

fn explained(out: &Output, explanation: &Explanation) {
    let row = |word: &str, text: &str| {
        out.line(&StyledLine::of(OutputTone::Faint, format!("  {word:<12} ")).with(OutputTone::Plain, text));
    };
    out.line(
        &StyledLine::of(OutputTone::Strong, explanation.key.as_str())
            .with(OutputTone::Plain, format!(" = {}", shown(&explanation.value))),
    );
    row("meaning", &explanation.meaning);
    row("comes from", &explanation.comes_from);
    row("default", &shown(&explanation.default));
    row("must be", &explanation.expects);
    for (word, meaning) in explanation.allowed.iter().filter(|(_, meaning)| !meaning.is_empty()) {
        row("", &format!("\"{word}\": {}", collapse_whitespace(meaning)));
    }
    let none = "none: a variable cannot have this name; set it in the file";
    row("environment", explanation.environment.as_deref().unwrap_or(none));
}

fn shown(value: &serde_json::Value) -> String {
    if value.is_null() { "(not set)".to_owned() } else { value.to_string() }
}

/// The file to start from, with the provider that is found here.
fn starter() -> String {
    let text = config::starter_text();
    match found_providers().first() {
        Some(ProviderCandidate { provider, why }) => {
            let name = provider.name();
            let line =
                format!("# {why}; `deskhand model list {name}` lists its models.\nprovider = \"{name}\"");
            text.replacen("#provider = \"openai\"  # example", &line, 1).replacen(
                "\"gpt-5-mini\"",
                "\"MODEL\"",
                1,
            )
        }
        None => text.to_owned(),
    }
}

fn init(out: &Output) -> Result<(), CliError> {
    let path = config::config_path();
    let create = || {
        if let Some(folder) = path.parent() {
            private::create_folders(folder)?;
        }
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
        file.write_all(starter().as_bytes())
    };
    match create() {
        Ok(()) => {
            out.text(format!("wrote {}", path.display()));
            out.text("fill in the section [model], then run `deskhand doctor`");
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(CliError::new(format!("{} already exists; it was not changed", path.display()))
                .with_help("`deskhand config explain` shows the current values"))
        }
        Err(error) => Err(CliError::failed_to(format!("write {}", path.display()), error)
            .with_help("set DESKHAND_CONFIG to a writable path")),
    }
}
