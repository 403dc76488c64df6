//! Prompts of one's own: from the files that the configuration names, or from a folder.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use deskhand_machine::prompt::{PromptSet, RolePrompts};

use crate::{
    config::{Config, RoleSetting, expanded},
    session::SessionError,
};

/// The text of a template, checked.
fn read(name: &str, file: &Path) -> Result<String, SessionError> {
    let path = expanded(file);
    let text =
        fs::read_to_string(&path).map_err(|source| SessionError::Prompts { path: path.clone(), source })?;
    PromptSet::check(name, &text).map_err(|error| SessionError::Prompt { path, error })?;
    Ok(text)
}

/// The prompts of a configuration.
///
/// # Errors
/// A file cannot be read, or its template is not valid.
pub(crate) fn prompts(config: &Config) -> Result<PromptSet, SessionError> {
    let (roles, mut prompts) = (&config.roles, PromptSet::default());
    let usual = [("host", &roles.host), ("app", &roles.app), ("evaluation", &roles.evaluation)];
    let files = usual.into_iter().flat_map(|(role, setting)| {
        [
            (format!("{role}_system"), &setting.system_prompt),
            (format!("{role}_user"), &setting.user_prompt),
            (format!("{role}_examples"), &setting.examples),
        ]
    });
    for (name, file) in files.chain([("repair".to_owned(), &roles.repair.prompt)]) {
        if let (Some(file), Some(template)) = (file, prompts.template_mut(&name)) {
            *template = read(&name, file)?;
        }
    }
    prompts.applications = by_name(&roles.applications, "app", str::to_lowercase)?;
    Ok(prompts)
}

/// The prompts of a configuration for agents without a window, by name.
///
/// # Errors
/// A file cannot be read, or its template is not valid.
pub(crate) fn agent_prompts(config: &Config) -> Result<BTreeMap<String, RolePrompts>, SessionError> {
    by_name(&config.roles.agents, "agent", str::to_owned)
}

fn by_name(
    roles: &BTreeMap<String, RoleSetting>,
    kind: &str,
    key: impl Fn(&str) -> String,
) -> Result<BTreeMap<String, RolePrompts>, SessionError> {
    let mut all = BTreeMap::new();
    for (name, role) in roles {
        let of = |part: &str, file: &Option<PathBuf>| {
            file.as_deref().map(|file| read(&format!("{kind}_{part}"), file)).transpose()
        };
        let own = RolePrompts {
            system: of("system", &role.system_prompt)?,
            user: of("user", &role.user_prompt)?,
            examples: of("examples", &role.examples)?,
        };
        if own != RolePrompts::default() {
            all.insert(key(name), own);
        }
    }
    Ok(all)
}

/// Replaces prompts by the files of a folder, such as `host_system.md`.
///
/// # Errors
/// The folder has no prompts, a file cannot be read, or its name or template is not valid.
pub(crate) fn from_folder(folder: &Path, prompts: &PromptSet) -> Result<PromptSet, SessionError> {
    let failed = |source| SessionError::Prompts { path: folder.to_owned(), source };
    let (mut prompts, mut is_empty) = (prompts.clone(), true);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let Some(stem) = file.file_stem().filter(|_| file.extension().is_some_and(|end| end == "md")) else {
            continue;
        };
        let name = stem.to_string_lossy();
        let known = || PromptSet::names().map(str::to_owned).collect();
        let template = prompts.template_mut(&name);
        let template =
            template.ok_or_else(|| SessionError::UnknownPrompt { name: name.to_string(), known: known() })?;
        *template = read(&name, &file)?;
        is_empty = false;
    }
    if is_empty { Err(SessionError::NoPrompts { path: folder.to_owned() }) } else { Ok(prompts) }
}
