//! The first page: a form for the next request, what runs now, and the table of all sessions with charts.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Query as Address, State},
    response::{Html, NoContent},
};
use deskhand_runtime::{
    Query, SessionTable,
    catalogue::{
        Column, Day, Direction, FacetCount, OutcomeFilter, SessionQuestion, SessionRow, SessionState,
    },
    words::{duration, local_time},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::{
    api::OfSession,
    chart::{Chart, chart_of},
    options::Defaults,
};
use crate::page::{PageService, error::PageApiError, fleet::FleetService};

/// The sessions of a page of the table.
const ROWS: usize = 50;
/// The most running sessions that are shown above the table.
const RUNNING_MAX: usize = 12;
/// The most running sessions among which those are looked for that ask something; the page asks for as many.
const ASKING_MAX: usize = 200;
/// The most applications that are offered as filters.
const APPLICATIONS_MAX: usize = 12;
/// Maximum length of a displayed request, in characters.
const REQUEST_MAX: usize = 160;

/// The query of the table, as in an address.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(super) struct SessionListQuery {
    /// Words that all occur: in a request, a reason, an application, a workflow, a model or the id.
    q: String,
    /// The outcome of the last request; `none` for sessions without one.
    #[schemars(regex(pattern = "^(finished|failed|rejected|budget_exhausted|cancelled|error|none)?$"))]
    outcome: String,
    /// `queued`, `running`, `interrupted` or `ended`.
    state: String,
    /// A part of the name of an application.
    application: String,
    /// A part of the name of a model.
    model: String,
    /// The machine that has it: `here`, the name of a worker, or `fleet` if none has it.
    place: String,
    /// The column to sort by; `begun` if empty.
    #[schemars(regex(
        pattern = "^(begun|last|id|request|outcome|state|place|application|model|desktop|steps|actions|model_calls|tokens|cost|elapsed)?$"
    ))]
    sort: String,
    /// From small to great rather than from great to small.
    up: bool,
    /// The least that it cost, in US dollars.
    cost_min: Option<f64>,
    /// The most that it cost, in US dollars.
    cost_max: Option<f64>,
    /// The number of sessions to skip.
    #[schemars(range(max = u32::MAX))]
    offset: u32,
    /// The most sessions; 50 if not given.
    #[schemars(range(max = u32::MAX))]
    limit: Option<u32>,
}

impl SessionListQuery {
    /// The number of sessions to skip.
    fn begin(&self) -> usize {
        usize::try_from(self.offset).unwrap_or(usize::MAX)
    }

