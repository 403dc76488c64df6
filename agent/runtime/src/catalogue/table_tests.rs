//! Tables of made-up sessions, compared with what the query says in other words.

use deskhand_machine::{
    money::{Cost, Money},
    outcome::OutcomeKind,
};
use jiff::tz::TimeZone;
use proptest::{prelude::*, sample::select};

use super::*;
use crate::catalogue::{
    facts::SessionFacts,
    query::{Column, Direction},
    row::SessionState,
    series::series_in,
};

/// 2026-11-27 00:00 UTC.
const MIDNIGHT_MS: u64 = 1_795_737_600_000;
const HOUR_MS: u64 = 3_600_000;

fn facts(
    begun_ms: u64,
    outcome: Option<OutcomeKind>,
    application: &str,
    cents: u64,
    steps: u32,
) -> SessionFacts {
    SessionFacts {
        begun_ms,
        outcome,
        applications: vec![application.to_owned()],
        requests: vec![format!("work in {application}")],
        rounds: 1,
        cost: Cost { known: Money(cents * 10_000), unknown_calls: 0 },
        steps,
        elapsed_ms: u64::from(steps) * 1_000,
        model: "script".to_owned(),
        ..SessionFacts::default()
    }
}

fn ids(table: &SessionTable) -> Vec<&str> {
    table.rows.iter().map(|row| row.id.as_str()).collect()
}

fn five() -> Catalogue {
    let session = |id: &str, facts: SessionFacts, in_use: bool| (id.to_owned(), facts, in_use);
    Catalogue::of([
        session("a", facts(1_000, Some(OutcomeKind::Finished), "LibreOffice Calc", 10, 3), false),
        session("b", facts(2_000, Some(OutcomeKind::Failed), "LibreOffice Writer", 20, 5), false),
        session("c", facts(3_000, None, "LibreOffice Calc", 0, 3), true),
        session("d", facts(4_000, None, "Mousepad", 5, 1), false),
        session("e", facts(5_000, Some(OutcomeKind::Finished), "Mousepad", 100, 9), false),
    ])
}

#[test]
fn queries_find_sort_and_page() {
    let catalogue = five();
    let check = |query: Query, expected: &[&str], total: usize| {
        let table = catalogue.table(&query);
        assert_eq!((ids(&table), table.total, table.all), (expected.to_vec(), total, 5), "{query:?}");
    };
    let of = |word: &str| word.parse::<OutcomeFilter>().unwrap();
    check(Query::default(), &["e", "d", "c", "b", "a"], 5);
    check(Query { words: vec!["LIBREOFFICE".into(), "calc".into()], ..Query::default() }, &["c", "a"], 2);
    check(Query { outcomes: vec![of("finished")], ..Query::default() }, &["e", "a"], 2);
    check(Query { outcomes: vec![of("none"), of("failed")], ..Query::default() }, &["d", "c", "b"], 3);
    check(Query { states: vec![SessionState::Running], ..Query::default() }, &["c"], 1);
    check(Query { states: vec![SessionState::Interrupted], ..Query::default() }, &["d"], 1);
    check(
        Query { applications: vec!["mouse".into(), "writer".into()], ..Query::default() },
        &["e", "d", "b"],
        3,
    );
    check(Query { models: vec!["SCRIPT".into()], ..Query::default() }, &["e", "d", "c", "b", "a"], 5);
    check(Query { models: vec!["gpt".into()], ..Query::default() }, &[], 0);
    check(Query { cost_min_usd: Some(0.1), cost_max_usd: Some(0.2), ..Query::default() }, &["b", "a"], 2);
    check(Query { begun_min_ms: Some(2_000), begun_max_ms: Some(3_000), ..Query::default() }, &["c", "b"], 2);
    // Equal ones stay newest first, in both directions.
    let by_steps = |direction| Query { sort: Column::Steps, direction, ..Query::default() };
    check(by_steps(Direction::Descending), &["e", "b", "c", "a", "d"], 5);
    check(by_steps(Direction::Ascending), &["d", "c", "a", "b", "e"], 5);
    check(Query { offset: 1, limit: 2, ..by_steps(Direction::Ascending) }, &["c", "a"], 5);
    check(Query { offset: 9, ..Query::default() }, &[], 5);
}

#[test]
fn facets_count_what_another_choice_would_find() {
    let query =
        Query { outcomes: vec![OutcomeFilter::None], applications: vec!["Calc".into()], ..Query::default() };
    let SessionTable { facets, total, .. } = five().table(&query);
    let told = |counts: &[FacetCount]| {
        counts.iter().map(|count| (count.name.clone(), count.sessions)).collect::<Vec<_>>()
    };
    assert_eq!(total, 1);
    assert_eq!(told(&facets.outcomes), [("finished".to_owned(), 1), ("none".to_owned(), 1)]);
    assert_eq!(told(&facets.applications), [("LibreOffice Calc".to_owned(), 1), ("Mousepad".to_owned(), 1)]);
}

