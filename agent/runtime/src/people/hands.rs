//! Input of a person who has taken over mouse and keyboard. The input is watched like a demonstration and
//! reported in words.
//!
//! Input that cannot be watched, or is not stored, is reported as such. A password is never stored.

use std::{convert::Infallible, time::Duration};

use deskhand_desktop::{Desktop, DesktopResult, PERSON_INPUTS_WAITING_MAX, TimedPersonInput};
use deskhand_machine::{command::ToolSpec, session::StopReason};
use deskhand_secret::SecretValue;
use deskhand_ui::{
    WindowInfo,
    text::{clip, error_chain},
};
use futures_util::future::BoxFuture;
use tokio::sync::{
    mpsc::{Permit, Receiver, Sender, channel},
    oneshot,
};

use crate::{
    demonstration::{DemonstratedActs, Demonstration, DemonstrationObserver, ShownAct, watch},
    stop::StopSwitch,
    words::whole_command_words,
};

/// Maximum time to wait, after the person has handed back, for the effect of their last action.
const END_BOUND: Duration = Duration::from_secs(15);
/// The most things that are reported, and the longest of them in characters.
const ACTS_MAX: usize = 200;
const ACT_CHARS_MAX: usize = 400;

/// Mouse and keyboard of a person, as long as it is not dropped.
pub trait HandsWatch: Send {
    /// Returns the stream of inputs, as they happen; it ends when the desktop has ended.
    fn inputs(&mut self) -> &mut Receiver<TimedPersonInput>;
}

/// Watches mouse and keyboard of people on a desktop.
pub trait WatchHands: Send + Sync {
    /// Begins to watch.
    ///
    /// # Errors
    /// [`deskhand_desktop::DesktopError`] if this desktop cannot be watched.
    fn begin(&self) -> BoxFuture<'_, DesktopResult<Box<dyn HandsWatch>>>;

    /// Returns `true` if a window does not belong to the session, such as the terminal from which the session runs.
    fn leaves_out(&self, window: &WindowInfo) -> bool;
}

/// The acts of a person, a sentence each, and those that could not be watched.
#[derive(Debug, Default)]
pub(crate) struct DoneByHand {
    pub(crate) acts: Vec<String>,
    pub(crate) unwatched: Vec<String>,
    /// The passwords that they typed: an application may show one elsewhere.
    pub(crate) passwords: Vec<SecretValue>,
}

impl DoneByHand {
    fn unknown(why: String) -> Self {
        Self { unwatched: vec![why], ..Self::default() }
    }
}

/// Says once that nothing is missed from now on.
struct WatchStartSignal(Option<oneshot::Sender<bool>>);

impl WatchStartSignal {
    fn say(&mut self, watched: bool) {
        if let Some(begun) = self.0.take() {
            // Nobody waits for it if the session was stopped.
            let _ = begun.send(watched);
        }
    }
}

impl DemonstrationObserver for WatchStartSignal {
    fn begun(&mut self) {
        self.say(/*watched*/ true);
    }
}

/// Watches a person until they hand back. `begun` receives whether they are watched, as soon as nothing that they do is missed.
pub(crate) async fn watch_hands<D: Desktop>(
    desktop: &D,
    hands: Option<&dyn WatchHands>,
    tools: &[ToolSpec],
    begun: oneshot::Sender<bool>,
    until: impl Future<Output = ()> + Send,
) -> DoneByHand {
    let mut begun = WatchStartSignal(Some(begun));
    tokio::pin!(until);
    let Some(hands) = hands else {
        begun.say(/*watched*/ false);
        until.await;
        return DoneByHand::unknown("what they did, because this desktop cannot be watched".to_owned());
    };
    let mut source = match hands.begin().await {
        Ok(source) => source,
        Err(error) => {
            begun.say(/*watched*/ false);
            until.await;
            return not_watched(&error);
        }
    };
    let (sender, mut inputs) = channel(PERSON_INPUTS_WAITING_MAX);
    let stop = StopSwitch::new();
    let mut is_cut = false;
    let passing = async {
        loop {
            tokio::select! {
                biased;
                input = next_input(source.inputs(), &sender) => match input {
                    Some((input, place)) => place.send(input),
                    None => {
                        until.as_mut().await;
                        break;
                    }
                },
                () = until.as_mut() => {
                    is_cut = !source.inputs().is_empty();
                    break;
                }
            }
        }
        stop.cancel(StopReason::User);
        std::future::pending::<Infallible>().await
    };
    let late = async {
        stop.wait().await;
        // Nothing but the end of what is watched ends the wait before its bound.
        tokio::time::timeout(END_BOUND, std::future::pending::<()>()).await.ok();
    };
    let watched = tokio::select! {
        watched = watch(desktop, &mut inputs, &stop, &mut begun) => Some(watched),
        never = passing => match never {},
        () = late => None,
    };
    if stop.reason().is_none() {
        begun.say(/*watched*/ false);
        until.await;
    }
    match watched {
        Some(Ok(demonstration)) => {
            let mut done = in_words(&demonstration, hands, tools);
            if is_cut {
                done.unwatched.push("the last things that they did, because they came too fast".to_owned());
            }
            done
        }
        Some(Err(error)) => not_watched(&error),
        None => {
            DoneByHand::unknown("what they did, because the desktop did not come to rest after it".to_owned())
        }
    }
}

/// The next input, once there is a place for it; `None` when the desktop has ended. Cancelling it loses nothing.
async fn next_input<'a>(
    inputs: &mut Receiver<TimedPersonInput>,
    sender: &'a Sender<TimedPersonInput>,
) -> Option<(TimedPersonInput, Permit<'a, TimedPersonInput>)> {
    // Whoever watches keeps the other end.
    let place = sender.reserve().await.ok()?;
    Some((inputs.recv().await?, place))
}

fn not_watched(error: &deskhand_desktop::DesktopError) -> DoneByHand {
    tracing::warn!(%error, "a person who took over is not watched");
    DoneByHand::unknown(format!("what they did, because it could not be watched: {}", error_chain(error)))
}

fn in_words(demonstration: &Demonstration, hands: &dyn WatchHands, tools: &[ToolSpec]) -> DoneByHand {
    let mut shown = demonstration.shown("", tools, &|window| hands.leaves_out(window));
    let mut unwatched = std::mem::take(&mut shown.notes);
    let left_out = shown.acts.len().saturating_sub(ACTS_MAX);
    if left_out > 0 {
        unwatched.push(format!("{left_out} earlier things that they did are not listed"));
    }
    let acts: Vec<String> = shown.acts.iter().skip(left_out).map(act_in_words).collect();
    unwatched.truncate(ACTS_MAX);
    let (acts, unwatched) = (plain(&shown, acts), plain(&shown, unwatched));
    DoneByHand { acts, unwatched, passwords: shown.passwords().to_vec() }
}

/// Texts without the passwords that were typed; none if they cannot be told without.
fn plain(shown: &DemonstratedActs, texts: Vec<String>) -> Vec<String> {
    shown.without_passwords(texts).unwrap_or_default()
}

fn act_in_words(act: &ShownAct) -> String {
    let target = act.target().map(deskhand_ui::Element::label);
    let words = whole_command_words(&act.command, target.as_deref());
    let window = act.view.surfaces.first().map(|surface| &surface.window);
    let place = window.map(|window| format!(" in {}", window.app.name)).unwrap_or_default();
    clip(&format!("{words}{place}"), ACT_CHARS_MAX)
}
