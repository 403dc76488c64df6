//! Numbers that look like chance and are the same for the same seed.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use super::faults::{Tail, seconds};

/// Heaviness of a [`Tail`]: the exponent of its Pareto distribution.
const HEAVINESS: f64 = 1.5;

/// A generator: SplitMix64, by Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
#[derive(Debug)]
pub struct Chance(AtomicU64);

impl Chance {
    /// One with a seed.
    pub const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// The next number.
    pub fn next(&self) -> u64 {
        let state =
            self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed).wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below another one; 0 below 0.
    pub fn below(&self, most: u64) -> u64 {
        self.next().checked_rem(most).unwrap_or_default()
    }

    /// A number above 0 and up to 1.
    fn part(&self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Returns `true` if something happens that happens so often in a million.
    pub fn happens(&self, in_a_million: u32) -> bool {
        self.below(1_000_000) < u64::from(in_a_million)
    }

    /// A time between two others, in whole microseconds.
    pub fn between(&self, shortest: Duration, longest: Duration) -> Duration {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let span = micros(longest.saturating_sub(shortest));
        shortest.saturating_add(Duration::from_micros(self.below(span.saturating_add(1))))
    }

    /// A number between two others.
    pub(super) fn within(&self, (least, most): (f64, f64)) -> f64 {
        least + (most - least) * self.part()
    }

    /// A time that is mostly short.
    pub(super) fn tail(&self, tail: Tail) -> Duration {
        let time_ms = tail.shortest_ms * self.part().powf(-1.0 / HEAVINESS);
        seconds(time_ms.min(tail.longest_ms) / 1_000.0)
    }

    /// Returns the time until the next occurrence of an event that occurs every so many seconds on average,
    /// independent of the last one.
    pub(super) fn until(&self, every_s: f64) -> Duration {
        seconds(-self.part().ln() * every_s)
    }
}
