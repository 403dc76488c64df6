//! The calls that read.

use serde_json::{Map, Value, json};

use crate::{
    browser::BrowserConnection,
    call::BrowserCall,
    compose::{composed, fields, numbered},
    page_of::{PageCandidate, glances, page_of},
    page_state::{dialog_said, known, named},
    requests::FrameReadOptions,
    state::{BrowserPage, Dialog, DownloadState},
    tools_act::{answer_dialog, open_url},
    wire::{BrowserCallError, BrowserCallOutput, BrowserWindowSelector},
};

/// The most form fields that are returned.
const FIELDS_MAX: usize = 300;
/// Makes a call on the page of a window.
pub(crate) async fn run(
    browser: &BrowserConnection,
    window: &BrowserWindowSelector,
    call: BrowserCall,
) -> Result<BrowserCallOutput, BrowserCallError> {
    let glances = glances(browser).await;
    let page = page_of(browser, window, &glances).await;
    let read = match call {
        BrowserCall::Tabs => return Ok(tabs(&glances, page.ok().as_deref())),
        BrowserCall::Downloads => return Ok(downloads(browser).await),
        BrowserCall::PageDialog => return page_dialog(browser, &page?),
        BrowserCall::AnswerDialog { accept, message, text } => {
            let wanted = (accept, message.as_deref());
            return answer_dialog(browser, &page?, wanted, text.as_deref()).await;
        }
        BrowserCall::OpenUrl { url, new_tab } => return open_url(browser, &page?, &url, new_tab).await,
        BrowserCall::ReadPage { start, characters_max, frame } => {
            let page = page?;
            (read_page(browser, &page, start, characters_max, frame).await, page)
        }
        BrowserCall::PageForms => {
            let page = page?;
            (page_forms(browser, &page).await, page)
        }
        BrowserCall::PageInfo => {
            let page = page?;
            (page_info(browser, &page).await, page)
        }
    };
    match read {
        (Err(BrowserCallError::Dialog), page) => {
            let page = known(browser, &page)?;
            let dialog = page.dialog.clone();
            Ok(behind_dialog(&page, dialog.as_ref()))
        }
        (result, _) => result,
    }
}

fn behind_dialog(page: &BrowserPage, dialog: Option<&Dialog>) -> BrowserCallOutput {
    let said = match dialog {
        Some(dialog) => format!(
            "{}; the page cannot be read until it is answered with answer_dialog.",
            dialog_said(dialog)
        ),
        None => "A dialog of the page was just closed; read again.".to_owned(),
    };
    let output = json!({"url": page.url, "title": page.title, "dialog": dialog});
    BrowserCallOutput { said, output, effect: None }
}

async fn read_page(
    browser: &BrowserConnection,
    page: &str,
    start: usize,
    characters_max: usize,
    frame: usize,
) -> Result<BrowserCallOutput, BrowserCallError> {
    let frames = browser.read(page, FrameReadOptions { text: true, ..FrameReadOptions::default() }).await?;
    let main = frames.first().map(|frame| frame.reading.clone()).unwrap_or_default();
    let entries = numbered(&frames);
    let entry = entries.get(frame).ok_or_else(|| {
        BrowserCallError::Invalid(format!(
            "the page has no frame {frame}; its frames are 0 to {}",
            entries.len().saturating_sub(1)
        ))
    })?;
    let text = composed(&frames, &entries, entry);
    let total = text.chars().count();
    if start > total {
        return Err(BrowserCallError::Invalid(format!(
            "the argument \"start\" is {start}, but the text has {total} characters"
        )));
    }
    let part: String = text.chars().skip(start).take(characters_max).collect();
    let count = part.chars().count();
    let cut_off = frames.iter().any(|frame| frame.reading.cut_off);
    let mut said = format!("Read {count} of {total} characters of {}", named(&main.title, &main.url));
    if frame > 0 {
        said.push_str(&format!(", frame {frame}"));
    }
    if cut_off {
        said.push_str("; the page is too long, its end was left out");
    }
    said.push('.');
    let mut output = Map::new();
    output.insert("url".to_owned(), Value::from(main.url));
    output.insert("title".to_owned(), Value::from(main.title));
    output.insert("text".to_owned(), Value::from(part));
    output.insert("start".to_owned(), Value::from(start));
    output.insert("end".to_owned(), Value::from(start + count));
    output.insert("total".to_owned(), Value::from(total));
    output.insert("frames".to_owned(), json!(entries.get(1..).unwrap_or_default()));
    if is_loading(browser, page, frames.iter().any(|frame| frame.reading.loading)) {
        output.insert("loading".to_owned(), Value::from(true));
    }
    if cut_off {
        output.insert("cut_off".to_owned(), Value::from(true));
    }
    Ok(BrowserCallOutput { said, output: Value::Object(output), effect: None })
}

