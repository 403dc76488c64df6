//! Circuit breaker for endpoints that keep failing, shared by this process.
//!
//! After some consecutive requests that an endpoint could not answer, it gets one request at a time, without
//! retries, until it answers again. If there is a backup, the backup gets the requests instead until the endpoint
//! has rested.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use deskhand_machine::model::ModelFailureKind as Kind;
use tokio::time::Instant;

/// Number of consecutive failures after which an endpoint rests.
const FAILURES_MAX: u32 = 2;
/// First rest period. Doubles with each further failure.
const REST_FIRST: Duration = Duration::from_secs(30);
/// The longest rest.
const REST_MAX: Duration = Duration::from_secs(600);

/// All endpoints of this process, by address and model: sessions side by side share what they learn.
static KNOWN: Mutex<BTreeMap<String, Arc<Breaker>>> = Mutex::new(BTreeMap::new());

/// Failure state of an endpoint.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<BreakerState>);

#[derive(Debug, Clone, Copy, Default)]
struct BreakerState {
    /// Questions in a row that failed.
    failures: u32,
    /// When it may be asked again, if it rests.
    until: Option<Instant>,
}

impl Breaker {
    /// That of an endpoint.
    pub(super) fn of(url: &str, model: &str) -> Arc<Self> {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(format!("{model} {url}")).or_default())
    }

    fn state(&self) -> BreakerState {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, state: BreakerState) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    /// Returns the number of consecutive failures, if there are so many that the endpoint is no longer retried.
    pub(super) fn is_tripped(&self) -> Option<u32> {
        Some(self.state().failures).filter(|failures| *failures >= FAILURES_MAX)
    }

    /// Returns the remaining rest period; `None` if the endpoint may be used.
    pub(super) fn rests(&self, now: Instant) -> Option<Duration> {
        let until = self.state().until?;
        until.checked_duration_since(now).filter(|left| !left.is_zero())
    }

    /// A question was answered, or not for a reason that lies in the question.
    pub(super) fn succeeded(&self) {
        self.set(BreakerState::default());
    }

    /// A question could not be answered.
    pub(super) fn failed(&self, kind: Kind, now: Instant) {
        match kind {
            Kind::Unreachable
            | Kind::Server
            | Kind::TimedOut
            | Kind::CutShort
            | Kind::RateLimited
            | Kind::Malformed => {
                let failures = self.state().failures.saturating_add(1);
                let beyond = failures.checked_sub(FAILURES_MAX);
                let rest = beyond.map(|beyond| REST_FIRST.saturating_mul(1 << beyond.min(10)).min(REST_MAX));
                self.set(BreakerState { failures, until: rest.map(|rest| now + rest) });
            }
            // The next question fares no better or worse: these are answered at once.
            Kind::Unauthorized | Kind::NotFound | Kind::Rejected | Kind::ScriptMismatch => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_rests_longer_with_each_failure_until_it_answers() {
        let (breaker, now) = (Breaker::default(), Instant::now());
        breaker.failed(Kind::Server, now);
        assert_eq!((breaker.is_tripped(), breaker.rests(now)), (None, None), "one failure is chance");
        let mut rests = Vec::new();
        for _ in 0..7 {
            breaker.failed(Kind::Unreachable, now);
            rests.push(breaker.rests(now).unwrap().as_secs());
        }
        assert_eq!(rests, [30, 60, 120, 240, 480, 600, 600]);
        assert_eq!(breaker.is_tripped(), Some(8));
        assert_eq!(breaker.rests(now + REST_MAX), None);
        breaker.failed(Kind::Rejected, now);
        assert_eq!(breaker.is_tripped(), Some(8), "a refusal says nothing of the endpoint");
        breaker.succeeded();
        assert_eq!((breaker.is_tripped(), breaker.rests(now)), (None, None));
    }

    #[test]
    fn endpoints_are_known_by_address_and_model() {
        let one = Breaker::of("http://127.0.0.1:1/v1", "a");
        one.failed(Kind::Server, Instant::now());
        one.failed(Kind::Server, Instant::now());
        assert_eq!(Breaker::of("http://127.0.0.1:1/v1", "a").is_tripped(), Some(2));
        assert_eq!(Breaker::of("http://127.0.0.1:1/v1", "b").is_tripped(), None);
        assert_eq!(Breaker::of("http://127.0.0.1:2/v1", "a").is_tripped(), None);
    }
}
