//! Consistency of the mirror with the application after many edits.

use deskhand_desktop::{InputInjection as _, TreeLimits};
use serde_json::{Value, json};
use std::time::Duration;

use crate::{Failure, stage::Stage};

/// How many edits are made between comparisons.
const VERIFY_EVERY: usize = 50;

/// Deterministic pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Types, moves, scrolls, formats and undoes in a sheet.
pub(crate) async fn measure(stage: &Stage, count: usize) -> Result<Value, Failure> {
    let desktop = &stage.desktop;
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let (mut checks, mut differences) = (0, Vec::new());
    for edit in 1..=count {
        match dice.roll(8) {
            0..=2 => desktop.type_text(&format!("{}\n", dice.roll(100_000))).await?,
            3 => desktop.type_text(&format!("word {}\t", dice.roll(1000))).await?,
            4 => {
                let keys = ["Up", "Down", "Left", "Right", "Page_Down", "Page_Up", "ctrl+Home"];
                for _ in 0..3 {
                    let at = usize::try_from(dice.roll(7))?;
                    desktop.press(&keys.get(at).copied().unwrap_or("Up").parse()?).await?;
                }
            }
            5 => desktop.press(&"ctrl+z".parse()?).await?,
            6 => desktop.press(&"ctrl+b".parse()?).await?,
            _ => {
                let down = if dice.roll(2) == 0 { 2 } else { -2 };
                desktop.scroll(stage.window.bounds.center(), 0, down).await?;
            }
        }
        stage.settle(Duration::from_millis(30)).await?;
        if edit % VERIFY_EVERY == 0 || edit == count {
            checks += 1;
            stage.settle(Duration::from_millis(300)).await?;
            differences.extend(desktop.verify_tree(stage.window.id, TreeLimits::default()).await?);
        }
    }
    Ok(json!({ "count": count, "checks": checks, "differences": differences }))
}
