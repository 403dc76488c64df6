//! The effect that the session wants, and the commands that were refused before it.

use serde::{Deserialize, Serialize};

use super::effect::{Effect, EffectRecord, RefusedCommand, StepRef};
use crate::model::ModelRequest;
use deskhand_ui::ids::EffectId;

/// The pending effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct EffectLedger {
    pending: Option<EffectRecord>,
    /// The commands that were refused since the last effect.
    #[serde(default)]
    refused: Vec<RefusedCommand>,
    next: u64,
}

impl Default for EffectLedger {
    fn default() -> Self {
        Self { pending: None, refused: Vec::new(), next: 1 }
    }
}

impl EffectLedger {
    /// The pending effect; `None` once the session has ended.
    pub(super) const fn pending(&self) -> Option<&EffectRecord> {
        self.pending.as_ref()
    }

    /// The id of the next effect.
    pub(super) const fn next_id(&self) -> EffectId {
        EffectId(self.next)
    }

    /// Makes an effect the pending one.
    pub(super) fn want(&mut self, round: u32, step: Option<StepRef>, effect: Effect) {
        let id = self.next_id();
        self.next = self.next.saturating_add(1);
        let refused = std::mem::take(&mut self.refused);
        self.pending = Some(EffectRecord { id, round, step, effect, refused });
    }

    /// Ends the session.
    pub(super) fn end(&mut self) {
        self.pending = None;
    }

    /// Returns `true` if this effect is the pending one, so that it is in progress.
    pub(super) fn is_pending(&self, effect: Option<EffectId>) -> bool {
        effect.is_some() && self.pending.as_ref().map(|pending| pending.id) == effect
    }

    /// The pending request to a model.
    pub(super) fn asked(&self) -> Option<&ModelRequest> {
        if let Effect::Ask { request } = &self.pending.as_ref()?.effect { Some(request) } else { None }
    }

    /// Adds commands that were refused.
    pub(super) fn refuse(&mut self, refused: &mut Vec<RefusedCommand>) {
        self.refused.append(refused);
    }

    /// Keeps commands that were refused before an effect that is replaced: they are told with the one in its place.
    pub(super) fn keep_refused(&mut self) {
        if let Some(pending) = &mut self.pending {
            let later = std::mem::take(&mut self.refused);
            self.refused = std::mem::take(&mut pending.refused);
            self.refused.extend(later);
        }
    }

    /// Puts them back, because the pending effect stays as it is.
    pub(super) fn take_back_refused(&mut self) {
        if let Some(pending) = &mut self.pending
            && pending.refused.is_empty()
        {
            pending.refused = std::mem::take(&mut self.refused);
        }
    }
}
