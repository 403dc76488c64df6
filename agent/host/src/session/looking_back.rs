//! Stored sessions as data for people who look back: the table of all, charts, two side by side, one as a time line.

use deskhand_runtime::{
    Catalogue, Query, SessionFolder, SessionStore, SessionTable,
    catalogue::Day,
    comparison::{SessionComparison, compare},
    moments::{MomentParts, moment_parts},
};

use super::SessionError;

/// A page of sessions, read afresh.
pub(crate) fn table(store: SessionStore, query: &Query) -> Result<SessionTable, SessionError> {
    Ok(fresh(store)?.table(query))
}

/// Sessions by day, read afresh.
pub(crate) fn series(store: SessionStore, query: &Query) -> Result<Vec<Day>, SessionError> {
    Ok(fresh(store)?.series(query))
}

fn fresh(store: SessionStore) -> Result<Catalogue, SessionError> {
    let mut catalogue = Catalogue::open(store);
    catalogue.refresh()?;
    Ok(catalogue)
}

/// Two sessions side by side.
pub(crate) fn side_by_side(
    left: &SessionFolder,
    right: &SessionFolder,
) -> Result<SessionComparison, SessionError> {
    Ok(compare(left, right)?)
}

/// Everything about one moment.
pub(crate) fn moment(folder: &SessionFolder, record: u64) -> Result<Option<MomentParts>, SessionError> {
    Ok(moment_parts(folder, record)?)
}
