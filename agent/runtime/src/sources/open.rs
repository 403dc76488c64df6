//! The open sources of a session.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use deskhand_machine::{
    command::{CallResult, ToolCommand, ToolListingLevel, ToolSpec},
    policy::{PathRoots, Policy},
};
use deskhand_ui::{
    action::Verdict,
    text::{clip, escape_hidden, one_line},
};
use futures_util::future::join_all;

use super::{
    finding::{self, FIND_TOOL, LISTED_MAX},
    schema::{self, Checker, TOOL_TEXT_MAX},
    source::{AnyOpenSource, AnySource, OwnTool, SourceCall, ToolAudience, ToolSource},
};
use crate::{private, tools::follow};

/// The sources of a session, not opened. Cheap to clone; empty by default.
#[derive(Clone, Default)]
pub struct EnabledSources {
    sources: Vec<Arc<dyn AnySource>>,
}

impl EnabledSources {
    /// The same with another source.
    #[must_use]
    pub fn with(mut self, source: impl ToolSource) -> Self {
        self.sources.push(Arc::new(source));
        self
    }

    /// Each of them alone, with what it is.
    pub fn each(&self) -> impl Iterator<Item = (String, Self)> {
        let alone =
            |source: &Arc<dyn AnySource>| (source.describe(), Self { sources: vec![Arc::clone(source)] });
        self.sources.iter().map(alone)
    }

    /// Opens all of them side by side. One that cannot be opened is a problem, and the others are used. `taken` are the names of tools
    /// that agents have already; each source gets a folder of its own in `folder`.
    pub async fn open(&self, folder: &Path, taken: &[ToolSpec]) -> OpenSources {
        let opened = join_all(self.sources.iter().map(|source| open_one(source.as_ref(), folder))).await;
        let mut all = OpenSources::default();
        let mut names: BTreeSet<String> = taken.iter().map(|tool| tool.name.clone()).collect();
        names.insert(FIND_TOOL.to_owned());
        for (source, opened) in self.sources.iter().zip(opened) {
            match opened {
                Ok(open) => all.take(source.as_ref(), open, &mut names),
                Err(problem) => all
                    .problems
                    .push(format!("the tools of the {} are missing: failed to {problem}", source.describe())),
            }
        }
        all.limit_listings();
        all
    }
}

async fn open_one(source: &dyn AnySource, folder: &Path) -> Result<Box<dyn AnyOpenSource>, String> {
    let folder = folder.join(file_name(source.name()));
    private::create_folders(&folder)
        .map_err(|error| format!("create its folder {}: {error}", folder.display()))?;
    source.open(folder).await
}

/// A name as that of a folder.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// A tool that agents have.
struct OfferedTool {
    /// As agents know it.
    spec: ToolSpec,
    own_name: String,
    audience: Vec<ToolAudience>,
    checker: Checker,
    source: usize,
}

/// The open sources of a session.
#[derive(Default)]
pub struct OpenSources {
    sources: Vec<Box<dyn AnyOpenSource>>,
    tools: Vec<OfferedTool>,
    problems: Vec<String>,
    /// The specification of the tool that searches for tools, for HostAgent and AppAgents, if they have it.
    finders: [Option<ToolSpec>; 2],
}

