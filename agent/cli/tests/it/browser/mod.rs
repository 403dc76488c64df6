//! A real browser that a test drives as a person would: clicks, keys, files; what it shows is read from its DOM and from pictures.
//!
//! Firefox and Chromium are spoken to by WebDriver BiDi. The browser belongs to the test: it is started by it, with a profile of its own,
//! and ends with it.

mod connection;
mod keys;
mod start;

use std::{
    cell::{Cell, RefCell},
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use base64::Engine as _;
use serde_json::{Value, json};

use self::{connection::Connection, keys::key_actions, start::Started};

pub(crate) use self::start::Kind;

/// How long anything may take that a test waits for.
pub(crate) const BOUND: Duration = Duration::from_secs(120);

/// A browser with one page.
pub(crate) struct Browser {
    connection: RefCell<Connection>,
    context: String,
    /// The session of the protocol of Chromium, once it was needed.
    devtools: RefCell<Option<String>>,
    pictures: PathBuf,
    taken: Cell<u32>,
    /// Last: it ends after the connection.
    _started: Started,
}

impl Browser {
    /// Starts one. Its pictures go to a folder of this name below `target/tmp/page`.
    pub(crate) fn start(kind: Kind, name: &str) -> Self {
        let (started, address) = Started::start(kind);
        let mut connection = Connection::open(&address);
        if kind == Kind::Firefox {
            connection.asks("session.new", &json!({"capabilities": {}})).unwrap();
        }
        connection.asks("session.subscribe", &json!({"events": ["log.entryAdded"]})).unwrap();
        let tree = connection.asks("browsingContext.getTree", &json!({"maxDepth": 0})).unwrap();
        let context = tree["contexts"][0]["context"].as_str().unwrap().to_owned();
        let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page").join(name);
        fs::create_dir_all(&pictures).unwrap();
        let browser = Self {
            connection: RefCell::new(connection),
            context,
            devtools: RefCell::default(),
            pictures,
            taken: Cell::new(0),
            _started: started,
        };
        browser.resize(1360, 850);
        browser
    }

    fn tries(&self, method: &str, mut parameters: Value) -> Result<Value, String> {
        parameters["context"] = json!(self.context);
        self.connection.borrow_mut().asks(method, &parameters)
    }

    fn asks(&self, method: &str, parameters: Value) -> Value {
        self.tries(method, parameters).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The size of the page, in pixels.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        let viewport = json!({"width": width, "height": height});
        self.asks("browsingContext.setViewport", json!({"viewport": viewport, "devicePixelRatio": 1}));
    }

    /// Which colours the person prefers, and whether they want little motion. Chromium alone.
    pub(crate) fn prefers(&self, scheme: &str, motion: &str) {
        let known = self.devtools.borrow().clone();
        let session = known.unwrap_or_else(|| {
            self.asks("goog:cdp.getSession", json!({}))["session"].as_str().unwrap().to_owned()
        });
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": motion},
        ]);
        let media = json!({"features": features});
        let command = json!({"method": "Emulation.setEmulatedMedia", "params": media, "session": session});
        self.connection.borrow_mut().asks("goog:cdp.sendCommand", &command).unwrap();
        self.devtools.replace(Some(session));
    }

    /// Opens an address, and waits until it is loaded.
    pub(crate) fn open(&self, address: &str) {
        self.asks("browsingContext.navigate", json!({"url": address, "wait": "complete"}));
    }

    fn evaluates(&self, expression: &str) -> Result<Value, String> {
        let target = json!({"context": self.context});
        let parameters = json!({
            "expression": expression, "target": target, "awaitPromise": true, "resultOwnership": "none",
        });
        let answer = self.connection.borrow_mut().asks("script.evaluate", &parameters)?;
        if answer["type"] == "exception" {
            return Err(answer["exceptionDetails"]["text"].to_string());
        }
        Ok(answer["result"]["value"].clone())
    }

    /// The value of an expression of the page, as JSON.
    pub(crate) fn reads(&self, expression: &str) -> Value {
        let text = self.evaluates(&format!("JSON.stringify(({expression}) ?? null)"));
        let text = text.unwrap_or_else(|error| panic!("{expression}: {error}"));
        text.as_str().map_or(Value::Null, |text| serde_json::from_str(text).unwrap())
    }

    /// Runs a script whole, and waits for its promise.
    pub(crate) fn runs(&self, script: &str) -> Value {
        self.evaluates(script).unwrap_or_else(|error| panic!("a script of the test: {error}"))
    }

    /// Waits until an expression of the page is true, across pages that are opened meanwhile; returns its value.
    pub(crate) fn until(&self, expression: &str) -> Value {
        let script = format!(
            "new Promise((done) => {{
               const look = () => {{
                 let value = null;
                 try {{ value = ({expression}); }} catch {{}}
                 if (value) end(JSON.stringify(value));
               }};
               const end = (value) => {{ observer.disconnect(); clearInterval(again); clearTimeout(over); done(value); }};
               const observer = new MutationObserver(look);
               observer.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }});
               const again = setInterval(look, 100);
               const over = setTimeout(() => end(null), 20000);
               look();
             }})"
        );
        let begun = Instant::now();
        loop {
            // An error is a page that was left.
            if let Ok(Value::String(text)) = self.evaluates(&script) {
                return serde_json::from_str(&text).unwrap();
            }
            if begun.elapsed() > BOUND {
                self.picture("waited-in-vain");
                let (complaints, told) =
                    (self.complaints(), self.reads("document.querySelector('#problem').textContent"));
                panic!("it does not come: {expression}\n{complaints:#?}\ntold: {told}\n{}", self.text());
            }
        }
    }

    /// The text of the page.
    pub(crate) fn text(&self) -> String {
        self.reads("document.body.innerText").as_str().unwrap_or_default().to_owned()
    }

    fn locates(&self, selector: &str) -> Value {
        let locator = json!({"type": "css", "value": selector});
        let found = self.asks("browsingContext.locateNodes", json!({"locator": locator, "maxNodeCount": 1}));
        json!({"sharedId": found["nodes"][0]["sharedId"]})
    }

    /// Waits for an element that can be clicked, and scrolls it into view. Before its page is complete, no script hears of a click.
    fn comes(&self, selector: &str) {
        self.until(&format!(
            "(() => {{ const one = document.querySelector({}); \
             if (document.readyState !== 'complete' || !one || one.disabled || !one.getClientRects().length) return false; \
             one.scrollIntoView({{ block: 'nearest', inline: 'nearest', behavior: 'instant' }}); return true; }})()",
            json!(selector)
        ));
    }

    /// Clicks an element at its centre, once it can be clicked.
    pub(crate) fn click(&self, selector: &str) {
        self.comes(selector);
        let element = self.locates(selector);
        self.clicks(json!({"x": 0, "y": 0, "origin": {"type": "element", "element": element}}));
    }

    /// Clicks a place of an element, given in shares of its size.
    pub(crate) fn click_at(&self, selector: &str, across: f64, down: f64) {
        self.comes(selector);
        let place = self.reads(&format!(
            "(() => {{ const box = document.querySelector({}).getBoundingClientRect(); \
             return {{ x: Math.round(box.left + box.width * {across}), y: Math.round(box.top + box.height * {down}) }}; }})()",
            json!(selector)
        ));
        self.clicks(json!({"x": place["x"], "y": place["y"], "origin": "viewport"}));
    }

    fn clicks(&self, mut to: Value) {
        to["type"] = json!("pointerMove");
        let down = json!({"type": "pointerDown", "button": 0});
        let up = json!({"type": "pointerUp", "button": 0});
        let pointer = json!({"type": "pointer", "id": "mouse", "actions": [to, down, up]});
        self.asks("input.performActions", json!({"actions": [pointer]}));
    }

    /// Types a text, and keys that are named in braces: `{Enter}`, `{Control+s}`.
    pub(crate) fn types(&self, text: &str) {
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": key_actions(text)});
        self.asks("input.performActions", json!({"actions": [keyboard]}));
    }

    /// Clicks into a field, and types.
    pub(crate) fn fills(&self, selector: &str, text: &str) {
        self.click(selector);
        self.types(text);
    }

    /// Gives a file to a field, as its dialog does.
    pub(crate) fn gives(&self, selector: &str, file: &Path) {
        // Chromium reads no file whose path has `..` in it.
        let file = fs::canonicalize(file).unwrap();
        let element = self.locates(selector);
        self.asks("input.setFiles", json!({"element": element, "files": [file]}));
    }

    /// Takes a picture of what is seen of the page.
    pub(crate) fn picture(&self, name: &str) -> PathBuf {
        let taken = self.asks("browsingContext.captureScreenshot", json!({"origin": "viewport"}));
        let data = base64::engine::general_purpose::STANDARD.decode(taken["data"].as_str().unwrap());
        self.taken.set(self.taken.get() + 1);
        let path = self.pictures.join(format!("{:02}-{name}.png", self.taken.get()));
        fs::write(&path, data.unwrap()).unwrap();
        path
    }

    /// What the page complained of: errors of scripts, and what its policy forbids.
    pub(crate) fn complaints(&self) -> Vec<String> {
        // An answer comes after all events before it.
        self.reads("1");
        self.connection.borrow().complaints().to_vec()
    }
}