async fn page_forms(browser: &BrowserConnection, page: &str) -> Result<BrowserCallOutput, BrowserCallError> {
    let frames = browser.read(page, FrameReadOptions { fields: true, ..FrameReadOptions::default() }).await?;
    let entries = numbered(&frames);
    let main = frames.first().map(|frame| frame.reading.clone()).unwrap_or_default();
    let mut fields = fields(&frames, &entries);
    let left: usize = frames.iter().map(|frame| frame.reading.fields_left).sum();
    let total = fields.len() + left;
    fields.truncate(FIELDS_MAX);
    let more = if total > fields.len() {
        format!("; {} more are left out", total - fields.len())
    } else {
        String::new()
    };
    let said = format!("Read {} form fields of {}{more}.", fields.len(), named(&main.title, &main.url));
    Ok(BrowserCallOutput { said, output: json!({"fields": fields, "total": total}), effect: None })
}

async fn page_info(browser: &BrowserConnection, page: &str) -> Result<BrowserCallOutput, BrowserCallError> {
    let main = browser.look(page, FrameReadOptions { info: true, ..FrameReadOptions::default() }).await?;
    let said = format!("Looked at {}.", named(&main.title, &main.url));
    let output = json!({
        "url": main.url, "title": main.title, "loading": is_loading(browser, page, main.loading), "dialog": null,
        "selection": main.selection, "scroll": main.scroll, "focused_field": main.focused_field, "status": main.status,
    });
    Ok(BrowserCallOutput { said, output, effect: None })
}

/// A page also loads while the document before it is still shown.
fn is_loading(browser: &BrowserConnection, page: &str, document: bool) -> bool {
    document || browser.link().state().page(page).is_some_and(|page| page.load.loading)
}

fn page_dialog(browser: &BrowserConnection, page: &str) -> Result<BrowserCallOutput, BrowserCallError> {
    let page = known(browser, page)?;
    let said = match &page.dialog {
        Some(dialog) => format!("{}.", dialog_said(dialog)),
        None => "The page shows no dialog.".to_owned(),
    };
    Ok(BrowserCallOutput {
        said,
        output: json!({"dialog": page.dialog, "closed": page.closed_dialogs}),
        effect: None,
    })
}

fn tabs(glances: &[PageCandidate], page: Option<&str>) -> BrowserCallOutput {
    let tabs: Vec<Value> = glances
        .iter()
        .map(|PageCandidate { id, candidate }| {
            let mut tab = Map::new();
            tab.insert("title".to_owned(), Value::from(candidate.title.as_str()));
            tab.insert("url".to_owned(), Value::from(candidate.url.as_str()));
            tab.insert("visible".to_owned(), json!(candidate.visible));
            if Some(id.as_str()) == page {
                tab.insert("of_this_window".to_owned(), Value::from(true));
            }
            Value::Object(tab)
        })
        .collect();
    BrowserCallOutput {
        said: format!("The browser has {} tabs.", tabs.len()),
        output: Value::Array(tabs),
        effect: None,
    }
}

async fn downloads(browser: &BrowserConnection) -> BrowserCallOutput {
    let mut newest_first: Vec<_> = browser.link().state().downloads.iter().rev().cloned().collect();
    for download in &mut newest_first {
        // Firefox does not report sizes.
        if let (None, DownloadState::Completed, Some(path)) = (download.bytes, download.state, &download.path)
        {
            download.bytes = tokio::fs::metadata(path).await.ok().map(|metadata| metadata.len());
        }
    }
    let said = format!("The browser has made {} downloads since it started.", newest_first.len());
    BrowserCallOutput { said, output: json!(newest_first), effect: None }
}
