//! Resumes a session that was stopped or whose process died.

use deskhand_runtime::{SessionStore, Unsealed};

use super::{
    Session, SessionError, SessionRequest,
    find::{find, hold},
    plan::Plan,
};
use crate::{HostError, agents::Means, config::Loaded};

pub(crate) fn resume(
    loaded: &Loaded,
    means: Means<'_>,
    store: &SessionStore,
    (name, unsealed): (&str, Unsealed),
    request: SessionRequest,
) -> Result<Session, HostError> {
    let held = hold(find(store, name)?, unsealed)?;
    let mut plan = Plan::resumed(loaded, means, request, &held)?;
    let mut again = None;
    if !held.in_round() && plan.requests.is_empty() {
        let Some(request) = held.unfinished_request() else {
            let (session, has_ended) = (held.id().0, held.has_ended());
            return Err(SessionError::NothingToResume { session, has_ended }.into());
        };
        again = Some(request.text.clone());
        plan.requests.push(request);
    }
    Ok(Session::resumed(plan, held, !loaded.chooses_model(), again))
}
