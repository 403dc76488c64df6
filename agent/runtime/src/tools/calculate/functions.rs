//! Functions that an expression may call.

use jiff::civil::Weekday;
use rust_decimal::{Decimal, MathematicalOps as _, RoundingStrategy};

use super::value::{Exactness, ExpressionValue, days_between};

/// The most digits after the point that can be asked for.
const DIGITS_MAX: u32 = 20;
/// Every function.
pub(super) const NAMES: [&str; 13] = [
    "sum", "average", "min", "max", "count", "round", "floor", "ceil", "abs", "sqrt", "days", "weekday",
    "date",
];

/// Calls a function.
pub(super) fn call(name: &str, arguments: &[ExpressionValue]) -> Result<ExpressionValue, String> {
    match name {
        "sum" => sum(&flat(arguments)),
        "average" | "avg" | "mean" => average(&flat(arguments)),
        "count" => Ok(ExpressionValue::exact(flat(arguments).len().into())),
        "min" => extreme(&flat(arguments), |one, two| one < two),
        "max" => extreme(&flat(arguments), |one, two| one > two),
        "round" => round(arguments),
        "floor" => on_number(name, arguments, |number| number.floor()),
        "ceil" => on_number(name, arguments, |number| number.ceil()),
        "abs" => on_number(name, arguments, |number| number.abs()),
        "sqrt" => {
            let [number] = arguments else { return Err(wants(name, "one number")) };
            let root = number.number()?.sqrt().ok_or("a negative number has no root")?;
            let exact = root.checked_mul(root) == Some(number.number()?);
            Ok(ExpressionValue::Number(root, if exact { Exactness::Exact } else { Exactness::Rounded }))
        }
        "days" => {
            let [from, to] = arguments else { return Err(wants(name, "two dates")) };
            Ok(ExpressionValue::exact(days_between(from.date()?, to.date()?)?.into()))
        }
        "weekday" => {
            let [date] = arguments else { return Err(wants(name, "one date")) };
            Ok(ExpressionValue::Word(weekday(date.date()?.weekday())))
        }
        "date" => match arguments {
            [date @ ExpressionValue::Date(_)] => Ok(date.clone()),
            _ => Err(wants(name, "a date such as 2026-11-24")),
        },
        _ => Err(format!("there is no function `{name}`; there are {}", NAMES.join(", "))),
    }
}

fn wants(name: &str, what: &str) -> String {
    format!("`{name}` takes {what}")
}

/// The values, with those of several cells one by one.
fn flat(arguments: &[ExpressionValue]) -> Vec<ExpressionValue> {
    let each = |value: &ExpressionValue| match value {
        ExpressionValue::List(values) => values.clone(),
        ExpressionValue::Number(..)
        | ExpressionValue::Date(_)
        | ExpressionValue::Span(_)
        | ExpressionValue::Word(_) => vec![value.clone()],
    };
    arguments.iter().flat_map(each).collect()
}

fn sum(values: &[ExpressionValue]) -> Result<ExpressionValue, String> {
    values.iter().try_fold(ExpressionValue::exact(Decimal::ZERO), |sum, value| sum.plus(value))
}

fn average(values: &[ExpressionValue]) -> Result<ExpressionValue, String> {
    if values.is_empty() {
        return Err("there are no numbers to average".to_owned());
    }
    sum(values)?.over(&ExpressionValue::exact(values.len().into()))
}

fn extreme(
    values: &[ExpressionValue],
    is_better: fn(&Decimal, &Decimal) -> bool,
) -> Result<ExpressionValue, String> {
    let mut best: Option<&ExpressionValue> = None;
    for value in values {
        let better = match (best, value) {
            (None, _) => true,
            (Some(ExpressionValue::Date(one)), ExpressionValue::Date(two)) => {
                let days = Decimal::from(days_between(*one, *two)?);
                is_better(&days, &Decimal::ZERO)
            }
            (Some(known), value) => is_better(&value.number()?, &known.number()?),
        };
        if better {
            best = Some(value);
        }
    }
    best.cloned().ok_or_else(|| "there are no numbers".to_owned())
}

/// Rounds half away from zero, as in commerce.
fn round(arguments: &[ExpressionValue]) -> Result<ExpressionValue, String> {
    let (number, digits) = match arguments {
        [number] => (number, Decimal::ZERO),
        [number, digits] => (number, digits.number()?),
        _ => return Err(wants("round", "a number and a number of digits")),
    };
    let digits = u32::try_from(digits).ok().filter(|digits| *digits <= DIGITS_MAX);
    let digits = digits.ok_or_else(|| format!("digits have to be 0 to {DIGITS_MAX}"))?;
    let rounded = number.number()?.round_dp_with_strategy(digits, RoundingStrategy::MidpointAwayFromZero);
    Ok(ExpressionValue::exact(rounded))
}

fn on_number(
    name: &str,
    arguments: &[ExpressionValue],
    work: fn(Decimal) -> Decimal,
) -> Result<ExpressionValue, String> {
    let [ExpressionValue::Number(number, exact)] = arguments else { return Err(wants(name, "one number")) };
    Ok(ExpressionValue::Number(work(*number), *exact))
}

const fn weekday(day: Weekday) -> &'static str {
    match day {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}
