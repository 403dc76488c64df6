//! Schedules of a host: who keeps them.

use super::{Keeper, Schedule, ScheduledWork, Schedules, Timers};
use crate::{Host, HostError, config, workflows::WorkflowFileError};

impl Host {
    /// The schedules, beside the folder of the sessions.
    pub fn schedules(&self) -> Schedules {
        Schedules::at(config::beside(&self.sessions(), config::SCHEDULES)).with_seals(self.seals())
    }

    /// Adds a schedule. Where a systemd user manager answers, a timer of it keeps the schedule, else `deskhand serve` does. Blocking.
    ///
    /// # Errors
    /// The name is none or taken, there is no such workflow or a value of it is missing, or the schedule cannot be written.
    pub fn add_schedule(&self, name: &str, schedule: Schedule) -> Result<Schedule, HostError> {
        let schedules = self.schedules();
        schedules.check_new(name)?;
        if let ScheduledWork::Workflow { name, parameters } = &schedule.work {
            let found = self.workflows().named(name)?;
            if !found.file.provenance.is_users() {
                return Err(WorkflowFileError::NotTrusted { name: name.clone() }.into());
            }
            let workflow = found.workflow;
            let unfit = |problem| WorkflowFileError::Unfit { name: name.clone(), problem };
            workflow.values(parameters).map_err(unfit)?;
        }
        let timers = self.timers();
        let keeper = if timers.is_some() { Keeper::Systemd } else { Keeper::Service };
        let schedule = Schedule { keeper, ..schedule };
        schedules.add(name, &schedule)?;
        if let Some(Err(error)) = timers.map(|timers| timers.add(name, &schedule)) {
            schedules.remove(name)?;
            return Err(error.into());
        }
        Ok(schedule)
    }

    /// Removes a schedule. What runs goes on. Blocking.
    ///
    /// # Errors
    /// There is no such schedule, or its files cannot be removed.
    pub fn remove_schedule(&self, name: &str) -> Result<(), HostError> {
        let schedules = self.schedules();
        // One that cannot be read may have a timer.
        let has_timer = schedules.find(name).map_or(true, |schedule| schedule.keeper == Keeper::Systemd);
        schedules.remove(name)?;
        match self.timers().filter(|_| has_timer) {
            Some(timers) => Ok(timers.remove(name)?),
            None => Ok(()),
        }
    }

    fn timers(&self) -> Option<Timers> {
        Timers::of_user(self.helper()?, self.sessions().root())
    }
}
