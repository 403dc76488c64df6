//! Reads an expression, and works it out.

use std::collections::BTreeMap;

use deskhand_ui::CellRange;
use jiff::civil::Date;
use rust_decimal::Decimal;

use super::{
    functions::call,
    numbers::{DecimalMark, shown},
    range_of,
    value::{ExpressionValue, Length},
};

/// The longest expression, in characters.
const LENGTH_MAX: usize = 2_000;
/// Maximum nesting depth of brackets.
const DEPTH_MAX: u32 = 40;

/// An expression that was read.
#[derive(Debug)]
pub(super) struct Expression(ExpressionNode);

#[derive(Debug)]
enum ExpressionNode {
    Value(ExpressionValue),
    Cells(CellRange),
    Negated(Box<ExpressionNode>),
    Percent(Box<ExpressionNode>),
    Two(Operator, Box<ExpressionNode>, Box<ExpressionNode>),
    Call(String, Vec<ExpressionNode>),
}

#[derive(Debug, Clone, Copy)]
enum Operator {
    Plus,
    Minus,
    Times,
    Over,
    Power,
}

/// The cells that an expression names.
#[derive(Debug)]
pub(super) struct ExpressionCells {
    rows: BTreeMap<String, Vec<Vec<String>>>,
    mark: Option<DecimalMark>,
}

impl ExpressionCells {
    pub(super) const fn new(mark: Option<DecimalMark>) -> Self {
        Self { rows: BTreeMap::new(), mark }
    }

    pub(super) fn keep(&mut self, range: CellRange, rows: Vec<Vec<String>>) {
        self.rows.insert(range.to_string(), rows);
    }

    /// The value of one cell, or those of several; empty cells and texts are left out of these.
    fn value(&self, range: CellRange) -> Result<ExpressionValue, String> {
        let rows = self.rows.get(&range.to_string()).ok_or_else(|| format!("{range} was not read"))?;
        let cells: Vec<&String> = rows.iter().flatten().collect();
        let read =
            |text: &&String| shown(text, self.mark).map_err(|problem| format!("in {range}, {problem}"));
        if range.cell_count() == 1 {
            let text = cells.first().map_or("", |text| text.as_str());
            let value = cells.first().map(read).transpose()?.flatten();
            return value.ok_or_else(|| format!("{range} shows no number but “{text}”"));
        }
        let values = cells.iter().map(read).collect::<Result<Vec<Option<ExpressionValue>>, String>>()?;
        Ok(ExpressionValue::List(values.into_iter().flatten().collect()))
    }
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// What cannot be read, with the place.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.chars().count() > LENGTH_MAX {
            return Err(format!("the expression is longer than {LENGTH_MAX} characters"));
        }
        let mut parser = ExpressionParser { rest: text.trim().trim_start_matches('='), depth: 0 };
        let node = parser.sum()?;
        if parser.rest.trim_start().is_empty() { Ok(Self(node)) } else { Err(parser.unexpected()) }
    }

    /// The cells that have to be read.
    pub(super) fn ranges(&self) -> Vec<CellRange> {
        let mut found = Vec::new();
        self.0.collect(&mut found);
        found
    }

    /// Works it out.
    ///
    /// # Errors
    /// What has no value.
    pub(super) fn value(&self, cells: &ExpressionCells) -> Result<ExpressionValue, String> {
        self.0.value(cells)
    }
}

impl ExpressionNode {
    fn collect(&self, found: &mut Vec<CellRange>) {
        match self {
            Self::Value(_) => {}
            Self::Cells(range) => {
                if !found.contains(range) {
                    found.push(*range);
                }
            }
            Self::Negated(node) | Self::Percent(node) => node.collect(found),
            Self::Two(_, one, two) => {
                one.collect(found);
                two.collect(found);
            }
            Self::Call(_, arguments) => arguments.iter().for_each(|node| node.collect(found)),
        }
    }

    fn value(&self, cells: &ExpressionCells) -> Result<ExpressionValue, String> {
        match self {
            Self::Value(value) => Ok(value.clone()),
            Self::Cells(range) => cells.value(*range),
            Self::Negated(node) => node.value(cells)?.negated(),
            Self::Percent(node) => node.value(cells)?.percent(),
            Self::Two(operator, one, two) => {
                let (one, two) = (one.value(cells)?, two.value(cells)?);
                match operator {
                    Operator::Plus => one.plus(&two),
                    Operator::Minus => one.minus(&two),
                    Operator::Times => one.times(&two),
                    Operator::Over => one.over(&two),
                    Operator::Power => one.to_the(&two),
                }
            }
            Self::Call(name, arguments) => {
                let values = arguments.iter().map(|node| node.value(cells)).collect::<Result<Vec<_>, _>>()?;
                call(name, &values)
            }
        }
    }
}

struct ExpressionParser<'a> {
    rest: &'a str,
    depth: u32,
}

impl<'a> ExpressionParser<'a> {
    fn unexpected(&self) -> String {
        let rest = self.rest.trim_start();
        if rest.is_empty() {
            return "the expression ends too early".to_owned();
        }
        let shown: String = rest.chars().take(20).collect();
        format!("`{shown}` is not expected there")
    }

