//! The workflows that agents of a session can run.

use std::{collections::BTreeMap, sync::Arc};

use deskhand_machine::workflow::{Heal, WorkflowOffer, WorkflowRun};
use deskhand_runtime::tools::{ReadWorkflow, Workflows};
use deskhand_ui::text::error_chain;

use super::{WorkflowFileError, WorkflowFolder};
use crate::config::{Config, session_store, workflows_dir};

/// The workflows of a configuration that agents can run; none if they are not offered. A file that is no workflow is left out.
pub(crate) fn workflows(config: &Config) -> Workflows {
    let shelf = WorkflowFolder::at(workflows_dir(config)).with_seals(session_store(config).seals().clone());
    let offers = if config.workflows.offer { shelf.offers(WorkflowOffer::OFFERS_MAX) } else { Vec::new() };
    let heal = config.workflows.heal.to_heal();
    let read: ReadWorkflow = Arc::new(move |name, given| read(&shelf, name, given, heal));
    Workflows { offers, read }
}

/// Reads a workflow for an agent. Without a name of a workflow it would be the path of a file.
fn read(
    shelf: &WorkflowFolder,
    name: &str,
    given: &BTreeMap<String, String>,
    heal: Heal,
) -> Result<WorkflowRun, String> {
    let found = shelf.named(name).map_err(|error| error_chain(&error))?;
    let provenance = found.file.provenance;
    if !provenance.is_users() {
        return Err(error_chain(&WorkflowFileError::NotTrusted { name: name.to_owned() }));
    }
    let values = found.workflow.offer().values(given).map_err(|problem| problem.to_string())?;
    Ok(WorkflowRun { workflow: found.workflow, values, heal, provenance })
}

#[cfg(test)]
mod tests {
    use deskhand_machine::workflow::{Parameter, Workflow, WorkflowStep};

    use super::*;

    fn workflow(name: &str) -> Workflow {
        let step = WorkflowStep { call: "save".to_owned(), ..WorkflowStep::default() };
        Workflow {
            format: 1,
            name: name.to_owned(),
            about: "Order.".to_owned(),
            request: "Order for {customer}".to_owned(),
            documents: Vec::new(),
            learnt: None,
            parameters: BTreeMap::from([("customer".to_owned(), Parameter::default())]),
            dialogs: Vec::new(),
            steps: vec![step],
        }
    }

    #[test]
    fn what_is_on_the_shelf_is_offered_and_read_when_it_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.workflows.dir = Some(folder.path().to_owned());
        config.sessions.seals_dir = Some(folder.path().join("seals"));
        assert_eq!(workflows(&config).offers, []);
        let seals = session_store(&config).seals().clone();
        let shelf = WorkflowFolder::at(folder.path()).with_seals(seals);
        shelf.add(&workflow("order"), /*replaces*/ false).unwrap();
        // The name of the file is the name that counts.
        std::fs::rename(shelf.path_of("order"), shelf.path_of("buy")).unwrap();
        std::fs::write(folder.path().join("broken.toml"), "format = 1\nnam = 2").unwrap();
        let offered = workflows(&config);
        assert_eq!(offered.offers, [WorkflowOffer { name: "buy".to_owned(), ..workflow("order").offer() }]);
        let given = BTreeMap::from([("customer".to_owned(), "Acme".to_owned())]);
        let run = (offered.read)("buy", &given).unwrap();
        assert_eq!((run.workflow.name.as_str(), &run.values, run.heal), ("buy", &given, Heal::Off));
        let missing = (offered.read)("buy", &BTreeMap::new()).unwrap_err();
        assert!(missing.contains("the parameter `customer` is missing"), "{missing}");
        let path = shelf.path_of("buy").to_string_lossy().into_owned();
        assert!((offered.read)(&path, &given).is_err(), "a path is no name");
        // Another one in its place is a stranger's, also between the offer and the call.
        let text = std::fs::read_to_string(shelf.path_of("buy")).unwrap();
        std::fs::write(shelf.path_of("buy"), format!("{text}#")).unwrap();
        assert!((offered.read)("buy", &given).unwrap_err().contains("workflow `buy` is not trusted"));
        assert_eq!(workflows(&config).offers, []);
        std::fs::remove_file(shelf.path_of("buy")).unwrap();
        assert!((offered.read)("buy", &given).unwrap_err().contains("there is no workflow `buy`"));
        config.workflows.offer = false;
        shelf.add(&workflow("order"), /*replaces*/ false).unwrap();
        assert_eq!(workflows(&config).offers, []);
    }

    #[test]
    fn the_latest_are_offered_if_there_are_many() {
        let folder = tempfile::tempdir().unwrap();
        let seals = deskhand_runtime::SealFolder::at(folder.path().join("seals"));
        let shelf = WorkflowFolder::at(folder.path()).with_seals(seals);
        for number in 0..5 {
            shelf.add(&workflow(&format!("w{number}")), /*replaces*/ false).unwrap();
            let file =
                std::fs::File::options().write(true).open(shelf.path_of(&format!("w{number}"))).unwrap();
            let age = std::time::Duration::from_secs(if number == 0 { 0 } else { 100 * number });
            file.set_modified(std::time::SystemTime::now().checked_sub(age).unwrap()).unwrap();
        }
        let names: Vec<String> = shelf.offers(3).into_iter().map(|offer| offer.name).collect();
        assert_eq!(names, ["w0", "w1", "w2"]);
    }
}
