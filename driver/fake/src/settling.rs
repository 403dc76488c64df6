//! Waiting until the applications in memory are quiet.

use std::time::Duration;

use deskhand_desktop::{DesktopResult, ElementChangeKind, IdleReport, IdleWait, QuietLimits};
use deskhand_ui::{
    duration::milliseconds,
    ids::{ElementId, WindowId},
};

use crate::{FakeDesktop, stage::Stage};

/// A running watch of [`FakeDesktop`].
#[derive(Debug)]
pub struct FakeWatch {
    from: usize,
    damage: u64,
    app: Option<usize>,
}

impl IdleWait for FakeDesktop {
    type Watch = FakeWatch;

    async fn watch(&self, window: Option<WindowId>) -> DesktopResult<FakeWatch> {
        let stage = self.reach()?;
        let app = window.and_then(|window| stage.window(window)).map(|shown| shown.app);
        Ok(FakeWatch { from: stage.log.len(), damage: stage.damage, app })
    }

    async fn settle(&self, watch: FakeWatch, limits: QuietLimits) -> DesktopResult<IdleReport> {
        let mut stage = self.reach()?;
        let start = stage.now_ms;
        let end = start + milliseconds(limits.bound);
        let concerns = |app: usize| watch.app.is_none_or(|wanted| wanted == app);
        let count =
            |stage: &Stage| stage.log.iter().skip(watch.from).filter(|(app, _)| concerns(*app)).count();
        let mut seen = count(&stage);
        let mut last = (seen > 0).then_some(start);
        let timed_out = loop {
            let quiet_at = match last {
                Some(at) => at + milliseconds(limits.quiet),
                None => start + milliseconds(limits.first_change),
            };
            let happened = stage.advance(quiet_at.min(end));
            let now_seen = count(&stage);
            if now_seen > seen {
                seen = now_seen;
                last = Some(stage.now_ms);
            }
            if !happened {
                break quiet_at > end;
            }
        };
        let mut changes = Vec::new();
        for (app, change) in stage.log.iter().skip(watch.from) {
            if concerns(*app) && !changes.contains(change) && changes.len() < IdleReport::CHANGES_MAX {
                changes.push(change.clone());
            }
        }
        Ok(IdleReport {
            waited_for: Vec::new(),
            changes,
            damaged: stage.damage > watch.damage,
            waited_ms: stage.now_ms - start,
            timed_out,
        })
    }

    async fn sleeps_for(&self, _window: WindowId) -> DesktopResult<Duration> {
        let stage = self.reach()?;
        let until = |due: u64| Duration::from_millis(due.saturating_sub(stage.now_ms));
        Ok(stage.next_due_ms().map_or(Duration::MAX, until))
    }

    fn recently_changed(&self, elements: &[ElementId], _span: Duration) -> Vec<ElementId> {
        // Nothing is tracked: callers watch after their action.
        elements.to_vec()
    }

    fn attribute_to_action(&self, _element: ElementId) {}

    fn mark_self_changing(&self, _element: ElementId, _aspect: ElementChangeKind) {}

    fn is_self_changing(&self, _element: ElementId, _aspect: ElementChangeKind) -> bool {
        false
    }
}
