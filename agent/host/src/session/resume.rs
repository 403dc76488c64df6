//! Resumes a session that was stopped or whose process died.

use deskhand_runtime::{SessionStore, UnsealedJournalPolicy};

use super::{
    PreparedSession, SessionError, SessionRequest,
    find::{find, hold},
    plan::SessionPlan,
};
use crate::{HostError, agents::HostResources, config::LoadedConfig};

pub(crate) fn resume(
    loaded: &LoadedConfig,
    means: HostResources<'_>,
    store: &SessionStore,
    (name, unsealed): (&str, UnsealedJournalPolicy),
    request: SessionRequest,
) -> Result<PreparedSession, HostError> {
    let held = hold(find(store, name)?, unsealed)?;
    let mut plan = SessionPlan::resumed(loaded, means, request, &held)?;
    let mut again = None;
    if !held.in_round() && plan.requests.is_empty() {
        let Some(request) = held.unfinished_request() else {
            let (session, has_ended) = (held.id().0, held.has_ended());
            return Err(SessionError::NothingToResume { session, has_ended }.into());
        };
        again = Some(request.text.clone());
        plan.requests.push(request);
    }
    Ok(PreparedSession::resumed(plan, held, !loaded.chooses_model(), again))
}
