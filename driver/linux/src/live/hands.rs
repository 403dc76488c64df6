//! The thread of a person's input: it holds keys and buttons as the person does.
//!
//! A page tells the symbol of a key, which goes by the person's keyboard. The desktop has another one: Shift and AltGr are pressed or
//! released around a key where the desktop needs them otherwise than they are held.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::Receiver,
    },
    time::{Duration, Instant},
};

use deskhand_desktop::{DesktopError, DesktopResult};
use deskhand_ui::{duration::milliseconds, geometry::Point};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use tokio::sync::oneshot;
use x11rb::{
    connection::{Connection, RequestConnection},
    protocol::{
        Event,
        xproto::{
            BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ChangeWindowAttributesAux, ConnectionExt as _,
            EventMask, KEY_PRESS_EVENT, KEY_RELEASE_EVENT, Mapping,
        },
        xtest,
    },
};
use xkeysym::Keysym;

use super::message::InputMessage;
use crate::x11::{
    address::X11Address,
    display::{create_own_window, intern},
    fault::{WorkResult, X11RequestError},
    input::{KeySendResult, PIECE_MAX, symbols_of},
    keyboard::{ALT, CONTROL, KeysymBindingPlan, LEVEL3, SHIFT, SUPER, Stroke},
    keymap::no_key,
    worker::{PING_OF_OTHERS, X11Worker},
};

/// The buttons that there are.
const BUTTONS: std::ops::RangeInclusive<u8> = 1..=7;
/// The most characters of one text.
const TEXT_MAX: usize = 10_000;
/// Keys are bound for this many symbols ahead: each change of the keyboard map costs the application time.
const AHEAD_MAX: usize = 4_000;
/// Maximum time for an application to process the keys that were sent, and the interval between queries of
/// the active application.
const CATCH_UP_BOUND: Duration = Duration::from_secs(5);
const ASK_AGAIN: Duration = Duration::from_millis(500);
/// The same when the person has gone, before keys that were bound are restored.
const LEAVE_BOUND: Duration = Duration::from_secs(1);

/// Symbols have 29 bits.
const KEYSYM_MAX: u32 = 0x1fff_ffff;
/// The keys on the right count as their counterparts.
const SHIFTS: [u32; 2] = [SHIFT, 0xffe2];
const LEVEL3S: [u32; 2] = [LEVEL3, 0xff7e];
/// With these a key is a command: Ctrl, Meta, Alt, Super, Hyper.
const COMMANDS: [u32; 10] = [CONTROL, 0xffe4, 0xffe7, 0xffe8, ALT, 0xffea, SUPER, 0xffec, 0xffed, 0xffee];
/// Caps Lock, Shift Lock, Num Lock, Scroll Lock, and `ISO_Lock`.
const LOCKS: [u32; 5] = [0xffe5, 0xffe6, 0xff7f, 0xff14, 0xfe01];

/// An input to make.
pub(super) struct LiveInputJob {
    pub(super) input: InputMessage,
    /// Number of interruptions at the time it was sent.
    pub(super) number: u64,
    pub(super) answer: oneshot::Sender<DesktopResult<()>>,
}

/// Makes inputs until nobody can send any more or the X server has ended; then releases everything.
pub(super) fn run(
    address: &X11Address,
    name: &str,
    queue: &Receiver<LiveInputJob>,
    interruptions: Arc<AtomicU64>,
    opened: oneshot::Sender<DesktopResult<()>>,
) {
    let mut hands = match LiveInputWorker::open(address, name, interruptions) {
        Ok(hands) => hands,
        Err(error) => {
            // If nobody waits for it any more, nobody can send anything either.
            let _ = opened.send(Err(error));
            return;
        }
    };
    let _ = opened.send(Ok(()));
    while let Ok(LiveInputJob { input, number, answer }) = queue.recv() {
        let made = hands.make(&input, number);
        let made = made.map_err(|fault| fault.into_desktop_error("make an input", name));
        // The receiver is gone if the caller was cancelled.
        let _ = answer.send(made);
    }
    if let Err(fault) = hands.leave() {
        tracing::debug!(?fault, "the X server was gone before everything was released");
    }
}

/// A key that is held.
struct HeldKey {
    keysym: u32,
    keycode: u8,
}

struct LiveInputWorker {
    worker: X11Worker,
    keys: Vec<HeldKey>,
    buttons: Vec<u8>,
    interruptions: Arc<AtomicU64>,
    /// Number of interruptions at the time the current input was sent.
    number: u64,
}

