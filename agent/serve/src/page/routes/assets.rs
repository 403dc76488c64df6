//! Style and scripts, which are part of the program.

use axum::{
    extract::Path,
    http::{
        StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::{IntoResponse as _, Response},
};
use deskhand_runtime::report::STYLE;

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

const ASSETS: &[(&str, &str, &str)] = &[
    ("report.css", CSS, STYLE),
    ("page.css", CSS, include_str!("../assets/page.css")),
    ("forms.js", JAVASCRIPT, include_str!("../assets/forms.js")),
    ("home.js", JAVASCRIPT, include_str!("../assets/home.js")),
    ("workflows.js", JAVASCRIPT, include_str!("../assets/workflows.js")),
    ("learn.js", JAVASCRIPT, include_str!("../assets/learn.js")),
    ("batches.js", JAVASCRIPT, include_str!("../assets/batches.js")),
    ("batch.js", JAVASCRIPT, include_str!("../assets/batch.js")),
    ("schedules.js", JAVASCRIPT, include_str!("../assets/schedules.js")),
    ("session.js", JAVASCRIPT, include_str!("../assets/session.js")),
    ("time_line.js", JAVASCRIPT, include_str!("../assets/time_line.js")),
    ("ask.js", JAVASCRIPT, include_str!("../assets/ask.js")),
    ("screen.js", JAVASCRIPT, include_str!("../assets/screen.js")),
    ("shortcuts.js", JAVASCRIPT, include_str!("../assets/shortcuts.js")),
    ("speak.js", JAVASCRIPT, include_str!("../assets/speak.js")),
    ("keys.js", JAVASCRIPT, include_str!("../assets/keys.js")),
];

/// One of them. Browsers ask each time, so that a new version of the program shows at once.
pub(super) async fn asset(Path(name): Path<String>) -> Response {
    match ASSETS.iter().find(|(known, ..)| *known == name) {
        Some((_, kind, text)) => {
            ([(CONTENT_TYPE, *kind), (CACHE_CONTROL, "no-cache")], *text).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
