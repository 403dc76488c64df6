//! Which workers would take a task.

use std::collections::BTreeSet;

use deskhand_fleet::{
    nats::NatsStore,
    store::StoreError,
    task::{MachineCapabilities, TaskRequirements, TaskSpec},
};

use super::outside::{short, tame};
use crate::fleet::{admission::TaskRefusal, presence::WorkerAnnouncement};

/// The most workers whose reasons are listed, and the longest reason, in characters.
const REASONS_MAX: usize = 3;
const REASON_CHARS_MAX: usize = 200;
/// The workers that are there.
#[derive(Debug, Default)]
pub(super) struct WorkerCandidates {
    /// Those that would take it.
    pub(super) takes: Vec<String>,
    /// The others, each with its reason.
    refuse: Vec<(String, String)>,
    /// `true` if a worker lacks what the task needs. Otherwise the configurations of the workers refuse the task.
    lacks: bool,
}

impl WorkerCandidates {
    /// Asks what the workers said of themselves.
    pub(super) async fn of(store: &NatsStore, spec: &TaskSpec) -> Result<Self, StoreError> {
        let mut fit = Self::default();
        for (worker, said) in store.present().await? {
            let name = short(&worker.0).to_owned();
            let Ok(present) = serde_json::from_slice::<WorkerAnnouncement>(&said) else { continue };
            let lacks = lacks(&spec.needs, &present.rules.offer);
            match present.rules.judge(spec, spec) {
                Ok(()) => fit.takes.push(name),
                Err(_) if !lacks.is_empty() => {
                    fit.lacks = true;
                    fit.refuse.push((name, format!("it has no {}", lacks.join(", no "))));
                }
                // It may quote what the worker said.
                Err(TaskRefusal::Here(reason) | TaskRefusal::Everywhere(reason)) => {
                    fit.refuse.push((name, tame(&reason, REASON_CHARS_MAX)));
                }
            }
        }
        Ok(fit)
    }

    /// Who takes it, in words; or why nobody does, and what to do.
    pub(super) fn words(&self, needs: &TaskRequirements) -> Result<String, String> {
        if let [one] = self.takes.as_slice() {
            return Ok(format!("1 worker takes its sub-tasks: {one}"));
        }
        if !self.takes.is_empty() {
            return Ok(format!("{} workers take its sub-tasks: {}", self.takes.len(), self.takes.join(", ")));
        }
        let labels: Vec<&str> = needs.labels.iter().map(String::as_str).collect();
        let labels =
            if labels.is_empty() { String::new() } else { format!(" --labels {}", labels.join(",")) };
        let start = format!("start one there with `deskhand worker{labels}`");
        if self.refuse.is_empty() {
            return Err(format!("no worker of the fleet is there; {start}"));
        }
        let reasons = self.refuse.iter().take(REASONS_MAX);
        let reasons: Vec<String> = reasons.map(|(worker, reason)| format!("{worker}: {reason}")).collect();
        let all = self.refuse.len();
        let more = all.saturating_sub(reasons.len());
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        let none = if all == 1 {
            "the worker that is there does not take it".to_owned()
        } else {
            format!("none of the {all} workers that are there takes it")
        };
        let takes = "`[fleet]` in the configuration of a worker says what it takes".to_owned();
        let help = if self.lacks { start } else { takes };
        Err(format!("{none} ({}{more}); {help}", reasons.join("; ")))
    }
}

/// Lists the needs that the offer lacks.
fn lacks(needs: &TaskRequirements, offer: &MachineCapabilities) -> Vec<String> {
    let lacks = |kind: &str, needs: &BTreeSet<String>, has: &BTreeSet<String>| -> Vec<String> {
        needs.difference(has).map(|one| format!("{kind} `{one}`")).collect()
    };
    let mut all = lacks("label", &needs.labels, &offer.labels);
    all.extend(lacks("application", &needs.applications, &offer.applications));
    all.extend(lacks("agent", &needs.agents, &offer.agents));
    all
}
