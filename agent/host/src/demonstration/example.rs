//! A demonstration as an experience for later agents.

use deskhand_knowledge::experience::{Experience, ExperienceKind, ExperienceOutcome, Uses};
use deskhand_machine::{agent::AgentRef, command::ToolCommand};
use deskhand_runtime::demonstration::{DemonstratedActs, ShownAct};

use crate::knowledge::what_was_done;

/// Builds the experience of a demonstration. Of the typed text, only words of the person's request are stored.
pub(super) fn experience(id: &str, request: &str, shown: &DemonstratedActs, workflow: &str) -> Experience {
    let mut applications: Vec<String> = Vec::new();
    for surface in shown.acts.iter().filter_map(|act| act.view.surfaces.first()) {
        let root = &surface.window.app.root;
        if !applications.contains(root) {
            applications.push(root.clone());
        }
    }
    Experience {
        version: 0,
        id: id.to_owned(),
        session: id.to_owned(),
        at_ms: deskhand_runtime::now_ms(),
        request: request.to_owned(),
        applications,
        agent: AgentRef::HostAgent.to_string(),
        plan: Vec::new(),
        steps: shown.acts.iter().map(|act| in_words(act, request)).collect(),
        worked: Vec::new(),
        failed: Vec::new(),
        outcome: ExperienceOutcome::Worked,
        kind: ExperienceKind::Demonstration,
        workflow: Some(workflow.to_owned()),
        uses: Uses::default(),
    }
}

fn in_words(act: &ShownAct, request: &str) -> String {
    let target = act.target().map(|element| (element.role.to_string(), element.name.clone()));
    let target = target.as_ref().map(|(role, name)| (role.as_str(), name.as_str()));
    let command: &ToolCommand = &act.command;
    what_was_done(command, target, request)
}
