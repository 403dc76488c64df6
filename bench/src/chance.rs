//! Random numbers that depend on a seed alone.

/// A sequence of random numbers (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Chance {
    state: u64,
}

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next().checked_rem(end).unwrap_or(0)
    }

    /// One of the items.
    pub(crate) fn one_of<T: Copy>(&mut self, first: T, others: &[T]) -> T {
        let at = self.below(others.len() as u64 + 1);
        let others = usize::try_from(at).ok().and_then(|at| at.checked_sub(1)).and_then(|at| others.get(at));
        others.copied().unwrap_or(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_numbers_and_every_item_comes_up() {
        let numbers = |seed| {
            let mut chance = Chance::new(seed);
            [(); 5].map(|()| chance.below(1_000))
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        let mut chance = Chance::new(1);
        let found: std::collections::BTreeSet<u8> = (0..100).map(|_| chance.one_of(1, &[2, 3])).collect();
        assert_eq!(found, [1, 2, 3].into());
        assert_eq!(chance.below(0), 0);
    }
}
