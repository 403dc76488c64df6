//! Expressions and what they come to.

use super::{
    numbers::{DecimalMark, shown},
    parser::{Expression, ExpressionCells},
};

/// The value of an expression; cells are those of this table.
fn value(text: &str) -> Result<String, String> {
    let expression = Expression::parse(text)?;
    let mut cells = ExpressionCells::new(None);
    let table = [["Item", "Price"], ["Pen", "1.50 €"], ["Ink", "12.75 €"], ["Total", ""]];
    for range in expression.ranges() {
        let rows = table.iter().enumerate().filter_map(|(row, cells)| {
            let row = u32::try_from(row).unwrap();
            let inside = (range.first.row..=range.last.row).contains(&row);
            let columns = range.first.column as usize..=range.last.column as usize;
            inside.then(|| cells[columns].iter().map(ToString::to_string).collect())
        });
        cells.keep(range, rows.collect());
    }
    let value = expression.value(&cells)?;
    let mark = if value.is_rounded() { "~" } else { "" };
    Ok(format!("{mark}{value}"))
}

#[test]
fn decimals_are_exact() {
    let check = |text: &str, expected: &str| assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
    check("0.1 + 0.2", "0.3");
    check("1.10 * 3", "3.3");
    check("2 + 3 * 4 - 6 / 2", "11");
    check("-(2 + 3) * -2", "10");
    check("2 ^ 10", "1024");
    check("19% * 200", "38");
    check("100 + 19%", "100.19");
    check("1 / 8", "0.125");
    check("1 / 3", "~0.3333333333333333333333333333");
    check("round(2.345, 2)", "2.35");
    check("round(-2.5)", "-3");
    check("12345678901234567.89 + 0.01", "12345678901234567.9");
    check("1_000 × 2 ÷ 4", "500");
    check("sqrt(2.25)", "1.5");
    check("max(3, 9, 4) - min(3; 9; 4)", "6");
    check("abs(-3) + floor(2.9) + ceil(2.1)", "8");
    check("=count(1, 2, 3)", "3");
}

#[test]
fn dates_follow_the_calendar() {
    let check = |text: &str, expected: &str| assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
    check("2026-11-24 + 30 days", "2026-12-24");
    check("2026-01-31 + 1 month", "2026-02-28");
    check("2024-02-29 - 1 year", "2023-02-28");
    check("2026-03-01 - 2026-02-01", "28");
    check("days(2026-01-01, 2027-01-01)", "365");
    check("weekday(2026-11-24)", "Tuesday");
    check("2026-11-24 + 2 weeks + 1 day", "2026-12-09");
    check("max(2026-01-05, 2026-01-07, 2026-01-06)", "2026-01-07");
}

#[test]
fn cells_are_read_by_what_they_show() {
    let check = |text: &str, expected: &str| assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
    check("sum(B2:B4)", "14.25");
    check("round(sum(B2:B3) * 1.19, 2)", "16.96");
    check("B3 - $B$2", "11.25");
    check("average(B1:B4)", "7.125");
    check("count(A1:B4)", "2");
    assert!(value("A2 + 1").unwrap_err().contains("A2 shows no number but “Pen”"));
}

#[test]
fn what_cannot_be_worked_out_says_why() {
    let check = |text: &str, expected: &str| {
        let problem = value(text).unwrap_err();
        assert!(problem.contains(expected), "{text}: {problem}");
    };
    check("1 / 0", "division by zero");
    check("2 +", "ends too early");
    check("2 + )", "`)` is not expected");
    check("3 apples", "`apples` is not expected");
    check("1,5 + 2", "`,5 + 2` is not expected");
    check("foo(2)", "there is no function `foo`");
    check("price * 2", "`price` is neither a function nor a cell");
    check("2026-11-24 * 2", "cannot multiply a date and a number");
    check("B2:B3 + 1", "several cells; use sum");
    check("10 ^ 1000", "too large");
    check("2 ^ 0.5", "a power has to be a whole number");
    check(&format!("{}1{}", "(".repeat(50), ")".repeat(50)), "nested deeper");
    check(&"9".repeat(60), "is no number");
}

#[test]
fn the_number_of_a_cell_is_read_in_any_country_or_not_at_all() {
    let check = |text: &str, mark: Option<DecimalMark>, expected: Option<&str>| {
        let found = shown(text, mark).unwrap().map(|value| value.to_string());
        assert_eq!(found.as_deref(), expected, "{text}");
    };
    check("1.234,56 €", None, Some("1234.56"));
    check("$1,234.56", None, Some("1234.56"));
    check("CHF 1'234.50", None, Some("1234.5"));
    check("1 234,5", None, Some("1234.5"));
    check("12 %", None, Some("0.12"));
    check("(5.00)", None, Some("-5"));
    check("-7", None, Some("-7"));
    check("1,234,567", None, Some("1234567"));
    check("1.234", Some(DecimalMark::Point), Some("1.234"));
    check("1.234", Some(DecimalMark::Comma), Some("1234"));
    check("0.125", None, Some("0.125"));
    check("2026-11-24", None, Some("2026-11-24"));
    for text in ["", "Total", "invoice 12", "12:30", "3 apples"] {
        check(text, None, None);
    }
    assert!(shown("1.234", None).unwrap_err().contains("may be 1234 or 1.234"));
}
