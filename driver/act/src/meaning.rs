//! Comparison of the meaning of a shown value with the written one: applications show numbers, dates and truth
//! values in formats of their own. Pure.

/// Likeness of the shown value to the written one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Likeness {
    /// The value means something else.
    Other,
    /// The same number, rounded to the digits that are shown.
    Rounded,
    /// The same value in another format.
    Reformatted,
    /// The same text.
    Same,
}

/// Compares what is `shown` with what was `meant`.
pub(crate) fn likeness(meant: &str, shown: &str) -> Likeness {
    let (meant, shown) = (plain(meant), plain(shown));
    if meant == shown {
        return Likeness::Same;
    }
    let is_truth = ["true", "false"].iter().any(|word| meant.eq_ignore_ascii_case(word));
    if is_truth && meant.eq_ignore_ascii_case(&shown) {
        return Likeness::Reformatted;
    }
    if let (Some(one), Some(other)) = (amount(&meant), amount(&shown)) {
        if (one.value - other.value).abs() <= one.value.abs().max(other.value.abs()) * 1e-12 {
            return Likeness::Reformatted;
        }
        let half = 0.500_001 * other.step;
        return if (one.value - other.value).abs() <= half { Likeness::Rounded } else { Likeness::Other };
    }
    if dates(&meant).iter().any(|one| dates(&shown).iter().any(|other| one.fits(other))) {
        return Likeness::Reformatted;
    }
    Likeness::Other
}

/// Returns `true` if a cell that shows `found` contains what was `meant`: the same text, or the same number in another format.
pub fn cells_equal(meant: &str, found: &str) -> bool {
    let (meant, found) = (plain(meant), plain(found));
    if meant == found {
        return true;
    }
    match (number(&meant), number(&found)) {
        (Some(one), Some(other)) => (one - other).abs() <= one.abs().max(other.abs()) * 1e-12,
        (_, _) => false,
    }
}

/// Returns `true` if a formula that was `read` is the one that was `meant` but for case, spaces and the separator of arguments,
/// outside of quotes. Of one that ends with `…` only the beginning was told.
pub(crate) fn same_formula(read: &str, meant: &str) -> bool {
    let normal = |formula: &str| {
        let mut is_quoted = false;
        let mut normal = String::new();
        for letter in formula.trim().trim_start_matches('=').chars() {
            is_quoted ^= letter == '"';
            match letter {
                _ if is_quoted => normal.push(letter),
                ';' => normal.push(','),
                _ if letter.is_whitespace() => {}
                _ => normal.extend(letter.to_uppercase()),
            }
        }
        normal
    };
    match read.strip_suffix('…') {
        Some(beginning) => normal(meant).starts_with(&normal(beginning)),
        None => normal(read) == normal(meant),
    }
}

/// Returns `true` if a cell shows that its formula has no result: `Err:502`, `#NAME?`.
pub(crate) fn is_error(shown: &str) -> bool {
    let shown = shown.trim();
    shown.starts_with("Err:") || (shown.starts_with('#') && shown.ends_with(['?', '!', 'A', '#']))
}

fn plain(text: &str) -> String {
    text.trim().replace(['\u{a0}', '\u{202f}'], " ")
}

/// A number as it is shown.
struct Amount {
    value: f64,
    /// The value of its last digit.
    step: f64,
}

/// A number with its currency or percent sign, as applications show it.
fn amount(text: &str) -> Option<Amount> {
    let is_sign = |c: char| matches!(c, '$' | '€' | '£' | '¥') || c == ' ';
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let bare = text.trim_matches(is_sign);
    let value = number(bare)?;
    let digits = bare.trim_end_matches('%').trim_end();
    let decimals = digits.split_once('.').map_or(0, |(_, rest)| rest.len());
    let scale = if bare.ends_with('%') { 0.01 } else { 1.0 };
    let step = scale * 0.1_f64.powi(i32::try_from(decimals).unwrap_or(i32::MAX));
    // `1E+05` shows one digit of six.
    let step = if digits.contains(['e', 'E']) { 0.0 } else { step };
    Some(Amount { value: if is_negative { -value } else { value }, step })
}