impl LiveInputWorker {
    fn open(address: &X11Address, name: &str, interruptions: Arc<AtomicU64>) -> DesktopResult<Self> {
        let operation = "reach pointer and keyboard of a desktop";
        let (connection, screen) = address.connect()?;
        let root = connection.setup().roots.get(screen).map(|root| root.root);
        let root = root.ok_or_else(|| DesktopError::failed(operation, "there is no such screen"))?;
        let make = || {
            if connection.extension_information(xtest::X11_EXTENSION_NAME)?.is_none() {
                return Err(DesktopError::failed(operation, "its X server lacks the extension XTEST").into());
            }
            Ok::<_, X11RequestError>((intern(&connection)?, create_own_window(&connection, root)?))
        };
        let (atoms, own_window) = make().map_err(|fault| fault.into_desktop_error(operation, name))?;
        let worker = X11Worker::new(connection, root, atoms, own_window, address);
        let mut hands = Self { worker, keys: Vec::new(), buttons: Vec::new(), interruptions, number: 0 };
        hands.look_at_keyboard().map_err(|fault| fault.into_desktop_error(operation, name))?;
        Ok(hands)
    }

    /// Makes an input that was sent when there were so many interruptions.
    fn make(&mut self, input: &InputMessage, number: u64) -> WorkResult<()> {
        self.number = number;
        match input {
            InputMessage::Move { x, y } => {
                self.move_to(*x, *y)?;
            }
            InputMessage::Down { button, x, y } => {
                check_button(*button)?;
                self.move_to(*x, *y)?;
                if !self.buttons.contains(button) {
                    self.worker.button(BUTTON_PRESS_EVENT, *button)?;
                    self.buttons.push(*button);
                }
            }
            InputMessage::Up { button, x, y } => {
                check_button(*button)?;
                let moved = self.move_to(*x, *y);
                if let Some(at) = self.buttons.iter().position(|held| held == button) {
                    self.worker.button(BUTTON_RELEASE_EVENT, *button)?;
                    self.buttons.remove(at);
                }
                self.worker.round_trip()?;
                moved?;
            }
            InputMessage::Key { keysym, down: true } => self.press(*keysym)?,
            InputMessage::Key { keysym, down: false } => self.release(*keysym)?,
            InputMessage::Text { text } => self.type_text(text)?,
            InputMessage::Release => self.release_all()?,
        }
        self.worker.round_trip()
    }

    fn move_to(&self, x: i32, y: i32) -> WorkResult<()> {
        let place = Point::new(x, y);
        self.worker.check_on_screen(place)?;
        self.worker.move_to(place)
    }

    /// Reads the keyboard again if it was changed, by us or by others.
    fn refresh_keyboard(&mut self) -> WorkResult<()> {
        let mut changed = false;
        while let Some(event) = self.worker.connection.poll_for_event()? {
            changed |= matches!(event, Event::MappingNotify(map) if map.request != Mapping::POINTER);
        }
        if changed {
            self.look_at_keyboard()?;
        }
        Ok(())
    }

    fn look_at_keyboard(&mut self) -> WorkResult<()> {
        // Symbols go by the Caps Lock of the person's keyboard; that of the desktop would turn their case.
        if self.worker.load_keyboard()? {
            self.worker.unlock_caps()?;
        }
        Ok(())
    }

    fn holds(&self, keysyms: &[u32]) -> bool {
        self.keys.iter().any(|key| keysyms.contains(&key.keysym))
    }

    fn press(&mut self, keysym: u32) -> WorkResult<()> {
        if keysym == 0 || keysym > KEYSYM_MAX {
            let reason = "it is no symbol of X".to_owned();
            return Err(DesktopError::Key { key: format!("{keysym:#x}"), reason }.into());
        }
        if LOCKS.contains(&keysym) || self.holds(&[keysym]) {
            return Ok(());
        }
        self.refresh_keyboard()?;
        let symbol = Keysym::new(keysym);
        let found = self.worker.keyboard.find_modifier(keysym);
        if let Some(keycode) = found {
            return self.hold(keysym, keycode);
        }
        if symbol.is_modifier_key() {
            let stroke = self.worker.keyboard.find_stroke(keysym);
            // A modifier that this keyboard lacks would not act as one on a spare key.
            return stroke.map_or(Ok(()), |stroke| self.hold(keysym, stroke.keycode));
        }
        // With Ctrl and others, the key counts: Caps Lock of the person must not add a Shift.
        let character = symbol.key_char().filter(|character| !character.is_control());
        let is_command = self.holds(&COMMANDS);
        let wanted = if is_command { lower_case(keysym, character) } else { keysym };
        let stroke = self.stroke_of(wanted)?;
        self.worker.keyboard.used(&[wanted]);
        let as_held = character.is_none() || (is_command && character.is_some_and(char::is_alphabetic));
        let around = if as_held { Vec::new() } else { self.modifiers_around(stroke, wanted)? };
        for (kind, keycode) in &around {
            self.worker.key(*kind, *keycode)?;
        }
        let held = self.hold(keysym, stroke.keycode);
        for (kind, keycode) in around.iter().rev() {
            self.worker.key(opposite(*kind), *keycode)?;
        }
        held
    }

