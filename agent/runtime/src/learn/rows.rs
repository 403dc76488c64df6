//! Steps that repeat for the rows of a table that was read become one repeated step.

use deskhand_machine::workflow::{EachRow, WorkflowStep};
use serde_json::Value;

/// The fewest rows that are taken for a repetition.
const ROWS_MIN: usize = 2;
/// The name of a row in the steps.
const ROW: &str = "row";

/// Folds repetitions, the longest first. Only those that go on to the last of the rows, of which `rows` tells how many a table has: the
/// same is done again for all rows that are there then.
pub(super) fn fold(steps: &mut Vec<WorkflowStep>, rows: &dyn Fn(&str) -> Option<usize>) {
    let mut at = 0;
    while at < steps.len() {
        let found = (1..=steps.len() / ROWS_MIN).rev().find_map(|length| {
            let (count, each) = repetition(steps.get(at..)?, length)?;
            (rows(&each.of) == Some(each.skip + count)).then_some((length, (count, each)))
        });
        if let Some((length, (count, each))) = found {
            let mut inside: Vec<WorkflowStep> = steps.drain(at..at + length * count).take(length).collect();
            let from = format!("{}.{}", each.of, each.skip);
            for step in &mut inside {
                rename(step, &from);
            }
            let about = format!("for each row: {}", inside.first().map_or("", |step| step.about.as_str()));
            steps.insert(
                at,
                WorkflowStep { about, each: Some(each), steps: inside, ..WorkflowStep::default() },
            );
        }
        at += 1;
    }
}

/// Counts how often the first `length` steps repeat for consecutive rows, and returns the rows they repeat for.
fn repetition(steps: &[WorkflowStep], length: usize) -> Option<(usize, EachRow)> {
    let first = steps.get(..length)?;
    let (table, row) = first.iter().find_map(row_of)?;
    let is_next = |count: &usize| {
        let next = steps.get(count * length..(count + 1) * length);
        next.is_some_and(|next| {
            let from = format!("{table}.{row}");
            let to = format!("{table}.{}", row + count);
            first.iter().zip(next).all(|(one, other)| same(one, other, (&from, &to)))
        })
    };
    let count = (1..).take_while(is_next).count() + 1;
    (count >= ROWS_MIN).then(|| (count, EachRow { of: table, called: ROW.to_owned(), skip: row }))
}

/// The table and the row of the first value of a step: `read1.rows` and 2 of `{read1.rows.2.0}`.
fn row_of(step: &WorkflowStep) -> Option<(String, usize)> {
    let mut found = None;
    for value in step.arguments.values() {
        references(value, &mut |path| {
            let mut parts: Vec<&str> = path.split('.').collect();
            // The last number is a column, the one before it a row; a list of values has no columns.
            let rows: Vec<usize> =
                (0..parts.len()).filter(|at| parts.get(*at).is_some_and(|part| is_index(part))).collect();
            if let (Some(at), None) = (rows.first(), &found) {
                let row = parts.get(*at).and_then(|part| part.parse().ok());
                parts.truncate(*at);
                found = row.map(|row| (parts.join("."), row));
            }
        });
    }
    found
}

fn is_index(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

/// The paths of the values of an argument.
fn references(value: &Value, found: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => {
            let path = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            if let Some(path) = path.filter(|path| !path.contains(['{', '}'])) {
                found(path);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| references(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns `true` if two steps are the same, but for the row that their values are of.
fn same(one: &WorkflowStep, other: &WorkflowStep, (from, to): (&str, &str)) -> bool {
    let moved = |value: &Value| moved(value, from, to);
    let arguments = one.arguments.len() == other.arguments.len()
        && one.arguments.iter().all(|(name, value)| other.arguments.get(name) == Some(&moved(value)));
    let aims = one.aims.len() == other.aims.len()
        && one.aims.iter().all(|(name, aim)| {
            other.aims.get(name).is_some_and(|known| (&known.role, &known.name) == (&aim.role, &aim.name))
        });
    one.call == other.call && arguments && aims && one.save.is_none() && other.save.is_none()
}

/// A value with its paths in another row.
fn moved(value: &Value, from: &str, to: &str) -> Value {
    match value {
        Value::String(text) => {
            let inner = text.strip_prefix('{').and_then(|text| text.strip_prefix(from));
            match inner.filter(|rest| rest.starts_with(['.', '}'])) {
                Some(rest) => Value::String(format!("{{{to}{rest}")),
                None => value.clone(),
            }
        }
        Value::Array(values) => Value::Array(values.iter().map(|value| moved(value, from, to)).collect()),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), moved(value, from, to)));
            Value::Object(fields.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Names the row in the steps of a repetition.
fn rename(step: &mut WorkflowStep, from: &str) {
    for value in step.arguments.values_mut() {
        *value = moved(value, from, ROW);
    }
}
