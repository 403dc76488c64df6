//! Finds the page that a window shows.

use futures_util::future::join_all;
use tokio::time::timeout;

use crate::{
    browser::BrowserConnection,
    geometry::{nearest, window_bounds},
    requests::{FrameReadOptions, GLANCE_BOUND},
    titles::{PageResolution, TitleCandidate, choose},
    wire::{BrowserCallError, BrowserWindowSelector, cut},
};

/// The most titles in an error.
const TITLES_MAX: usize = 10;
/// The longest title in an error, in characters.
const TITLE_CHARACTERS_MAX: usize = 100;

/// A page and what is known of it.
#[derive(Debug, Clone)]
pub(crate) struct PageCandidate {
    pub(crate) id: String,
    pub(crate) candidate: TitleCandidate,
}

/// All pages, and whether they are visible.
pub(crate) async fn glances(browser: &BrowserConnection) -> Vec<PageCandidate> {
    let tabs = browser.tabs().await;
    let is_tab = |id: &String| tabs.as_ref().is_none_or(|tabs| tabs.contains(id));
    let pages: Vec<_> = browser
        .link()
        .state()
        .pages
        .iter()
        .filter(|page| !page.in_advance && is_tab(&page.id))
        .map(|page| (page.id.clone(), page.title.clone(), page.url.clone()))
        .collect();
    join_all(pages.into_iter().map(|(id, title, url)| glance(browser, id, title, url))).await
}

async fn glance(browser: &BrowserConnection, id: String, title: String, url: String) -> PageCandidate {
    let candidate = match timeout(GLANCE_BOUND, browser.look(&id, FrameReadOptions::default())).await {
        Ok(Ok(reading)) => {
            // The page knows of a new title first.
            let title = if reading.title.is_empty() { title } else { reading.title };
            TitleCandidate { title, url, visible: Some(reading.visible), focused: reading.focused }
        }
        Ok(Err(_)) | Err(_) => TitleCandidate { title, url, visible: None, focused: false },
    };
    PageCandidate { id, candidate }
}

/// The page of a window among all pages.
pub(crate) async fn page_of(
    browser: &BrowserConnection,
    window: &BrowserWindowSelector,
    glances: &[PageCandidate],
) -> Result<String, BrowserCallError> {
    let candidates: Vec<TitleCandidate> = glances.iter().map(|glance| glance.candidate.clone()).collect();
    let several = match choose(&window.title, &candidates) {
        PageResolution::One(index) => return id(glances, index),
        PageResolution::Several(several) => several,
        PageResolution::None => return Err(none(window, &candidates)),
    };
    if window.xid != 0
        && let Some(place) = window_bounds(window.xid).await
    {
        let mut places = Vec::new();
        for index in &several {
            let Some(glance) = glances.get(*index) else { continue };
            places.extend(browser.bounds(&glance.id).await.map(|bounds| (*index, bounds)));
        }
        if let Some(index) = nearest(place, &places) {
            return id(glances, index);
        }
    }
    let focused: Vec<usize> = several
        .iter()
        .copied()
        .filter(|index| candidates.get(*index).is_some_and(|candidate| candidate.focused))
        .collect();
    match focused.as_slice() {
        [only] => id(glances, *only),
        [] | [_, _, ..] => Err(BrowserCallError::NoDocument(format!(
            "{} windows show a page with the title {:?} and none can be told from the others; \
             click into the one that is meant and try again",
            several.len(),
            cut(&window.title, TITLE_CHARACTERS_MAX)
        ))),
    }
}

fn id(glances: &[PageCandidate], index: usize) -> Result<String, BrowserCallError> {
    let glance = glances.get(index);
    glance
        .map(|glance| glance.id.clone())
        .ok_or_else(|| BrowserCallError::Failed("the page is gone; try again".to_owned()))
}

fn none(window: &BrowserWindowSelector, candidates: &[TitleCandidate]) -> BrowserCallError {
    let titles: Vec<String> = candidates
        .iter()
        .filter(|candidate| candidate.visible != Some(false))
        .take(TITLES_MAX)
        .map(|candidate| format!("{:?}", cut(&candidate.title, TITLE_CHARACTERS_MAX)))
        .collect();
    let visible = if titles.is_empty() { "none".to_owned() } else { titles.join(", ") };
    BrowserCallError::NoDocument(format!(
        "no page has the title of the window {:?}; visible pages: {visible}; look at the windows again",
        cut(&window.title, TITLE_CHARACTERS_MAX)
    ))
}
