//! Plays random actions on one application after another.

use super::{
    Failure, editors,
    figures::Measured,
    forms,
    judge::Player,
    office,
    stage::{Application, Kind, Stage},
    teeth,
};
use deskhand_testkit::fixture::Screen;

/// How often an application is started again before the rest of its actions is given up.
const RESTARTS_MAX: u32 = 3;

/// A small generator (splitmix64), so that a run can be repeated from its seed.
pub(crate) struct Dice(u64);

impl Dice {
    /// A run that is repeated by the same seed.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }

    /// One of several.
    pub(crate) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let at = self.below(from.len() as u64);
        usize::try_from(at).ok().and_then(|at| from.get(at)).copied().unwrap_or_default()
    }
}

/// Plays about `share` actions on an application; returns how many.
pub(crate) async fn play(
    application: &'static Application,
    dice: &mut Dice,
    share: usize,
    measured: &mut Measured,
) -> usize {
    let mut played = 0;
    for _ in 0..=RESTARTS_MAX {
        let mut stage = match Stage::start(application).await {
            Ok(stage) => stage,
            Err(error) => {
                measured.restarts.push(format!("{}: failed to start: {error}", application.name));
                return played;
            }
        };
        let (name, done, skipped) = (application.name, Vec::new(), Vec::new());
        let mut player = Player { stage: &mut stage, application: name, done, skipped };
        while played + player.done.len() < share {
            let before = player.done.len();
            let turn = turn(application.kind, &mut player, dice).await;
            if let Err(error) = turn {
                eprintln!("started again: {name}: {error}");
                measured.restarts.push(format!("{name}: {error}"));
                break;
            }
            if player.done.len() == before && player.skipped.len() > share {
                measured.restarts.push(format!("{name}: nothing to play"));
                break;
            }
        }
        let (done, skipped) = (player.done, player.skipped);
        played += done.len();
        measured.skipped.extend(skipped);
        for one in done {
            measured.add(application, &stage.observer, one);
        }
        stage.desktop.into_inner().shut_down().await;
        if played >= share {
            break;
        }
    }
    played
}

/// One or a few actions that belong together.
async fn turn(kind: Kind, player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    match kind {
        Kind::Fixture(_, Screen::Teeth) => teeth::turn(player, dice).await,
        Kind::Fixture(..) | Kind::Browser => forms::turn(player, dice).await,
        Kind::Editor { .. } => editors::turn(player, dice).await,
        Kind::Calc => office::calc(player, dice).await,
        Kind::Writer => office::writer(player, dice).await,
    }
}