impl OpenSources {
    /// Returns what is missing, as sentences for the user.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    fn take(&mut self, source: &dyn AnySource, open: Box<dyn AnyOpenSource>, names: &mut BTreeSet<String>) {
        let described = source.describe();
        self.problems.extend(open.problems().into_iter().map(|problem| format!("{described}: {problem}")));
        let index = self.sources.len();
        for OwnTool { spec, audience } in open.tools() {
            let checker = match Checker::new(&spec.parameters) {
                Ok(checker) => checker,
                Err(problem) => {
                    let tool = &spec.name;
                    self.problems.push(format!(
                        "{described}: its tool `{tool}` is left out, because its schema is not valid: {problem}"
                    ));
                    continue;
                }
            };
            let own_name = spec.name.clone();
            let Some(name) = free_name(&own_name, source.name(), names) else {
                self.problems.push(format!("{described}: its tool `{own_name}` is listed twice"));
                continue;
            };
            names.insert(name.clone());
            let spec = ToolSpec {
                name,
                description: clip(&escape_hidden(&one_line(&spec.description)), TOOL_TEXT_MAX),
                parameters: schema::shown(&spec.parameters),
                acts: spec.does.acts(),
                source: Some(described.clone()),
                ..spec
            };
            self.tools.push(OfferedTool { spec, own_name, audience, checker, source: index });
        }
        self.sources.push(open);
    }

    /// Leaves listing to the tool that looks for tools, where there are too many.
    fn limit_listings(&mut self) {
        let sources = |tools: &[&OfferedTool]| {
            let names: BTreeSet<&str> = tools.iter().filter_map(|tool| tool.spec.source.as_deref()).collect();
            names.into_iter().collect::<Vec<_>>().join(", ")
        };
        for (index, host) in [(0, true), (1, false)] {
            let tools: Vec<&OfferedTool> = self.tools.iter().filter(|tool| tool.is_for(host)).collect();
            let finder = (tools.len() > LISTED_MAX).then(|| finding::spec(tools.len(), &sources(&tools)));
            if let Some(place) = self.finders.get_mut(index) {
                *place = finder;
            }
        }
    }

    fn finder(&self, host: bool) -> Option<&ToolSpec> {
        let [of_host, of_apps] = &self.finders;
        if host { of_host.as_ref() } else { of_apps.as_ref() }
    }

    fn specs(&self, host: bool) -> Vec<ToolSpec> {
        let finder = self.finder(host);
        let listing = if finder.is_some() { ToolListingLevel::Nothing } else { ToolListingLevel::Whole };
        let tools = self.tools.iter().filter(|tool| tool.is_for(host));
        let spec = |tool: &OfferedTool| ToolSpec {
            listing,
            only_in: if host { Vec::new() } else { tool.applications() },
            ..tool.spec.clone()
        };
        tools.map(spec).chain(finder.cloned()).collect()
    }

    /// The tools of the HostAgent.
    pub fn host_specs(&self) -> Vec<ToolSpec> {
        self.specs(/*host*/ true)
    }

    /// The tools of AppAgents.
    pub fn app_specs(&self) -> Vec<ToolSpec> {
        self.specs(/*host*/ false)
    }

    fn find(&self, command: &ToolCommand) -> Option<&OfferedTool> {
        let host = command.window.is_none();
        self.tools.iter().find(|tool| tool.is_for(host) && tool.spec.name == command.tool)
    }

    /// Returns `true` if a command is for one of these tools.
    pub(crate) fn has(&self, command: &ToolCommand) -> bool {
        let finds = command.tool == FIND_TOOL && self.finder(command.window.is_none()).is_some();
        command.agent.is_none() && (finds || self.find(command).is_some())
    }

    /// Returns `true` if a command only reads, as far as the user says.
    pub(crate) fn only_reads(&self, command: &ToolCommand) -> bool {
        self.find(command).is_none_or(|tool| !tool.spec.acts)
    }

    /// Runs a command that the gate has cleared. Failures are in the result.
    pub async fn call(&self, command: &ToolCommand, policy: &Policy, places: &PathRoots) -> CallResult {
        let host = command.window.is_none();
        if command.tool == FIND_TOOL && self.finder(host).is_some() {
            let tools: Vec<&ToolSpec> =
                self.tools.iter().filter(|tool| tool.is_for(host)).map(|tool| &tool.spec).collect();
            return finding::find(command, &tools);
        }
        let found = self.find(command);
        let Some((tool, source)) = found.and_then(|tool| Some((tool, self.sources.get(tool.source)?))) else {
            return CallResult::failure(None, format!("unknown tool `{}`", command.tool));
        };
        let acts = tool.spec.acts;
        let refused = |why: String| CallResult::failure(acts.then_some(Verdict::Refused), why);
        if let Err(why) = tool.checker.check(&command.arguments) {
            return refused(format!("invalid arguments: {why}; nothing was done"));
        }
        if let Err(why) = follow(command, policy, places).await {
            return refused(why);
        }
        source.call(SourceCall { tool: &tool.own_name, arguments: &command.arguments, acts }).await
    }

    /// Closes all of them, side by side.
    pub async fn close(&self) {
        join_all(self.sources.iter().map(|source| source.close())).await;
    }
}

impl OfferedTool {
    fn is_for(&self, host: bool) -> bool {
        self.audience.iter().any(|audience| matches!(audience, ToolAudience::Host) == host)
    }

    /// The applications whose AppAgents have it; empty for all.
    fn applications(&self) -> Vec<String> {
        let mut all = Vec::new();
        for audience in &self.audience {
            match audience {
                ToolAudience::Apps(patterns) if patterns.is_empty() => return Vec::new(),
                ToolAudience::Apps(patterns) => all.extend(patterns.iter().cloned()),
                ToolAudience::Host => {}
            }
        }
        all
    }
}

/// The name that agents know a tool by: its own, else that of its source and its own. `None` if both are taken.
fn free_name(own: &str, source: &str, names: &BTreeSet<String>) -> Option<String> {
    let plain = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
    };
    [plain(own), format!("{}_{}", plain(source), plain(own))].into_iter().find(|name| !names.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_name_gets_that_of_the_source() {
        let names: BTreeSet<String> = ["save", "notes_save"].map(str::to_owned).into();
        assert_eq!(free_name("load.all", "notes", &names).as_deref(), Some("load_all"));
        assert_eq!(free_name("save", "other", &names).as_deref(), Some("other_save"));
        assert_eq!(free_name("save", "notes", &names), None);
    }
}