/// Parses a number as people write it: `1200`, `1,200`, `-3.5`, `12%`. Thousands separators only at valid positions.
pub(crate) fn number(text: &str) -> Option<f64> {
    let (digits, scale) = match text.strip_suffix('%') {
        Some(digits) => (digits.trim_end(), 0.01),
        None => (text, 1.0),
    };
    let begins = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.');
    if !digits.starts_with(begins) || !digits.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (whole, rest) = digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    let mut groups = whole.split([',', ' ', '\'']);
    let first = groups.next().unwrap_or_default();
    let mut joined = first.to_owned();
    for group in groups {
        if group.len() != 3 || first.trim_start_matches(['-', '+']).len() > 3 {
            return None;
        }
        joined.push_str(group);
    }
    if let Some(rest) = rest {
        joined.push('.');
        joined.push_str(rest);
    }
    joined.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number * scale)
}

/// One reading of a date; the year may be left out.
struct Date {
    year: Option<u32>,
    month: u32,
    day: u32,
}

impl Date {
    fn fits(&self, other: &Self) -> bool {
        let same_year = match (self.year, other.year) {
            (Some(one), Some(other)) => {
                one % 100 == other % 100 && (one < 100 || other < 100 || one == other)
            }
            (None, _) | (_, None) => true,
        };
        same_year && self.month == other.month && self.day == other.day
    }
}

/// The dates that a text may stand for: `2026-03-05`, `05.03.2026`, `3/5/26`, `1/2`.
fn dates(text: &str) -> Vec<Date> {
    let parts: Vec<&str> = text.trim_end_matches('.').split(['-', '/', '.']).collect();
    let numbers: Option<Vec<u32>> = parts.iter().map(|part| part.parse().ok()).collect();
    let order = |year: Option<u32>, month: u32, day: u32| Date { year, month, day };
    let readings = match numbers.as_deref() {
        Some(&[first, second, third]) if parts.first().is_some_and(|part| part.len() == 4) => {
            vec![order(Some(first), second, third)]
        }
        Some(&[first, second, third]) => {
            vec![order(Some(third), first, second), order(Some(third), second, first)]
        }
        Some(&[first, second]) => vec![order(None, first, second), order(None, second, first)],
        Some(_) | None => Vec::new(),
    };
    readings
        .into_iter()
        .filter(|date| (1..=12).contains(&date.month) && (1..=31).contains(&date.day))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_by_what_they_mean() {
        let check = |meant: &str, shown: &str, expected: Likeness| {
            assert_eq!(likeness(meant, shown), expected, "{meant:?} shown as {shown:?}");
        };
        check("East", "East", Likeness::Same);
        check("East", "east", Likeness::Other);
        check("007", "7", Likeness::Reformatted);
        check("1200", "1,200.00", Likeness::Reformatted);
        check("1200", "$1,200.00", Likeness::Reformatted);
        check("-3.5", "-$3.50", Likeness::Reformatted);
        check("0.5", "50%", Likeness::Reformatted);
        check("50%", "50.00%", Likeness::Reformatted);
        check("3.14159", "3.14", Likeness::Rounded);
        check("3.14159", "3.15", Likeness::Other);
        check("true", "TRUE", Likeness::Reformatted);
        check("2026-03-05", "03/05/26", Likeness::Reformatted);
        check("2026-03-05", "05.03.2026", Likeness::Reformatted);
        check("2026-03-05", "03/06/26", Likeness::Other);
        check("2026-03-05", "03/05/1926", Likeness::Other);
        check("1/2", "01/02/26", Likeness::Reformatted);
        check("1200", "Rate", Likeness::Other);
        check("100", "67.73", Likeness::Other);
    }

    #[test]
    fn formulas_are_compared_without_case_and_spaces() {
        assert!(same_formula("=sum(C2:C14)", "SUM(C2:C14)"));
        assert!(same_formula("=IF(A1; \"a b\" ;2)", "IF(A1,\"a b\",2)"));
        assert!(!same_formula("=SUM(C2:C14)", "SUM(C2:C15)"));
        assert!(same_formula("SUM(C2…", "=sum(C2:C14)") && !same_formula("SUM(C3…", "=sum(C2:C14)"));
        assert!(!same_formula("=A1&\"x\"", "A1&\"X\""));
        assert!(is_error("Err:502") && is_error("#NAME?") && is_error("#REF!") && is_error("#N/A"));
        assert!(!is_error("38709.83") && !is_error("#1 of the list"));
    }
}
