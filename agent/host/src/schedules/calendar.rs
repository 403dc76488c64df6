//! When a schedule is due: calendar expressions of systemd, as far as the service can work them out itself.
//!
//! `daily`, `Mon..Fri 07:00`, `*-*-01 09:30`, `*:00/15`: days of the week, or days of the month and months, and a time with hours and
//! minutes. An expression is kept as lists of numbers and written anew, so nothing else can stand in a unit file.

use std::{fmt, str::FromStr};

use jiff::{Zoned, civil::DateTime, tz::TimeZone};

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const FORMS: &str =
    "write it as `daily`, `Mon..Fri 07:00`, `Mon,Wed 07:00,19:30`, `*-*-01 09:30` or `*:00/15`";

/// A calendar expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calendar {
    /// Days of the week, from 1 for Monday; all if there is none.
    days: Vec<u8>,
    /// Empty lists are every month, day, hour and minute.
    months: Vec<u8>,
    month_days: Vec<u8>,
    hours: Vec<u8>,
    minutes: Vec<u8>,
}

impl FromStr for Calendar {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let whole = match text.to_lowercase().as_str() {
            "hourly" => "*-*-* *:00",
            "daily" => "*-*-* 00:00",
            "weekly" => "Mon *-*-* 00:00",
            "monthly" => "*-*-01 00:00",
            _ => text,
        };
        Self::of_parts(whole).ok_or_else(|| format!("`{text}` is no time that can be kept; {FORMS}"))
    }
}

impl Calendar {
    fn of_parts(text: &str) -> Option<Self> {
        let mut parts: Vec<&str> = text.split_whitespace().collect();
        let time = parts.pop_if(|part| part.contains(':'))?;
        let date = parts.pop_if(|part| part.contains('-'));
        let days = parts.pop();
        if !parts.is_empty() {
            return None;
        }
        let days = days.map_or_else(|| Some(Vec::new()), days_of)?;
        let (months, month_days) = date.map_or_else(|| Some((Vec::new(), Vec::new())), date_of)?;
        let (hours, minutes) = time_of(time)?;
        let calendar = Self { days, months, month_days, hours, minutes };
        // Whether both must hold, or one of them, is another question in every notation.
        let is_plain = calendar.days.is_empty() || calendar.month_days.is_empty();
        // The 30th of February never comes.
        (is_plain && calendar.next(&Zoned::now()).is_some()).then_some(calendar)
    }

    /// The first time after another one, in its time zone.
    pub fn next(&self, after: &Zoned) -> Option<Zoned> {
        const TRIES: usize = 50;
        let list = |numbers: &[u8]| match numbers {
            [] => "*".to_owned(),
            numbers => joined(numbers, |number| number.to_string()),
        };
        let fields = [&self.minutes, &self.hours, &self.month_days, &self.months, &self.days];
        let pattern = fields.map(|numbers| list(numbers)).join(" ");
        let crontab = cronexpr::parse_crontab(&format!("{pattern} UTC")).ok()?;
        // Worked out on the clock on the wall. Where that is put back an hour, a time that was before is passed over.
        let mut wall = after.datetime();
        for _ in 0..TRIES {
            wall = next_on_the_wall(&crontab, wall)?;
            let next = wall.to_zoned(after.time_zone().clone()).ok()?;
            if next > *after {
                return Some(next);
            }
        }
        None
    }
}

fn next_on_the_wall(crontab: &cronexpr::Crontab, wall: DateTime) -> Option<DateTime> {
    let from = wall.to_zoned(TimeZone::UTC).ok()?.timestamp();
    let from = cronexpr::MakeTimestamp::from_millisecond(from.as_millisecond()).ok()?;
    Some(crontab.find_next(from).ok()?.datetime())
}