    /// Presses a key; one that is held for another symbol is released before.
    fn hold(&mut self, keysym: u32, keycode: u8) -> WorkResult<()> {
        if let Some(at) = self.keys.iter().position(|key| key.keycode == keycode) {
            self.worker.key(KEY_RELEASE_EVENT, keycode)?;
            self.keys.remove(at);
        }
        self.worker.key(KEY_PRESS_EVENT, keycode)?;
        self.keys.push(HeldKey { keysym, keycode });
        Ok(())
    }

    /// Returns the modifiers to press or release so that the stroke gives its symbol, where the held modifiers
    /// give another one.
    fn modifiers_around(&self, stroke: Stroke, keysym: u32) -> WorkResult<Vec<(u8, u8)>> {
        let (shift, level3) = (self.holds(&SHIFTS), self.holds(&LEVEL3S));
        if self.worker.keyboard.symbol_at(stroke.keycode, shift, level3) == Some(keysym) {
            return Ok(Vec::new());
        }
        let mut around = Vec::new();
        for (needed, is_held, keysyms) in [(stroke.shift, shift, SHIFTS), (stroke.level3, level3, LEVEL3S)] {
            if needed && !is_held {
                let [modifier, _] = keysyms;
                let keys = self.worker.modifier_keys(&[modifier])?;
                around.extend(keys.iter().map(|keycode| (KEY_PRESS_EVENT, *keycode)));
            } else if is_held && !needed {
                let held = self.keys.iter().filter(|key| keysyms.contains(&key.keysym));
                around.extend(held.map(|key| (KEY_RELEASE_EVENT, key.keycode)));
            }
        }
        Ok(around)
    }

    /// The key of a symbol; a spare one if it has none.
    fn stroke_of(&mut self, keysym: u32) -> WorkResult<Stroke> {
        if let Some(stroke) = self.worker.keyboard.find_stroke(keysym) {
            return Ok(stroke);
        }
        let mut plan = self.worker.bind(&[keysym])?;
        if plan == KeysymBindingPlan::AwaitApplication {
            self.catch_up()?;
            plan = self.worker.bind(&[keysym])?;
        }
        match plan {
            KeysymBindingPlan::Bind(_) => {}
            KeysymBindingPlan::AwaitApplication | KeysymBindingPlan::NoKeys => {
                return Err(no_key(Some(keysym)).into());
            }
        }
        self.worker.keyboard.find_stroke(keysym).ok_or_else(|| no_key(Some(keysym)).into())
    }

    fn release(&mut self, keysym: u32) -> WorkResult<()> {
        let held = self.keys.iter().position(|key| key.keysym == keysym);
        // A letter can have another case when it is released, because Shift was released before it.
        let at = held.or_else(|| {
            let stroke = self.worker.keyboard.find_stroke(keysym)?;
            self.keys.iter().position(|key| key.keycode == stroke.keycode)
        });
        if let Some(at) = at {
            let key = self.keys.remove(at);
            self.worker.key(KEY_RELEASE_EVENT, key.keycode)?;
        }
        Ok(())
    }

    fn release_all(&mut self) -> WorkResult<()> {
        for button in self.buttons.drain(..) {
            self.worker.button(BUTTON_RELEASE_EVENT, button)?;
        }
        // What was pressed last goes up first: a modifier alone means something to some applications.
        for key in self.keys.drain(..).rev() {
            self.worker.key(KEY_RELEASE_EVENT, key.keycode)?;
        }
        self.worker.round_trip()
    }

    fn type_text(&mut self, text: &str) -> WorkResult<()> {
        let symbols = symbols_of(text)?;
        if symbols.len() > TEXT_MAX {
            let what = format!("it has {} characters, more than {TEXT_MAX}", symbols.len());
            return Err(DesktopError::failed("type a text", what).into());
        }
        self.release_all()?;
        self.refresh_keyboard()?;
        let mut rest = symbols.as_slice();
        while !rest.is_empty() && !self.is_interrupted() {
            let ahead = rest.get(..AHEAD_MAX.min(rest.len())).unwrap_or_default();
            match self.worker.type_piece(ahead, PIECE_MAX)? {
                KeySendResult::Sent(count) => rest = rest.get(count..).unwrap_or_default(),
                KeySendResult::AwaitApplication => match self.catch_up() {
                    // Nobody wants the rest any more.
                    Err(_) if self.is_interrupted() => {}
                    caught_up => caught_up?,
                },
            }
        }
        Ok(())
    }

