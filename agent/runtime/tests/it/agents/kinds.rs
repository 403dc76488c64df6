//! The registry of kinds.

use deskhand_machine::agent::{AgentHome, AgentReport};
use deskhand_runtime::agents::{
    AgentError, AgentKind, AgentRegistry, AgentSetup, Assignment, DelegateAgent, DelegateProgress, OpenAgent,
    shell::ShellKind,
};

/// A kind with any name, whose agents cannot be opened.
struct Named(&'static str);

struct Nobody;

impl DelegateAgent for Nobody {
    async fn work(&self, _: Assignment, _: DelegateProgress) -> AgentReport {
        unreachable!("never opened")
    }

    async fn close(&self) {}
}

impl AgentKind for Named {
    fn name(&self) -> &str {
        self.0
    }

    fn introduction(&self) -> String {
        "Does nothing.".to_owned()
    }

    fn home(&self) -> AgentHome {
        ShellKind::default().home()
    }

    async fn open(&self, _: AgentSetup) -> Result<OpenAgent, AgentError> {
        Ok(OpenAgent::delegate(Nobody))
    }
}

#[tokio::test]
async fn kinds_are_registered_and_found_by_valid_unique_names() {
    let mut registry = AgentRegistry::default();
    registry.register(ShellKind::default()).unwrap();
    registry.register(Named("oven")).unwrap();
    let refused =
        |registry: &mut AgentRegistry, name| registry.register(Named(name)).unwrap_err().to_string();
    assert!(refused(&mut registry, "oven").contains("the name is taken"));
    assert!(refused(&mut registry, "host").contains("the name is taken"));
    assert!(refused(&mut registry, "My Oven").contains("lower-case letters"));
    assert!(refused(&mut registry, "1oven").contains("starting with a letter"));
    let names: Vec<String> = registry.kinds().into_iter().map(|kind| kind.name).collect();
    assert_eq!(names, ["oven", "shell"]);

    let enable = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        registry.enable(&names)
    };
    assert_eq!(enable(&["shell", "oven"]).unwrap().names(), ["shell", "oven"]);
    let unknown = |names: &[&str]| enable(names).err().unwrap().to_string();
    assert_eq!(
        unknown(&["shel"]),
        "find agent `shel` (did you mean `shell`?); registered agents: oven, shell"
    );
    assert_eq!(unknown(&["printer"]), "find agent `printer`; registered agents: oven, shell");
    assert!(unknown(&["oven", "oven"]).contains("given twice"));

    let folder = tempfile::tempdir().unwrap();
    let error = match enable(&["oven"]).unwrap().open(folder.path()).await {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    };
    assert_eq!(error, "open agent `oven`: the agent and its kind declare different homes");
}