/// As systemd has it: `Mon..Fri *-*-* 07:00,30:00`.
impl fmt::Display for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |numbers: &[u8]| match numbers {
            [] => "*".to_owned(),
            numbers => joined(numbers, |number| format!("{number:02}")),
        };
        if let (Some(first), Some(last)) = (self.days.first(), self.days.last()) {
            let name =
                |day: u8| DAYS.get(usize::from(day).wrapping_sub(1)).copied().unwrap_or("Mon").to_owned();
            let is_range = self.days.len() > 2 && usize::from(last - first) == self.days.len() - 1;
            match is_range {
                true => write!(f, "{}..{} ", name(*first), name(*last))?,
                false => write!(f, "{} ", joined(&self.days, name))?,
            }
        }
        let [months, days, hours, minutes] =
            [&self.months, &self.month_days, &self.hours, &self.minutes].map(|numbers| list(numbers));
        write!(f, "*-{months}-{days} {hours}:{minutes}:00")
    }
}

fn joined(numbers: &[u8], name: impl Fn(u8) -> String) -> String {
    numbers.iter().map(|number| name(*number)).collect::<Vec<_>>().join(",")
}

/// `Mon..Fri`, `Mon,Wed`.
fn days_of(text: &str) -> Option<Vec<u8>> {
    let day = |name: &str| {
        let known = DAYS.iter().zip(1_u8..);
        known.filter(|(day, _)| day.eq_ignore_ascii_case(name)).map(|(_, number)| number).next()
    };
    let mut days = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            Some((first, last)) => {
                let (first, last) = (day(first)?, day(last)?);
                if first > last {
                    return None;
                }
                days.extend(first..=last);
            }
            None => days.push(day(part)?),
        }
    }
    Some(sorted(days))
}

/// `*-*-01`: the months and days of the month.
fn date_of(text: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut parts = text.split('-');
    let parts = [parts.next()?, parts.next()?, parts.next()?, parts.next().unwrap_or_default()];
    match parts {
        ["*", months, days, ""] => Some((numbers(months, 1, 12)?, numbers(days, 1, 31)?)),
        _ => None,
    }
}

/// `07:00`: the hours and minutes. Seconds are none.
fn time_of(text: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    let text = if text.matches(':').count() == 2 { text.strip_suffix(":00")? } else { text };
    let (hours, minutes) = text.split_once(':')?;
    Some((numbers(hours, 0, 23)?, numbers(minutes, 0, 59)?))
}

/// `*`, `07`, `07,19`, `9..17`, `00/15`: numbers from `least` to `most`; none for all.
fn numbers(text: &str, least: u8, most: u8) -> Option<Vec<u8>> {
    let number = |text: &str| {
        let is_number = (1..=2).contains(&text.len()) && text.chars().all(|c| c.is_ascii_digit());
        let number = is_number.then(|| text.parse::<u8>().ok()).flatten();
        number.filter(|number| (least..=most).contains(number))
    };
    if text == "*" {
        return Some(Vec::new());
    }
    let mut all = Vec::new();
    for part in text.split(',') {
        if let Some((first, step)) = part.split_once('/') {
            let first = if first == "*" { least } else { number(first)? };
            let step = step.parse::<u8>().ok().filter(|step| *step > 0)?;
            all.extend((first..=most).step_by(usize::from(step)));
        } else if let Some((first, last)) = part.split_once("..") {
            all.extend(number(first)?..=number(last)?);
        } else {
            all.push(number(part)?);
        }
    }
    Some(sorted(all)).filter(|all| !all.is_empty())
}