#[test]
fn a_query_is_plain_data() {
    let text = r#"{"words":["x"],"outcomes":["none","budget_exhausted"],"sort":"model_calls","direction":"ascending"}"#;
    let query: Query = serde_json::from_str(text).unwrap();
    assert_eq!(query.outcomes, [OutcomeFilter::None, OutcomeFilter::Is(OutcomeKind::BudgetExhausted)]);
    assert_eq!((query.sort, query.direction, query.limit), (Column::ModelCalls, Direction::Ascending, 50));
    assert_eq!(serde_json::from_value::<Query>(serde_json::to_value(&query).unwrap()).unwrap(), query);
    assert!(
        serde_json::from_str::<Query>(r#"{"outcomes":["done"]}"#)
            .unwrap_err()
            .to_string()
            .contains("budget_exhausted")
    );
    assert!("costs".parse::<Column>().unwrap_err().contains("model_calls"));
    for column in Column::ALL {
        assert_eq!(serde_json::to_value(column).unwrap(), column.word());
    }
}

#[test]
fn days_are_those_of_the_time_zone() {
    let at = |hours: u64, outcome, cents, steps| {
        facts(MIDNIGHT_MS + hours * HOUR_MS, outcome, "Calc", cents, steps)
    };
    let finished = Some(OutcomeKind::Finished);
    let catalogue = Catalogue::of(
        [
            at(1, finished, 10, 1),
            at(22, Some(OutcomeKind::Error), 20, 4),
            at(23, finished, 30, 2),
            at(23, None, 1, 100),
            at(71, finished, 5, 7),
        ]
        .into_iter()
        .enumerate()
        .map(|(number, facts)| (format!("{number}"), facts, false)),
    );
    let told = |zone: TimeZone| {
        let days = series_in(catalogue.rows(), &zone);
        days.into_iter()
            .map(|day| {
                (
                    day.date,
                    day.sessions,
                    day.success_rate,
                    (day.cost_usd * 100.0).round(),
                    day.elapsed_median_ms,
                )
            })
            .collect::<Vec<_>>()
    };
    let day = |date: &str| format!("2026-11-{date}");
    let utc = told(TimeZone::UTC);
    assert_eq!(utc[0], (day("27"), 4, Some(2.0 / 3.0), 61.0, Some(2_000)));
    assert_eq!(utc[1], (day("28"), 0, None, 0.0, None));
    assert_eq!((utc[2].clone(), utc.len()), ((day("29"), 1, Some(1.0), 5.0, Some(7_000)), 3));
    let east = told(TimeZone::fixed(jiff::tz::offset(2)));
    assert_eq!(east[0], (day("27"), 1, Some(1.0), 10.0, Some(1_000)));
    assert_eq!(east[1], (day("28"), 3, Some(0.5), 51.0, Some(3_000)));
    assert_eq!((east[2].1, east[3].0.clone(), east.len()), (0, day("30"), 4));
    assert_eq!(series_in(Catalogue::of([]).rows(), &TimeZone::UTC), []);
}

proptest! {
    #[test]
    fn pages_are_the_whole_in_order(
        sessions in proptest::collection::vec((0_u64..50, 0_u32..4, select(vec!["Calc", "Writer"]), 0_u64..3), 0..40),
        limit in 1_usize..7,
        column in select(Column::ALL.to_vec()),
    ) {
        let named = sessions.iter().enumerate().map(|(number, (begun, steps, application, cents))| {
            (format!("{number:02}"), facts(*begun, None, application, *cents, *steps), false)
        });
        let catalogue = Catalogue::of(named);
        for direction in [Direction::Ascending, Direction::Descending] {
            let query = |offset, limit| Query { sort: column, direction, offset, limit, ..Query::default() };
            let whole = catalogue.table(&query(0, usize::MAX));
            let mut paged = Vec::new();
            for offset in (0..=sessions.len()).step_by(limit) {
                let page = catalogue.table(&query(offset, limit));
                prop_assert!(page.rows.len() <= limit);
                prop_assert_eq!(page.total, sessions.len());
                paged.extend(page.rows);
            }
            prop_assert_eq!(&paged, &whole.rows);
            let mut known: Vec<&str> = ids(&whole);
            known.sort_unstable();
            prop_assert_eq!(known.len(), sessions.len());
            known.dedup();
            prop_assert_eq!(known.len(), sessions.len());
            if column == Column::Steps {
                let steps: Vec<(u32, std::cmp::Reverse<&str>)> =
                    whole.rows.iter().map(|row| (row.facts.steps, std::cmp::Reverse(row.id.as_str()))).collect();
                let is_sorted = match direction {
                    Direction::Ascending => steps.is_sorted(),
                    Direction::Descending => steps.is_sorted_by(|a, b| a.0 > b.0 || (a.0 == b.0 && a.1 < b.1)),
                };
                prop_assert!(is_sorted, "{steps:?}");
            }
        }
    }
}
