//! Charts of days, drawn on the server.

use deskhand_runtime::catalogue::Day;
use serde::Serialize;

/// The most days of a chart: the last ones.
const DAYS_MAX: usize = 60;
/// The height of the tallest bar, and the width of a day with its gap, in units of the drawing.
const HEIGHT: f64 = 60.0;
const DAY: f64 = 10.0;

/// A chart of one number a day, of which a part is another colour.
#[derive(Debug, Serialize)]
pub(super) struct Chart {
    name: &'static str,
    width: f64,
    height: f64,
    bars: Vec<Bar>,
    /// The days and numbers as text, for who does not see the chart.
    words: String,
}

#[derive(Debug, Serialize)]
struct Bar {
    x: f64,
    whole: f64,
    part: f64,
    title: String,
}

/// A chart of the last days. `value` is the part and the whole of a day.
pub(super) fn chart_of(name: &'static str, days: &[Day], value: impl Fn(&Day) -> (f64, f64)) -> Chart {
    let days = days.get(days.len().saturating_sub(DAYS_MAX)..).unwrap_or(days);
    let most = days.iter().map(|day| value(day).1).fold(0.0, f64::max);
    let scaled = |number: f64| if most > 0.0 { number / most * HEIGHT } else { 0.0 };
    let mut x = 0.0;
    let bars: Vec<Bar> = days
        .iter()
        .map(|day| {
            let (part, whole) = value(day);
            let bar = Bar { x, whole: scaled(whole), part: scaled(part), title: title(day) };
            x += DAY;
            bar
        })
        .collect();
    let words = bars.iter().map(|bar| bar.title.as_str()).collect::<Vec<_>>().join("; ");
    Chart { name, width: x.max(DAY), height: HEIGHT, bars, words }
}

fn title(day: &Day) -> String {
    let Day { date, sessions, finished, cost_usd, .. } = day;
    format!("{date}: {sessions} sessions, {finished} finished, ${cost_usd:.2}")
}
