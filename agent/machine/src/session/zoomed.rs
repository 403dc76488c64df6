//! The pictures that an agent asked for by `zoom`: its next question shows them.

use super::{app_view::operates, ledgers::Ledgers};
use crate::{
    agent::SubtaskWorker,
    command::ActionCommandInfo,
    prompt::{ZoomedPicture, ZoomedPictures},
};

/// The most of them in one question.
const ZOOMED_MAX: usize = 4;

/// The pictures that the calls of an agent returned since its last question, the newest ones.
pub(super) fn zoomed_of(ledgers: &Ledgers, worker: SubtaskWorker) -> ZoomedPictures {
    let is_shown =
        ledgers.config.pictures && matches!(worker, SubtaskWorker::Window(_)) && !operates(ledgers, worker);
    let Some(app) = ledgers.agents.app(worker).filter(|_| is_shown) else { return ZoomedPictures::default() };
    let since = app.first_step().max(app.desk().pictures_to());
    let zoomed = |step: u32, info: &ActionCommandInfo| {
        let picture = info.result.picture.clone()?;
        let place = info.result.output.to_string();
        Some(ZoomedPicture { step, call: info.command.to_line(), place, picture })
    };
    let items = app.desk().memory().items().filter(|item| item.step >= since);
    let mut shown: Vec<ZoomedPicture> =
        items.flat_map(|item| item.actions.iter().filter_map(move |info| zoomed(item.step, info))).collect();
    let left_out = shown.len().saturating_sub(ZOOMED_MAX);
    shown.drain(..left_out);
    ZoomedPictures { shown, left_out }
}
