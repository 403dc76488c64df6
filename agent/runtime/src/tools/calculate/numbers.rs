//! The number that a cell shows: `1.234,56 €`, `$1,234.56`, `12 %`, `(5.00)`.

use jiff::civil::Date;
use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::Deserialize;

use super::value::ExpressionValue;

/// The sign before decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub(super) enum DecimalMark {
    /// `1,234.56`
    #[serde(rename = ".")]
    Point,
    /// `1.234,56`
    #[serde(rename = ",")]
    Comma,
}

/// The value that a cell shows; `None` if it is empty or a text.
///
/// # Errors
/// It can be read as two different numbers.
pub(super) fn shown(text: &str, mark: Option<DecimalMark>) -> Result<Option<ExpressionValue>, String> {
    let text = text.trim();
    if let Ok(date) = text.parse::<Date>() {
        return Ok(Some(ExpressionValue::Date(date)));
    }
    let in_brackets = text.starts_with('(') && text.ends_with(')');
    let is_percent = text.ends_with('%');
    let is_filler = |c: char| c.is_whitespace() || c == '\u{a0}' || c == '\'' || c == '’';
    // Signs of currencies, words for them of up to three letters, and brackets stand around a number.
    let plain: String = text.chars().filter(|c| !is_filler(*c)).collect();
    let digits = plain.trim_matches(|c: char| !(c.is_ascii_digit() || c == '-' || c == '.' || c == ','));
    let around = plain.chars().filter(|c| c.is_alphabetic()).count();
    if digits.is_empty() || around > 3 || !digits.contains(|c: char| c.is_ascii_digit()) {
        return Ok(None);
    }
    let digits = digits.trim_end_matches(['.', ',']);
    let Some(standard) = standard(digits, mark).map_err(|both| format!("“{text}” {both}"))? else {
        return Ok(None);
    };
    let Ok(number) = standard.parse::<Decimal>() else { return Ok(None) };
    let signed = if in_brackets || plain.starts_with('−') { -number } else { number };
    let value =
        if is_percent { ExpressionValue::exact(signed).percent()? } else { ExpressionValue::exact(signed) };
    Ok(Some(value))
}

/// Digits with a point before decimals and nothing between thousands. `None` if it is no number.
fn standard(digits: &str, mark: Option<DecimalMark>) -> Result<Option<String>, String> {
    let body = digits.strip_prefix('-').unwrap_or(digits);
    if !body.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',') {
        return Ok(None);
    }
    let decimal = match (mark, body.rfind('.'), body.rfind(',')) {
        (Some(DecimalMark::Point), _, _) => Some('.'),
        (Some(DecimalMark::Comma), _, _) => Some(','),
        (None, Some(point), Some(comma)) => Some(if point > comma { '.' } else { ',' }),
        (None, None, None) => None,
        (None, point, _) => {
            let mark = if point.is_some() { '.' } else { ',' };
            let parts: Vec<&str> = body.split(mark).collect();
            match parts.as_slice() {
                [whole, decimals] if decimals.len() == 3 && whole.len() <= 3 && *whole != "0" => {
                    return Err(format!(
                        "may be {whole}{decimals} or {whole}.{decimals}; give `decimal_mark`"
                    ));
                }
                [_, _] => Some(mark),
                // Several of them stand between thousands.
                _ => None,
            }
        }
    };
    let kept: String = body
        .chars()
        .filter_map(|c| match c {
            '.' | ',' if Some(c) == decimal => Some('.'),
            '.' | ',' => None,
            digit => Some(digit),
        })
        .collect();
    let sign = if digits.starts_with('-') { "-" } else { "" };
    Ok(Some(format!("{sign}{kept}")))
}