    /// Takes one of these signs, with the operator that it stands for.
    fn sign(&mut self, signs: &[(&str, Operator)]) -> Option<Operator> {
        let rest = self.rest.trim_start();
        let (sign, operator) = signs.iter().find(|(sign, _)| rest.starts_with(sign))?;
        self.rest = rest.get(sign.len()..).unwrap_or_default();
        Some(*operator)
    }

    fn takes(&mut self, sign: &str) -> bool {
        self.sign(&[(sign, Operator::Plus)]).is_some()
    }

    fn sum(&mut self) -> Result<ExpressionNode, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("brackets are nested deeper than {DEPTH_MAX}"));
        }
        let mut node = self.product()?;
        while let Some(operator) =
            self.sign(&[("+", Operator::Plus), ("-", Operator::Minus), ("−", Operator::Minus)])
        {
            node = ExpressionNode::Two(operator, Box::new(node), Box::new(self.product()?));
        }
        self.depth -= 1;
        Ok(node)
    }

    fn product(&mut self) -> Result<ExpressionNode, String> {
        let mut node = self.signed()?;
        while let Some(operator) = self.sign(&[
            ("*", Operator::Times),
            ("×", Operator::Times),
            ("/", Operator::Over),
            ("÷", Operator::Over),
        ]) {
            node = ExpressionNode::Two(operator, Box::new(node), Box::new(self.signed()?));
        }
        Ok(node)
    }

    fn signed(&mut self) -> Result<ExpressionNode, String> {
        let mut negated = false;
        while self.takes("-") {
            negated = !negated;
        }
        let node = self.power()?;
        Ok(if negated { ExpressionNode::Negated(Box::new(node)) } else { node })
    }

    fn power(&mut self) -> Result<ExpressionNode, String> {
        let mut node = self.atom()?;
        while self.takes("%") {
            node = ExpressionNode::Percent(Box::new(node));
        }
        if self.takes("^") {
            return Ok(ExpressionNode::Two(Operator::Power, Box::new(node), Box::new(self.signed()?)));
        }
        Ok(node)
    }

    fn atom(&mut self) -> Result<ExpressionNode, String> {
        if self.takes("(") {
            let node = self.sum()?;
            return if self.takes(")") { Ok(node) } else { Err(self.unexpected()) };
        }
        let rest = self.rest.trim_start();
        match rest.chars().next() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(rest),
            Some(c) if c.is_ascii_alphabetic() || c == '$' => self.named(rest),
            _ => Err(self.unexpected()),
        }
    }

    /// A date, a number, or a number of days.
    fn number(&mut self, rest: &'a str) -> Result<ExpressionNode, String> {
        if let Some(date) = rest.get(..10).and_then(|text| text.parse::<Date>().ok()) {
            self.rest = rest.get(10..).unwrap_or_default();
            return Ok(ExpressionNode::Value(ExpressionValue::Date(date)));
        }
        let (digits, behind) = split(rest, |c| c.is_ascii_digit() || c == '.' || c == '_');
        let number: Decimal = digits
            .replace('_', "")
            .parse()
            .map_err(|_| format!("`{digits}` is no number; write decimals with a point"))?;
        self.rest = behind;
        let (word, after) = split(behind.trim_start(), |c| c.is_ascii_alphabetic());
        let days = |factor: i32| i32::try_from(number).ok().and_then(|count| count.checked_mul(factor));
        let length = match word {
            "day" | "days" => days(1).map(|days| Length { days, months: 0 }),
            "week" | "weeks" => days(7).map(|days| Length { days, months: 0 }),
            "month" | "months" => days(1).map(|months| Length { days: 0, months }),
            "year" | "years" => days(12).map(|months| Length { days: 0, months }),
            _ => return Ok(ExpressionNode::Value(ExpressionValue::exact(number))),
        };
        self.rest = after;
        let length = length.ok_or_else(|| format!("`{digits} {word}` has to be a whole number"))?;
        Ok(ExpressionNode::Value(ExpressionValue::Span(length)))
    }

    /// A function, or cells.
    fn named(&mut self, rest: &'a str) -> Result<ExpressionNode, String> {
        let (word, behind) = split(rest, |c| c.is_ascii_alphanumeric() || c == ':' || c == '$' || c == '_');
        self.rest = behind;
        if self.takes("(") {
            let mut arguments = Vec::new();
            while !self.takes(")") {
                arguments.push(self.sum()?);
                let goes_on = self.takes(",") || self.takes(";");
                if !goes_on && !self.rest.trim_start().starts_with(')') {
                    return Err(self.unexpected());
                }
            }
            return Ok(ExpressionNode::Call(word.to_lowercase(), arguments));
        }
        let range = range_of(&word.replace('$', ""));
        range
            .map(ExpressionNode::Cells)
            .ok_or_else(|| format!("`{word}` is neither a function nor a cell such as B3"))
    }
}

/// The start of a text of such letters, and what follows.
fn split(text: &str, belongs: fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.split_at(end)
}
