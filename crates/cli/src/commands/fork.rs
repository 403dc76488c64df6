//! `deskhand fork`: another session with the same past, which then goes its own way.

use std::{fs, path::Path};

use deskhand_core::{policy::Policy, prompt::PromptSet};
use deskhand_host::config::Loaded;
use deskhand_runtime::{ForkError, HeldSession, people::Request};
use serde_json::Value;

use super::{
    configuration::load,
    session::SessionPlan,
    store::{find, store_of},
};
use crate::{
    args::ForkArgs,
    exit::{CliError, CommandResult},
    output::{Output, Stream},
};

pub(crate) async fn fork(args: &ForkArgs) -> CommandResult {
    let loaded = load(args.work.overrides())?;
    let store = store_of(&loaded.config);
    let source = find(&store, &args.session)?;
    // All that can be wrong is found before anything is made.
    let policy = args.policy.as_deref().map(read_policy).transpose()?;
    let prompts = args.prompts.as_deref().map(Prompts::read).transpose()?;
    let held = deskhand_runtime::fork(&store, &source, args.at).map_err(|error| fork_error(&error, args))?;
    let planned = plan(args, &loaded, &held, policy, prompts.as_ref());
    let plan = match planned {
        Ok(plan) => plan,
        Err(error) => {
            let folder = held.folder().path().to_owned();
            drop(held);
            fs::remove_dir_all(folder).ok();
            return Err(error);
        }
    };
    Output::to(Stream::Error).text(format!("forked into session {}", held.id()));
    plan.carry_on(held, /*same_script*/ args.work.model.model.is_none()).await
}

fn plan(
    args: &ForkArgs,
    loaded: &Loaded,
    held: &HeldSession,
    policy: Option<Policy>,
    prompts: Option<&Prompts>,
) -> Result<SessionPlan, CliError> {
    let mut plan = SessionPlan::going_on(&args.work, loaded, held)?;
    plan.screenshot.clone_from(&args.screenshot);
    let request = args.request.as_deref().map(str::trim).filter(|request| !request.is_empty());
    plan.requests = request.map(Request::from).into_iter().collect();
    if !held.in_round() && plan.requests.is_empty() {
        return Err(CliError::new(format!(
            "nothing is going on after record {} of session {}",
            args.at, args.session
        ))
        .with_help(format!(
            "give the fork a request: deskhand fork {} --at {} \"…\"",
            args.session, args.at
        )));
    }
    if let Some(policy) = policy {
        plan.config.policy = policy;
    }
    if let Some(prompts) = prompts {
        plan.prompts = prompts.put_into(&plan.prompts)?;
    }
    // A model that is named but not there is found out before the desktop starts, too.
    plan.model.clone().open()?;
    Ok(plan)
}

fn fork_error(error: &ForkError, args: &ForkArgs) -> CliError {
    let shown = CliError::from_error(error);
    match error {
        ForkError::NoRecord { session, last, .. } => {
            shown.with_help(format!("name one of them: `deskhand fork {session} --at {last}`"))
        }
        ForkError::Between { record, .. } => shown.with_help(format!(
            "fork before it, `--at {}`, or after what came of it, `--at {}`",
            record.saturating_sub(1),
            record + 1
        )),
        ForkError::Changed { session, .. } => {
            shown.with_help(format!("`deskhand verify {session}` names all that was changed"))
        }
        ForkError::Journal(_) | ForkError::Hold(_) => shown.with_help(format!(
            "check that the folder of the sessions can be written to, and `deskhand verify {}`",
            args.session
        )),
    }
}

fn read_policy(file: &Path) -> Result<Policy, CliError> {
    let name = file.display();
    let text = fs::read_to_string(file)
        .map_err(|error| CliError::failed_to(format!("read the policy {name}"), error))?;
    toml::from_str(&text).map_err(|error| {
        CliError::failed_to(format!("read the policy {name}"), error).with_help(
            "a rule is a section [[rules]] with `tool`, `application`, `role`, `label`, and `decision` (allow, ask or \
             deny)",
        )
    })
}

/// Prompts from a folder, by name.
struct Prompts(Vec<(String, String)>);

impl Prompts {
    fn read(folder: &Path) -> Result<Self, CliError> {
        let name = folder.display();
        let failed = |error| CliError::failed_to(format!("read the prompts of {name}"), error);
        let mut prompts = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            if file.extension().is_some_and(|extension| extension == "md")
                && let Some(stem) = file.file_stem()
            {
                prompts
                    .push((stem.to_string_lossy().into_owned(), fs::read_to_string(&file).map_err(failed)?));
            }
        }
        if prompts.is_empty() {
            return Err(CliError::new(format!("there is no prompt in {name}"))
                .with_help("a prompt is a file such as `host_system.md`"));
        }
        Ok(Self(prompts))
    }

    /// The prompts with these in the place of those of the same names.
    fn put_into(&self, prompts: &PromptSet) -> Result<PromptSet, CliError> {
        let unreadable = |error| CliError::failed_to("put the prompts together", error);
        let mut value = serde_json::to_value(prompts).map_err(unreadable)?;
        let Some(fields) = value.as_object_mut() else {
            return Err(CliError::new("the prompts of this session have no names"));
        };
        for (name, text) in &self.0 {
            if !fields.contains_key(name) {
                let known: Vec<String> = fields.keys().cloned().collect();
                return Err(CliError::new(format!("there is no prompt `{name}`"))
                    .with_help(format!("the prompts are {}", known.join(", "))));
            }
            fields.insert(name.clone(), Value::from(text.as_str()));
        }
        serde_json::from_value(value).map_err(unreadable)
    }
}
