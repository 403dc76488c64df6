//! Value of an expression.

use std::fmt;

use jiff::{Span, civil::Date};
use rust_decimal::{Decimal, MathematicalOps as _};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ExpressionValue {
    /// A number, and whether digits were lost on the way.
    Number(Decimal, Exactness),
    /// A day.
    Date(Date),
    /// A number of days, weeks, months or years.
    Span(Length),
    /// A word, such as the name of a weekday.
    Word(&'static str),
    /// The numbers and dates of several cells.
    List(Vec<ExpressionValue>),
}

/// The exactness of a number: complete or rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exactness {
    /// They are.
    Exact,
    /// A division or a root does not end.
    Rounded,
}

/// A length of time in the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Length {
    pub(super) days: i32,
    pub(super) months: i32,
}

impl Length {
    fn span(self, sign: i32) -> Option<Span> {
        let days = self.days.checked_mul(sign)?;
        let months = self.months.checked_mul(sign)?;
        Span::new().try_days(days).ok()?.try_months(months).ok()
    }
}

impl Exactness {
    const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Exact, Self::Exact) => Self::Exact,
            (_, _) => Self::Rounded,
        }
    }
}

const TOO_LARGE: &str = "the result is too large";

impl ExpressionValue {
    pub(super) const fn exact(number: Decimal) -> Self {
        Self::Number(number, Exactness::Exact)
    }

    /// Returns `true` if digits were lost.
    pub(super) const fn is_rounded(&self) -> bool {
        matches!(self, Self::Number(_, Exactness::Rounded))
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Number(..) => "a number",
            Self::Date(_) => "a date",
            Self::Span(_) => "a length of time",
            Self::Word(_) => "a word",
            Self::List(_) => "several cells; use sum, average, min, max or count",
        }
    }

    /// The number.
    pub(super) fn number(&self) -> Result<Decimal, String> {
        let Self::Number(number, _) = self else {
            return Err(format!("a number is needed where there is {}", self.kind()));
        };
        Ok(*number)
    }

    pub(super) fn date(&self) -> Result<Date, String> {
        let Self::Date(date) = self else {
            return Err(format!("a date is needed where there is {}", self.kind()));
        };
        Ok(*date)
    }

    fn mismatch<T>(&self, verb: &str, other: &Self) -> Result<T, String> {
        Err(format!("cannot {verb} {} and {}", self.kind(), other.kind()))
    }

    pub(super) fn plus(&self, other: &Self) -> Result<Self, String> {
        match (self, other) {
            (Self::Number(one, a), Self::Number(two, b)) => {
                Ok(Self::Number(one.checked_add(*two).ok_or(TOO_LARGE)?, a.and(*b)))
            }
            (Self::Date(date), Self::Span(length)) | (Self::Span(length), Self::Date(date)) => {
                moved(*date, *length, 1)
            }
            (Self::Span(one), Self::Span(two)) => Ok(Self::Span(Length {
                days: one.days.checked_add(two.days).ok_or(TOO_LARGE)?,
                months: one.months.checked_add(two.months).ok_or(TOO_LARGE)?,
            })),
            (one, two) => one.mismatch("add", two),
        }
    }

    pub(super) fn minus(&self, other: &Self) -> Result<Self, String> {
        match (self, other) {
            (Self::Number(one, a), Self::Number(two, b)) => {
                Ok(Self::Number(one.checked_sub(*two).ok_or(TOO_LARGE)?, a.and(*b)))
            }
            (Self::Date(date), Self::Span(length)) => moved(*date, *length, -1),
            (Self::Date(one), Self::Date(two)) => Ok(Self::exact(days_between(*two, *one)?.into())),
            (one, two) => one.mismatch("subtract", two),
        }
    }

    pub(super) fn times(&self, other: &Self) -> Result<Self, String> {
        match (self, other) {
            (Self::Number(one, a), Self::Number(two, b)) => {
                let product = one.checked_mul(*two).ok_or(TOO_LARGE)?;
                let digits = one.scale() + two.scale();
                let lost = if product.scale() < digits && digits > Decimal::MAX_SCALE {
                    Exactness::Rounded
                } else {
                    Exactness::Exact
                };
                Ok(Self::Number(product, a.and(*b).and(lost)))
            }
            (one, two) => one.mismatch("multiply", two),
        }
    }

    pub(super) fn over(&self, other: &Self) -> Result<Self, String> {
        match (self, other) {
            (Self::Number(_, _), Self::Number(two, _)) if two.is_zero() => Err("division by zero".to_owned()),
            (Self::Number(one, a), Self::Number(two, b)) => {
                let quotient = one.checked_div(*two).ok_or(TOO_LARGE)?;
                let is_exact = quotient.checked_mul(*two) == Some(*one);
                let ends = if is_exact { Exactness::Exact } else { Exactness::Rounded };
                Ok(Self::Number(quotient, a.and(*b).and(ends)))
            }
            (one, two) => one.mismatch("divide", two),
        }
    }

    pub(super) fn to_the(&self, other: &Self) -> Result<Self, String> {
        let (base, power) = (self.number()?, other.number()?);
        let whole = i64::try_from(power).ok().filter(|_| power.fract().is_zero());
        let whole = whole.ok_or("a power has to be a whole number")?;
        let result = base.checked_powi(whole).ok_or(TOO_LARGE)?;
        let exact = if whole >= 0 { Exactness::Exact } else { Exactness::Rounded };
        Ok(Self::Number(result, exact))
    }

    pub(super) fn negated(&self) -> Result<Self, String> {
        Self::exact(Decimal::ZERO).minus(self)
    }

    /// A hundredth of it.
    pub(super) fn percent(&self) -> Result<Self, String> {
        self.over(&Self::exact(Decimal::ONE_HUNDRED))
    }
}

fn moved(date: Date, length: Length, sign: i32) -> Result<ExpressionValue, String> {
    let span = length.span(sign).ok_or(TOO_LARGE)?;
    date.checked_add(span).map(ExpressionValue::Date).map_err(|_| TOO_LARGE.to_owned())
}

/// The number of days from one date to another.
pub(super) fn days_between(from: Date, to: Date) -> Result<i32, String> {
    let span = from.until(to).map_err(|_| TOO_LARGE.to_owned())?;
    Ok(span.get_days())
}

impl fmt::Display for ExpressionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number, _) => write!(f, "{}", number.normalize()),
            Self::Date(date) => write!(f, "{date}"),
            Self::Span(length) => write!(f, "{} months {} days", length.months, length.days),
            Self::Word(word) => f.write_str(word),
            Self::List(values) => {
                let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
                f.write_str(&texts.join(", "))
            }
        }
    }
}