fn sorted(mut numbers: Vec<u8>) -> Vec<u8> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const FRIDAY: &str = "2026-11-27T17:10:00+01:00[Europe/Berlin]";

    fn next(text: &str, after: &str) -> String {
        let calendar: Calendar = text.parse().unwrap();
        let next = calendar.next(&after.parse().unwrap()).unwrap();
        next.strftime("%a %Y-%m-%d %H:%M %:z").to_string()
    }

    #[test]
    fn expressions_are_written_anew_and_have_a_next_time() {
        let check = |text: &str, written: &str, next_time: &str| {
            assert_eq!(text.parse::<Calendar>().unwrap().to_string(), written, "{text}");
            assert_eq!(next(text, FRIDAY), next_time, "{text}");
        };
        check("daily", "*-*-* 00:00:00", "Sat 2026-11-28 00:00 +01:00");
        check("hourly", "*-*-* *:00:00", "Fri 2026-11-27 18:00 +01:00");
        check("weekly", "Mon *-*-* 00:00:00", "Mon 2026-11-30 00:00 +01:00");
        check("monthly", "*-*-01 00:00:00", "Tue 2026-12-01 00:00 +01:00");
        check("Mon..Fri 07:00", "Mon..Fri *-*-* 07:00:00", "Mon 2026-11-30 07:00 +01:00");
        check("sun,sat *-*-* 7,19:05", "Sat,Sun *-*-* 07,19:05:00", "Sat 2026-11-28 07:05 +01:00");
        check("*-*-01,15 09:30", "*-*-01,15 09:30:00", "Tue 2026-12-01 09:30 +01:00");
        check("*-02-29 12:00", "*-02-29 12:00:00", "Tue 2028-02-29 12:00 +01:00");
        check("*:00/15", "*-*-* *:00,15,30,45:00", "Fri 2026-11-27 17:15 +01:00");
        check("9..17:00:00", "*-*-* 09,10,11,12,13,14,15,16,17:00:00", "Sat 2026-11-28 09:00 +01:00");
        assert_eq!(next("02:30", "2026-03-28T12:00:00+01:00[Europe/Berlin]"), "Sun 2026-03-29 03:30 +02:00");
        assert_eq!(next("02:30", "2026-10-24T12:00:00+02:00[Europe/Berlin]"), "Sun 2026-10-25 02:30 +02:00");
        assert_eq!(next("02:30", "2026-10-25T02:30:00+01:00[Europe/Berlin]"), "Mon 2026-10-26 02:30 +01:00");
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        let wrong = [
            "",
            "07",
            "25:00",
            "07:60",
            "Fri..Mon 07:00",
            "Mon *-*-13 07:00",
            "*-02-30 07:00",
            "2026-01-01 07:00",
            "07:00\nExecStart=/bin/sh",
            "07:00 %n",
            "$HOME 07:00",
            "Mon 07:00 07:00",
            "07:00:30",
            "*:00/0",
            "+7:00",
            "Someday 07:00",
        ];
        for text in wrong {
            assert!(text.parse::<Calendar>().is_err(), "{text:?}");
        }
    }

    /// systemd says the same, where it is.
    #[test]
    fn systemd_agrees() {
        let ask = |arguments: &[&str]| {
            let asked =
                Command::new("systemd-analyze").arg("calendar").args(arguments).env("TZ", "UTC").output();
            asked.ok().map(|asked| String::from_utf8_lossy(&asked.stdout).into_owned())
        };
        for text in ["daily", "Mon..Fri 07:00", "*-*-01,15 09:30", "*:00/15", "*-02-29 12:00", "Sun 9..17:05"]
        {
            let calendar: Calendar = text.parse().unwrap();
            let Some(of_text) = ask(&["--base-time=2026-11-27 17:10:00", text]) else { return };
            let next = |shown: &str| {
                shown.lines().find_map(|line| Some(line.split_once("Next elapse: ")?.1.to_owned()))
            };
            let own = ask(&["--base-time=2026-11-27 17:10:00", &calendar.to_string()]).unwrap();
            assert_eq!(next(&own), next(&of_text), "{text}");
            let after: Zoned = "2026-11-27T17:10:00+00:00[UTC]".parse().unwrap();
            let ours = calendar.next(&after).unwrap().strftime("%a %Y-%m-%d %H:%M:%S UTC").to_string();
            assert_eq!(next(&of_text).unwrap(), ours, "{text}");
        }
    }
}