    /// Returns `true` if everything is to be released, or the person has gone.
    fn is_interrupted(&self) -> bool {
        self.interruptions.load(Ordering::Relaxed) != self.number
    }

    /// Waits until the active application has processed the keys that were sent, so that keys can be bound again.
    fn catch_up(&mut self) -> WorkResult<()> {
        if !self.await_application(CATCH_UP_BOUND)? {
            return Err(DesktopError::NotAnswering {
                operation: "type",
                application: "the application with the focus".to_owned(),
                limit_ms: milliseconds(CATCH_UP_BOUND),
            }
            .into());
        }
        self.worker.keyboard.application_caught_up();
        Ok(())
    }

    /// Pings the active application and waits for the answer; returns `false` if there was none within `bound`, or before an
    /// interruption. One that answers no pings is not waited for.
    fn await_application(&mut self, bound: Duration) -> WorkResult<bool> {
        self.listen_to_answers(EventMask::SUBSTRUCTURE_NOTIFY)?;
        let answered = self.await_answer(Instant::now() + bound);
        self.listen_to_answers(EventMask::NO_EVENT)?;
        // The map may have changed while events were read.
        self.look_at_keyboard()?;
        answered
    }

    /// Answers to pings are events of the root window.
    fn listen_to_answers(&self, events: EventMask) -> WorkResult<()> {
        let attributes = ChangeWindowAttributesAux::new().event_mask(events);
        self.worker.connection.change_window_attributes(self.worker.root, &attributes)?.check()?;
        Ok(())
    }

    fn await_answer(&self, deadline: Instant) -> WorkResult<bool> {
        let failed = |error: std::io::Error| DesktopError::failed("wait for an application", error);
        let atoms = &self.worker.atoms;
        while Instant::now() < deadline && !self.is_interrupted() {
            // Another window may be active meanwhile.
            let mut bytes = [0; 4];
            getrandom::fill(&mut bytes).map_err(|error| failed(std::io::Error::other(error.to_string())))?;
            let serial = PING_OF_OTHERS | u32::from_ne_bytes(bytes);
            if self.worker.ping(serial)?.is_none() {
                return Ok(true);
            }
            let until = deadline.min(Instant::now() + ASK_AGAIN);
            loop {
                while let Some(event) = self.worker.connection.poll_for_event()? {
                    if let Event::ClientMessage(message) = &event
                        && message.type_ == atoms.WM_PROTOCOLS
                        && message.data.as_data32().starts_with(&[atoms._NET_WM_PING, serial])
                    {
                        return Ok(true);
                    }
                }
                let rest = until.saturating_duration_since(Instant::now());
                if rest.is_zero() {
                    break;
                }
                let mut stream = [PollFd::new(self.worker.connection.stream(), PollFlags::IN)];
                match poll(&mut stream, Timespec::try_from(rest).ok().as_ref()) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(failed(error.into()).into()),
                }
            }
        }
        Ok(false)
    }

    /// Releases everything and restores the keyboard.
    fn leave(mut self) -> WorkResult<()> {
        self.number = self.interruptions.load(Ordering::Relaxed);
        self.release_all()?;
        self.refresh_keyboard()?;
        if self.worker.keyboard.has_bindings() && !self.await_application(LEAVE_BOUND)? {
            tracing::debug!("keys are restored although an application may not have read all of them");
        }
        self.worker.finish()
    }
}

fn check_button(button: u8) -> WorkResult<()> {
    if BUTTONS.contains(&button) {
        return Ok(());
    }
    let what = format!("there is no button {button}, only 1 to {}", BUTTONS.end());
    Err(DesktopError::failed("press a button", what).into())
}

/// The symbol of a letter in lower case, if it has one.
fn lower_case(keysym: u32, character: Option<char>) -> u32 {
    let mut lower = character.into_iter().flat_map(char::to_lowercase);
    match (lower.next(), lower.next()) {
        (Some(lower), None) => {
            Some(Keysym::from_char(lower).raw()).filter(|lower| *lower != 0).unwrap_or(keysym)
        }
        _ => keysym,
    }
}

const fn opposite(kind: u8) -> u8 {
    if kind == KEY_PRESS_EVENT { KEY_RELEASE_EVENT } else { KEY_PRESS_EVENT }
}
