//! Automatic removal of experiences: old ones, those that keep failing, and those above the limit.

use super::model::{Experience, ExperienceKind, ExperienceOutcome};

/// Days after which what a session taught is forgotten if nobody used it.
pub const AGE_DAYS_MAX: u64 = 365;
/// Days after which a warning is forgotten if nobody used it: applications change.
pub const FAILED_AGE_DAYS_MAX: u64 = 90;
/// Number of failures after which an experience is forgotten, if it fails more often than it works.
pub const FAILURES_MAX: u32 = 3;
/// The most experiences. Beyond it, what was of no use for the longest time is forgotten, demonstrations last.
pub const EXPERIENCES_MAX: usize = 20_000;

/// Milliseconds of a day.
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Experiences to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forget {
    /// The experience with this id.
    Id(String),
    /// All about the application with this root.
    Application(String),
    /// All that were neither made nor used since this time, in milliseconds since 1970.
    Before(u64),
}

impl Forget {
    /// Returns `true` if it is about this experience.
    pub(crate) fn is_about(&self, experience: &Experience) -> bool {
        match self {
            Self::Id(id) => experience.id == *id,
            Self::Application(root) => experience.applications.iter().any(|name| name == root),
            Self::Before(time_ms) => experience.last_ms() < *time_ms,
        }
    }
}

/// Returns `true` if an experience is forgotten at this time. What the user showed does not age.
pub(crate) fn is_stale(experience: &Experience, now_ms: u64) -> bool {
    let uses = experience.uses;
    if uses.failed >= FAILURES_MAX && uses.failed > uses.succeeded {
        return true;
    }
    let days_max = match (experience.kind, experience.outcome) {
        (ExperienceKind::Demonstration, ExperienceOutcome::Worked | ExperienceOutcome::Failed) => {
            return false;
        }
        (ExperienceKind::Session, ExperienceOutcome::Worked) => AGE_DAYS_MAX,
        (ExperienceKind::Session, ExperienceOutcome::Failed) => FAILED_AGE_DAYS_MAX,
    };
    experience.last_ms().saturating_add(days_max * DAY_MS) < now_ms
}

/// The ids of what is forgotten at this time, of all experiences.
pub(crate) fn stale<'a>(all: impl Iterator<Item = &'a Experience>, now_ms: u64) -> Vec<String> {
    stale_beyond(all, now_ms, EXPERIENCES_MAX)
}

fn stale_beyond<'a>(all: impl Iterator<Item = &'a Experience>, now_ms: u64, most: usize) -> Vec<String> {
    let (stale, mut kept): (Vec<_>, Vec<_>) = all.partition(|experience| is_stale(experience, now_ms));
    kept.sort_by_key(|experience| (experience.kind, experience.last_ms()));
    let too_many = kept.len().saturating_sub(most);
    stale.into_iter().chain(kept.into_iter().take(too_many)).map(|one| one.id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experience::{Uses, sample};

    fn made(day: u64, kind: ExperienceKind, outcome: ExperienceOutcome, uses: Uses) -> Experience {
        Experience { at_ms: day * DAY_MS, kind, outcome, uses, ..sample(usize::try_from(day).unwrap()) }
    }

    #[test]
    fn old_and_failing_experiences_are_stale() {
        let check = |kind, outcome, uses: Uses, day: u64, expected: bool| {
            let one = made(100, kind, outcome, uses);
            assert_eq!(is_stale(&one, day * DAY_MS), expected, "{kind:?} {outcome:?} {uses:?} {day}");
        };
        let none = Uses::default();
        check(ExperienceKind::Session, ExperienceOutcome::Worked, none, 465, false);
        check(ExperienceKind::Session, ExperienceOutcome::Worked, none, 466, true);
        check(ExperienceKind::Session, ExperienceOutcome::Failed, none, 190, false);
        check(ExperienceKind::Session, ExperienceOutcome::Failed, none, 191, true);
        check(ExperienceKind::Demonstration, ExperienceOutcome::Worked, none, 9_999, false);
        check(
            ExperienceKind::Session,
            ExperienceOutcome::Worked,
            Uses { last_ms: 300 * DAY_MS, ..none },
            600,
            false,
        );
        check(ExperienceKind::Session, ExperienceOutcome::Worked, none, 0, false);
        check(ExperienceKind::Session, ExperienceOutcome::Worked, Uses { failed: 2, ..none }, 101, false);
        check(
            ExperienceKind::Demonstration,
            ExperienceOutcome::Worked,
            Uses { failed: 3, ..none },
            101,
            true,
        );
        check(
            ExperienceKind::Session,
            ExperienceOutcome::Worked,
            Uses { failed: 3, succeeded: 3, ..none },
            101,
            false,
        );
    }

    #[test]
    fn beyond_the_limit_the_least_useful_go_first() {
        let session = |day| made(day, ExperienceKind::Session, ExperienceOutcome::Worked, Uses::default());
        let shown = made(1, ExperienceKind::Demonstration, ExperienceOutcome::Worked, Uses::default());
        let all = [session(5), shown.clone(), session(3), session(4)];
        let gone = stale_beyond(all.iter(), 6 * DAY_MS, 2);
        assert_eq!(gone, [all[2].id.clone(), all[3].id.clone()]);
        assert_eq!(stale_beyond(all.iter(), 6 * DAY_MS, 0).last(), Some(&shown.id));
        assert!(stale_beyond(all.iter(), 6 * DAY_MS, 4).is_empty());
    }

    #[test]
    fn what_is_asked_to_be_forgotten_is_told_apart() {
        let one = Experience {
            applications: vec!["calc".to_owned()],
            ..made(2, ExperienceKind::Session, ExperienceOutcome::Worked, Uses::default())
        };
        assert!(Forget::Id(one.id.clone()).is_about(&one));
        assert!(!Forget::Id("other".to_owned()).is_about(&one));
        assert!(Forget::Application("calc".to_owned()).is_about(&one));
        assert!(!Forget::Application("writer".to_owned()).is_about(&one));
        assert!(Forget::Before(2 * DAY_MS + 1).is_about(&one));
        assert!(!Forget::Before(2 * DAY_MS).is_about(&one));
    }
}
