//! The clipboard: the X selection `CLIPBOARD`. Reading asks its current owner; writing makes a thread of this process
//! the owner.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use deskhand_desktop::{DesktopError, DesktopResult};
use tokio::sync::{oneshot, watch};
use x11rb::{
    CURRENT_TIME, NONE,
    connection::Connection,
    protocol::{
        Event,
        xproto::{
            Atom, AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, PropMode,
            SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent,
        },
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

use super::{
    address::X11Address,
    display::{X11Display, create_own_window},
    fault::{WorkResult, X11RequestError},
    own_messages::{sealed, value_of},
    worker::X11Worker,
};
use crate::blocking::run_blocking;

/// Maximum time for the owner of the clipboard to send its content.
const OWNER_BOUND: Duration = Duration::from_secs(3);
/// The longest text that is read, in 32-bit units.
const LENGTH_MAX: u32 = 4 * 1024 * 1024;

x11rb::atom_manager! {
    /// The atoms of selections.
    Names: NamesCookie {
        CLIPBOARD,
        DESKHAND_CLIPBOARD,
        DESKHAND_QUIT,
        INCR,
        TARGETS,
        TEXT,
        UTF8_STRING,
        TEXT_PLAIN: b"text/plain",
        TEXT_PLAIN_UTF8: b"text/plain;charset=utf-8",
    }
}

/// The clipboard while a thread of this process owns it.
#[derive(Debug)]
pub(crate) struct ClipboardOwnership {
    /// Number of times the text was requested and sent.
    taken: watch::Receiver<u32>,
}

/// The state of the clipboard of one desktop.
#[derive(Debug, Default)]
pub(crate) struct ClipboardState {
    owned: Mutex<Option<ClipboardOwnership>>,
}

impl ClipboardState {
    /// See [`deskhand_desktop::Clipboard::clipboard`].
    pub(crate) async fn read(&self, display: &X11Display) -> DesktopResult<Option<String>> {
        let address = display.address().clone();
        let (window, opened) = oneshot::channel();
        let reading = run_blocking(move || read(&address, window));
        tokio::pin!(reading);
        if let Ok(result) = tokio::time::timeout(OWNER_BOUND, &mut reading).await {
            return result?;
        }
        // The owner does not answer: make the blocking read give up.
        if let Ok(window) = opened.await {
            display.call("give up reading the clipboard", move |worker| quit(worker, window)).await?;
        }
        reading.await?
    }

    /// See [`deskhand_desktop::Clipboard::set_clipboard`].
    /// With a format, the text is offered as that alone.
    pub(crate) async fn write(
        &self,
        display: &X11Display,
        text: Option<&str>,
        format: Option<&str>,
    ) -> DesktopResult<()> {
        let (address, text) = (display.address().clone(), text.map(ToOwned::to_owned));
        let format = format.map(ToOwned::to_owned);
        let owned = run_blocking(move || own(&address, text, format.as_deref())).await??;
        *self.owned.lock().unwrap_or_else(PoisonError::into_inner) = owned;
        Ok(())
    }

    /// See [`deskhand_desktop::Clipboard::clipboard_taken`].
    pub(crate) async fn was_taken(&self, bound: Duration) -> bool {
        let Some(mut taken) = self.taken() else { return false };
        let waited = tokio::time::timeout(bound, taken.wait_for(|count| *count > 0)).await;
        matches!(waited, Ok(Ok(_)))
    }

    fn taken(&self) -> Option<watch::Receiver<u32>> {
        let owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        owned.as_ref().map(|owned| owned.taken.clone())
    }
}

fn failed(operation: &str, fault: X11RequestError) -> DesktopError {
    match fault {
        X11RequestError::X(error) => DesktopError::failed(operation, error),
        X11RequestError::Desktop(error) => error,
    }
}

/// Opens a separate connection with an invisible window.
fn open(address: &X11Address) -> WorkResult<(RustConnection, u32, Names)> {
    let (connection, screen) = address.connect()?;
    let root = connection.setup().roots.get(screen).map_or(NONE, |root| root.root);
    let names = Names::new(&connection)?.reply()?;
    let window = create_own_window(&connection, root)?;
    Ok((connection, window, names))
}

/// Asks the owner for its text. Blocks until it answers or a quit message arrives.
fn read(address: &X11Address, window: oneshot::Sender<u32>) -> DesktopResult<Option<String>> {
    let ask = || -> WorkResult<Option<String>> {
        let (connection, own, names) = open(address)?;
        // The receiver is gone if the caller was cancelled.
        let _ = window.send(own);
        if connection.get_selection_owner(names.CLIPBOARD)?.reply()?.owner == NONE {
            return Ok(None);
        }
        let property = names.DESKHAND_CLIPBOARD;
        connection.convert_selection(own, names.CLIPBOARD, names.UTF8_STRING, property, CURRENT_TIME)?;
        connection.flush()?;
        loop {
            let event = connection.wait_for_event()?;
            if let Event::ClientMessage(message) = &event
                && message.type_ == names.DESKHAND_QUIT
                && value_of(message.data.as_data32()).is_some()
            {
                return Err(DesktopError::failed(
                    "read the clipboard",
                    "the application that owns it does not answer",
                )
                .into());
            }
            let Event::SelectionNotify(notify) = event else { continue };
            if notify.property == NONE {
                // The owner has no text; it may hold a picture.
                return Ok(None);
            }
            let reply =
                connection.get_property(true, own, property, AtomEnum::ANY, 0, LENGTH_MAX)?.reply()?;
            if reply.type_ == names.INCR {
                return Err(DesktopError::failed(
                    "read the clipboard",
                    "its text is too long for one transfer",
                )
                .into());
            }
            return Ok(Some(String::from_utf8_lossy(&reply.value).into_owned()));
        }
    };
    ask().map_err(|fault| failed("read the clipboard", fault))
}

/// The served content.
struct ClipboardContent {
    text: String,
    /// The targets that it is sent as.
    targets: Vec<Atom>,
}

/// Takes ownership of the clipboard and serves `text` from a thread until another client takes over. `None` empties
/// it.
fn own(
    address: &X11Address,
    text: Option<String>,
    format: Option<&str>,
) -> DesktopResult<Option<ClipboardOwnership>> {
    let take = || -> WorkResult<Option<ClipboardOwnership>> {
        let (connection, window, names) = open(address)?;
        let Some(text) = text else {
            // Taking and releasing ownership empties the clipboard.
            connection.set_selection_owner(window, names.CLIPBOARD, CURRENT_TIME)?;
            connection.set_selection_owner(NONE, names.CLIPBOARD, CURRENT_TIME)?;
            connection.get_input_focus()?.reply()?;
            return Ok(None);
        };
        let targets = match format {
            Some(format) => vec![connection.intern_atom(false, format.as_bytes())?.reply()?.atom],
            None => vec![
                names.UTF8_STRING,
                names.TEXT_PLAIN_UTF8,
                names.TEXT_PLAIN,
                names.TEXT,
                AtomEnum::STRING.into(),
            ],
        };
        let content = ClipboardContent { text, targets };
        connection.set_selection_owner(window, names.CLIPBOARD, CURRENT_TIME)?;
        if connection.get_selection_owner(names.CLIPBOARD)?.reply()?.owner != window {
            return Err(DesktopError::failed("write the clipboard", "another client took it over").into());
        }
        let (sender, taken) = watch::channel(0);
        let serve = move || {
            let served = serve(&connection, &names, &content, &sender);
            if let Err(fault) = served {
                tracing::debug!(?fault, "stopped serving the clipboard");
            }
        };
        std::thread::Builder::new()
            .name("x11-clipboard".to_owned())
            .spawn(serve)
            .map_err(|error| DesktopError::failed("start a thread for the clipboard", error))?;
        Ok(Some(ClipboardOwnership { taken }))
    };
    take().map_err(|fault| failed("write the clipboard", fault))
}

fn serve(
    connection: &RustConnection,
    names: &Names,
    content: &ClipboardContent,
    taken: &watch::Sender<u32>,
) -> WorkResult<()> {
    loop {
        let event = connection.wait_for_event()?;
        if let Event::SelectionRequest(request) = event {
            match answer(connection, names, content, &request) {
                Ok(true) => taken.send_modify(|count| *count += 1),
                Ok(false) => {}
                // The client that asked is gone.
                Err(fault) if fault.is_refusal() => {}
                Err(fault) => return Err(fault),
            }
        } else if let Event::SelectionClear(_) = event {
            return Ok(());
        }
    }
}

/// Sends what was requested; returns whether that was the content.
fn answer(
    connection: &RustConnection,
    names: &Names,
    content: &ClipboardContent,
    request: &SelectionRequestEvent,
) -> WorkResult<bool> {
    let mut property = if request.property == NONE { request.target } else { request.property };
    let is_content = content.targets.contains(&request.target);
    if request.target == names.TARGETS {
        let offered: Vec<Atom> =
            std::iter::once(names.TARGETS).chain(content.targets.iter().copied()).collect();
        let mode = PropMode::REPLACE;
        connection.change_property32(mode, request.requestor, property, AtomEnum::ATOM, &offered)?;
    } else if is_content {
        let kind = if request.target == names.TEXT { names.UTF8_STRING } else { request.target };
        let mode = PropMode::REPLACE;
        connection.change_property8(mode, request.requestor, property, kind, content.text.as_bytes())?;
    } else {
        property = NONE;
    }
    let notify = SelectionNotifyEvent {
        response_type: SELECTION_NOTIFY_EVENT,
        sequence: 0,
        time: request.time,
        requestor: request.requestor,
        selection: request.selection,
        target: request.target,
        property,
    };
    connection.send_event(false, request.requestor, EventMask::NO_EVENT, notify)?;
    connection.flush()?;
    Ok(is_content)
}

/// Makes a blocking read of the clipboard give up.
fn quit(worker: &X11Worker, window: u32) -> WorkResult<()> {
    let message = ClientMessageEvent::new(32, window, worker.atoms.DESKHAND_QUIT, sealed(0));
    worker.connection.send_event(false, window, EventMask::NO_EVENT, message)?;
    worker.round_trip()
}
