//! Pages that a search engine named: read under the policy, and made to text in a confined process.

use deskhand_files::{FileJob, FileJobResult};
use deskhand_knowledge::{
    DocumentTextReader,
    online::{OnlineLimits, PageHostAccess, Pages},
};
use deskhand_machine::{
    intent::Does,
    policy::{Policy, PolicyDecision, Subject},
};
use deskhand_runtime::tools::FileSettings;
use deskhand_ui::pattern::matches;
use tokio::runtime::Handle;

/// The most characters of the text of a page: the answer of the confined process is bounded.
const CHARACTERS_MAX: usize = 200_000;

/// Which pages may be read.
#[derive(Debug, Clone)]
pub(super) struct Hosts {
    policy: Policy,
    private: Vec<String>,
}

impl Hosts {
    /// Those that the rules of a policy allow to open. Nobody is asked, so one that needs an approval is not read.
    pub(super) fn of(policy: Policy, private: Vec<String>) -> Self {
        // The safe guard is about what cannot be undone; here nothing is done.
        Self { policy: Policy { safe_guard: false, ..policy }, private }
    }

    /// Returns the access that is allowed to a host.
    pub(super) fn allows(&self, host: &str) -> PageHostAccess {
        let subject = Subject {
            tool: "open_url".to_owned(),
            does: Does::Open,
            hosts: vec![host.to_owned()],
            labels: vec![host.to_owned()],
            ..Subject::default()
        };
        match self.policy.decide(&subject).decision {
            PolicyDecision::Allow if self.private.iter().any(|pattern| matches(pattern, host)) => {
                PageHostAccess::AlsoPrivate
            }
            PolicyDecision::Allow => PageHostAccess::Public,
            PolicyDecision::Ask | PolicyDecision::Deny => PageHostAccess::No,
        }
    }
}

/// Reads pages: in a confined process where there is a program for that.
pub(super) fn pages(files: Option<FileSettings>) -> Pages {
    let texts = files.map_or_else(DocumentTextReader::in_process, confined);
    Pages::new(OnlineLimits::default(), texts)
}

fn confined(files: FileSettings) -> DocumentTextReader {
    DocumentTextReader::by(move |job| {
        let FileJob::Read { path, mut options } = job else { return job.run() };
        options.characters_max = options.characters_max.min(CHARACTERS_MAX);
        let job = serde_json::to_value(FileJob::Read { path: path.clone(), options }).unwrap_or_default();
        // A reader is called on a thread that may block.
        match Handle::current().block_on(files.read(&job, path)) {
            Ok(output) => FileJobResult::Ok { said: String::new(), output },
            Err(problem) => FileJobResult::Failed { problem },
        }
    })
}

#[cfg(test)]
mod tests {
    use deskhand_machine::policy::PolicyRule;

    use super::*;

    #[test]
    fn hosts_are_those_of_the_policy() {
        let deny =
            |host: &str| PolicyRule { host: host.to_owned(), ..PolicyRule::new(PolicyDecision::Deny, "no") };
        let policy = Policy { rules: vec![deny("*.bad.example|bad.example")], ..Policy::default() };
        let hosts = Hosts::of(policy, vec!["wiki.home".to_owned()]);
        assert_eq!(hosts.allows("docs.example"), PageHostAccess::Public);
        assert_eq!(hosts.allows("a.bad.example"), PageHostAccess::No);
        assert_eq!(hosts.allows("wiki.home"), PageHostAccess::AlsoPrivate);
    }
}