    /// The most sessions.
    fn shown(&self) -> usize {
        self.limit.map_or(ROWS, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
    }

    fn query(&self) -> Result<Query, PageApiError> {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        let one = |text: &str| if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
        let outcomes: Vec<OutcomeFilter> = one(&self.outcome)
            .iter()
            .map(|word| word.parse())
            .collect::<Result<_, _>>()
            .map_err(PageApiError::wrong)?;
        let states = SessionState::ALL.into_iter().filter(|state| state.word() == self.state);
        let sort = if self.sort.is_empty() { Ok(Column::default()) } else { self.sort.parse() };
        Ok(Query {
            words: words(&self.q),
            outcomes,
            states: states.collect(),
            applications: one(&self.application),
            models: one(&self.model),
            places: one(&self.place),
            cost_min_usd: self.cost_min,
            cost_max_usd: self.cost_max,
            sort: sort.map_err(PageApiError::wrong)?,
            direction: if self.up { Direction::Ascending } else { Direction::Descending },
            offset: self.begin(),
            limit: self.shown(),
            ..Query::default()
        })
    }

    /// The address of the table with something else in it.
    fn address(&self, change: impl FnOnce(&mut Self)) -> String {
        let mut other = Self { offset: 0, ..self.clone() };
        change(&mut other);
        let mut parts = Vec::new();
        let mut add = |name: &str, value: &str| {
            if !value.is_empty() {
                parts.push(format!("{name}={}", encoded(value)));
            }
        };
        add("q", &other.q);
        add("outcome", &other.outcome);
        add("state", &other.state);
        add("application", &other.application);
        add("model", &other.model);
        add("place", &other.place);
        add("sort", &other.sort);
        add("up", if other.up { "true" } else { "" });
        add("cost_min", &other.cost_min.map(|value| value.to_string()).unwrap_or_default());
        add("cost_max", &other.cost_max.map(|value| value.to_string()).unwrap_or_default());
        add("offset", &if other.offset == 0 { String::new() } else { other.offset.to_string() });
        format!("/?{}", parts.join("&"))
    }
}

/// A text in an address.
pub(super) fn encoded(text: &str) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    text.bytes()
        .map(|byte| if is_plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[derive(Serialize)]
struct HomeView {
    title: &'static str,
    here: &'static str,
    asked: SessionListQuery,
    /// The running sessions that ask their user something.
    asking: Vec<RowView>,
    running: Vec<RowView>,
    more_running: usize,
    rows: Vec<RowView>,
    columns: Vec<ColumnView>,
    outcomes: Vec<FacetView>,
    applications: Vec<FacetView>,
    places: Vec<FacetView>,
    /// Why sessions of the fleet may be missing.
    fleet_problem: String,
    found: String,
    unreadable: usize,
    before: String,
    after: String,
    all: String,
    charts: Vec<Chart>,
    defaults: Defaults,
}

#[derive(Serialize)]
struct ColumnView {
    name: &'static str,
    address: String,
    /// `ascending`, `descending` or nothing, for `aria-sort`.
    sorted: &'static str,
    number: bool,
}

#[derive(Serialize)]
struct FacetView {
    name: String,
    sessions: usize,
    address: String,
    chosen: bool,
}

#[derive(Serialize)]
struct RowView {
    id: String,
    place: String,
    request: String,
    outcome: &'static str,
    tone: &'static str,
    reason: String,
    applications: String,
    began: String,
    took: String,
    steps: u32,
    model_calls: u32,
    cost: String,
    has_screen: bool,
    /// The kind of open question: `approval` or `question`; empty if none.
    asks: String,
    /// The same in words.
    asked: String,
}

impl RowView {
    fn of(row: &SessionRow) -> Self {
        let facts = &row.facts;
        let running = row.state == SessionState::Running;
        let asks = facts.asks.as_ref().filter(|_| running);
        let outcome = facts.outcome.map_or_else(|| row.state.word(), |outcome| outcome.word());
        let tone = match outcome {
            "finished" => "good",
            "running" | "queued" => "plain",
            "interrupted" => "doubtful",
            _ => "bad",
        };
        let request = facts.requests.last().map(String::as_str).unwrap_or_default();
        Self {
            id: row.id.clone(),
            place: row.place.clone(),
            request: deskhand_ui::text::clip(request, REQUEST_MAX),
            outcome: if running { "running" } else { outcome },
            tone: if running { "plain" } else { tone },
            reason: facts.reason.clone(),
            applications: facts.applications.join(", "),
            began: local_time(facts.begun_ms),
            took: if row.state == SessionState::Queued { String::new() } else { duration(facts.elapsed_ms) },
            steps: facts.steps,
            model_calls: facts.model_calls,
            cost: format!("${:.2}", row.cost_usd),
            has_screen: false,
            asks: asks.map(|asks| asks.kind.clone()).unwrap_or_default(),
            asked: asks.map(SessionQuestion::words).unwrap_or_default(),
        }
    }
}

/// The page.
pub(super) async fn home(
    State(service): State<Arc<PageService>>,
    Address(asked): Address<SessionListQuery>,
) -> Result<Html<String>, PageApiError> {
    let query = asked.query()?;
    let looking = Arc::clone(&service);
    let (table, running, days, asking) = service
        .looking_back(move |catalogue| {
            let running =
                Query { states: vec![SessionState::Running], limit: RUNNING_MAX, ..Query::default() };
            let overview = looking.fleet.as_ref().map(|fleet| fleet.followed().overview());
            let others = || overview.iter().flat_map(|overview| overview.rows()).map(SessionRow::as_row);
            (
                catalogue.table_with(&query, others()),
                catalogue.table_with(&running, others()),
                catalogue.series_with(&query, others()),
                catalogue.table_with(&Query { limit: ASKING_MAX, ..running.clone() }, others()),
            )
        })
        .await?;
    let mut view = view(asked, &table, &running, &days, Defaults::of(&service.defaults));
    view.asking = asking.rows.iter().map(RowView::of).filter(|row| !row.asks.is_empty()).collect();
    view.fleet_problem = service.fleet.as_ref().and_then(FleetService::problem).unwrap_or_default();
    for row in &mut view.running {
        // Pictures of other machines are sent to who opens the session.
        row.has_screen = row.place.is_empty() && service.host.has_live_desktop(&row.id);
    }
    service.views.page("home", &view)
}

/// The table as data.
pub(super) async fn list(
    State(service): State<Arc<PageService>>,
    Address(asked): Address<SessionListQuery>,
) -> Result<Json<SessionTable>, PageApiError> {
    let query = asked.query()?;
    let looking = Arc::clone(&service);
    let table = service.looking_back(move |catalogue| {
        let overview = looking.fleet.as_ref().map(|fleet| fleet.followed().overview());
        let others = overview.iter().flat_map(|overview| overview.rows()).map(SessionRow::as_row);
        catalogue.table_with(&query, others)
    });
    Ok(Json(table.await?))
}

/// Removes a session that does not run.
pub(super) async fn remove(
    State(service): State<Arc<PageService>>,
    Path(OfSession { id }): Path<OfSession>,
) -> Result<NoContent, PageApiError> {
    let folder = service.hub.folder(&id)?;
    let removed = spawn_blocking(move || {
        // Held until it is gone, so that nobody goes on with it.
        let lock = folder.lock();
        lock.and_then(|_lock| folder.remove())
    });
    let removed = removed.await.map_err(|error| PageApiError::failed("remove the session", &error))?;
    removed.map_err(|error| PageApiError::conflict(deskhand_ui::text::error_chain(&error)))?;
    Ok(NoContent)
}

fn view(
    asked: SessionListQuery,
    table: &SessionTable,
    running: &SessionTable,
    days: &[Day],
    defaults: Defaults,
) -> HomeView {
    let shown = asked.shown();
    let at = |offset: usize| asked.address(|other| other.offset = u32::try_from(offset).unwrap_or(u32::MAX));
    let next = asked.begin().saturating_add(shown);
    let has_places = !table.facets.places.is_empty();
    let columns = COLUMNS.iter().filter(|(_, column, _)| has_places || *column != Column::Place);
    let columns = columns.map(|(name, column, number)| column_view(&asked, name, *column, *number));
    let facet = |counts: &[FacetCount],
                 chosen: &str,
                 choose: &dyn Fn(&mut SessionListQuery, String)|
     -> Vec<FacetView> {
        let view = |count: &FacetCount| {
            let is_chosen = count.name == chosen;
            let name = if is_chosen { String::new() } else { count.name.clone() };
            FacetView {
                name: count.name.clone(),
                sessions: count.sessions,
                address: asked.address(|other| choose(other, name)),
                chosen: is_chosen,
            }
        };
        counts.iter().take(APPLICATIONS_MAX).map(view).collect()
    };
    HomeView {
        title: "Deskhand",
        here: "/",
        asking: Vec::new(),
        running: running.rows.iter().map(RowView::of).collect(),
        more_running: running.total.saturating_sub(running.rows.len()),
        rows: table.rows.iter().map(RowView::of).collect(),
        columns: columns.collect(),
        outcomes: facet(&table.facets.outcomes, &asked.outcome, &|other, name| {
            other.outcome = name;
        }),
        applications: facet(&table.facets.applications, &asked.application, &|other, name| {
            other.application = name;
        }),
        places: facet(&table.facets.places, &asked.place, &|other, name| {
            other.place = name;
        }),
        fleet_problem: String::new(),
        found: format!("{} of {}", table.total, table.all),
        unreadable: table.unreadable_total,
        before: if asked.offset > 0 { at(asked.begin().saturating_sub(shown)) } else { String::new() },
        after: if next < table.total { at(next) } else { String::new() },
        all: asked.address(|other| *other = SessionListQuery::default()),
        charts: vec![
            chart_of("Sessions a day", days, |day| (f64::from(day.finished), f64::from(day.sessions))),
            chart_of("US dollars a day", days, |day| (day.cost_usd, day.cost_usd)),
        ],
        defaults,
        asked,
    }
}

/// The columns of the table: its heading, what it sorts by, and whether it holds numbers.
const COLUMNS: &[(&str, Column, bool)] = &[
    ("request", Column::Request, false),
    ("outcome", Column::Outcome, false),
    ("where", Column::Place, false),
    ("applications", Column::Application, false),
    ("began", Column::Begun, false),
    ("took", Column::Elapsed, true),
    ("steps", Column::Steps, true),
    ("model calls", Column::ModelCalls, true),
    ("cost", Column::Cost, true),
];

fn column_view(asked: &SessionListQuery, name: &'static str, column: Column, number: bool) -> ColumnView {
    let current: Column = asked.sort.parse().unwrap_or_default();
    let sorted = match (current == column, asked.up) {
        (true, true) => "ascending",
        (true, false) => "descending",
        (false, _) => "",
    };
    let address = asked.address(|other| {
        other.up = sorted == "descending";
        column.word().clone_into(&mut other.sort);
    });
    ColumnView { name, address, sorted, number }
}
