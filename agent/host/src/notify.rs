//! Tells people or programs that work has ended: a webhook, and a notification of the desktop.
//!
//! It is sent by the process that did the work, so it needs no service. What cannot be told changes no outcome.

use std::{future::pending, time::Duration};

use deskhand_desktop_linux::{Notification, notify};
use deskhand_http::{HttpCredential, HttpTimeout, client, http_url, root_cause};
use deskhand_machine::{money::Cost, outcome::OutcomeKind};
use deskhand_runtime::{new_id, now_ms, words::iso_time};
use deskhand_secret::SecretSource;
use deskhand_ui::text::{clip, error_chain, one_line};
use serde::Serialize;
use tokio::time::timeout;

use crate::{
    EndedSession, Host,
    config::{NotifySettings, ValueSource, expanded},
};

/// The version of what a webhook gets.
const FORMAT: u32 = 1;
/// Maximum time for one request, and the delays before each further attempt.
const REQUEST_BOUND: Duration = Duration::from_secs(10);
const WAITS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];
/// Maximum length of a request and of a reason in a notification, in characters.
const SHOWN_MAX: usize = 200;

/// Kind of work that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NewsKind {
    /// A session.
    Session,
    /// A batch.
    Batch,
}

/// Work that has ended, as a webhook gets it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkEndNotification {
    /// The version of the format.
    format: u32,
    /// Another one for each news, and the same in each attempt to send it.
    id: String,
    /// Kind of work that ended.
    pub kind: NewsKind,
    /// When, in UTC.
    ended: String,
    /// Outcome of the work.
    pub outcome: OutcomeKind,
    /// Why so.
    pub reason: String,
    /// The last request, or the file of the tasks.
    pub request: String,
    /// The id of the session, or of none that began.
    pub session: Option<String>,
    /// The schedule that began it.
    pub schedule: Option<String>,
    /// The number of tasks of a batch, and how many of these finished.
    pub tasks: Option<usize>,
    /// See `tasks`.
    pub finished: Option<usize>,
    /// Cost of the work.
    pub cost: Cost,
    /// Duration of the work.
    pub elapsed_ms: u64,
}

impl WorkEndNotification {
    /// Work that has ended just now.
    pub fn new(kind: NewsKind, outcome: OutcomeKind, reason: String, request: String) -> Self {
        Self {
            format: FORMAT,
            id: new_id().0,
            kind,
            ended: iso_time(now_ms()),
            outcome,
            reason,
            request,
            session: None,
            schedule: None,
            tasks: None,
            finished: None,
            cost: Cost::default(),
            elapsed_ms: 0,
        }
    }

    /// A session that has ended.
    pub(crate) fn of_session(ended: &EndedSession, schedule: Option<&String>) -> Self {
        let outcome = ended.outcome();
        let request = ended.summary.rounds.last().map(|round| round.request.clone()).unwrap_or_default();
        Self {
            session: Some(ended.session.0.clone()),
            schedule: schedule.cloned(),
            cost: ended.summary.tally.cost,
            elapsed_ms: ended.elapsed_ms,
            ..Self::new(NewsKind::Session, outcome.kind, outcome.reason, request)
        }
    }

    fn notification(&self) -> Notification {
        let what = match (self.kind, &self.schedule, self.tasks, self.finished) {
            (_, Some(schedule), ..) => format!("The schedule {schedule}"),
            (NewsKind::Batch, None, Some(tasks), Some(finished)) => {
                format!("{finished} of {tasks} tasks finished")
            }
            (NewsKind::Batch | NewsKind::Session, ..) => "A request".to_owned(),
        };
        let outcome = self.outcome.word().replace('_', " ");
        Notification {
            summary: format!("{what}: {outcome}"),
            body: format!("{}\n{}", shown(&self.request), shown(&self.reason)),
            is_urgent: self.outcome != OutcomeKind::Finished,
        }
    }
}

fn shown(text: &str) -> String {
    clip(&one_line(text), SHOWN_MAX)
}

impl Host {
    /// Tells that work has ended, as the configuration says; sessions tell it themselves. Returns what went wrong.
    pub async fn tell(&self, news: &WorkEndNotification) -> Vec<String> {
        tell(&self.config().notify, news).await
    }
}

/// Tells that work has ended, as the settings say. Returns what went wrong.
pub(crate) async fn tell(settings: &NotifySettings, news: &WorkEndNotification) -> Vec<String> {
    if !settings.on.iter().any(|outcome| outcome.to_kind() == news.outcome) {
        return Vec::new();
    }
    let (posted, shown) = tokio::join!(post(settings, news), show(settings, news));
    [posted, shown].into_iter().filter_map(Result::err).collect()
}

async fn show(settings: &NotifySettings, news: &WorkEndNotification) -> Result<(), String> {
    if !settings.desktop {
        return Ok(());
    }
    notify(&news.notification()).await.map_err(|error| error.to_string())
}

/// Sends it to the webhook: again if that may help, and never for long. No message has the address: it may hold a secret.
async fn post(settings: &NotifySettings, news: &WorkEndNotification) -> Result<(), String> {
    let Some(address) = address(settings)? else { return Ok(()) };
    let url =
        http_url(&address).map_err(|_| "the address of the webhook is no http or https URL".to_owned())?;
    let client = client(&url, REQUEST_BOUND, HttpTimeout::Whole(REQUEST_BOUND));
    let client = client.map_err(|error| format!("the webhook cannot be asked: {}", root_cause(&error)))?;
    let body = serde_json::to_vec(news).unwrap_or_default();
    let mut waits = WAITS.into_iter();
    loop {
        let request = client.post(url.clone()).header("Content-Type", "application/json").body(body.clone());
        let (problem, may_help) = match request.send().await {
            Ok(response) if response.status().is_success() => return Ok(()),
            Ok(response) => {
                let status = response.status();
                let may_help = status.is_server_error() || status.as_u16() == 429 || status.as_u16() == 408;
                (format!("the webhook answered {status}"), may_help)
            }
            Err(error) => (format!("the webhook cannot be reached: {}", root_cause(&error)), true),
        };
        match waits.next().filter(|_| may_help) {
            // There is nothing to wait for but the time.
            Some(wait) => timeout(wait, pending::<()>()).await.unwrap_or_default(),
            None => return Err(problem.replace(&address, "[address]")),
        }
    }
}

/// The address of the webhook; `None` if there is none.
fn address(settings: &NotifySettings) -> Result<Option<String>, String> {
    let source = match (&settings.webhook, &settings.webhook_from) {
        (None, None) => return Ok(None),
        (Some(address), None) => return Ok(Some(address.clone())),
        (None, Some(ValueSource { env: Some(name), file: None })) => SecretSource::Environment(name.clone()),
        (None, Some(ValueSource { env: None, file: Some(file) })) => SecretSource::File(expanded(file)),
        (Some(_), Some(_)) => return Err("set one of `notify.webhook` and `notify.webhook_from`".to_owned()),
        (None, Some(_)) => {
            return Err("`notify.webhook_from` needs exactly one of `env` and `file`".to_owned());
        }
    };
    let secret =
        HttpCredential::read(&source).map_err(|error| format!("{source} {}", error_chain(&error)))?;
    Ok(Some(secret.to_variable().to_string_lossy().into_owned()))
}
