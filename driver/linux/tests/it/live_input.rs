//! A person's hands: what applications receive, and what stays of it.

use std::time::Instant;

use deskhand_desktop::{DesktopError, WindowManagement as _};
use deskhand_desktop_linux::{InputMessage, LinuxDesktop, LiveInput};
use deskhand_testkit::fixture::{Screen, Toolkit};
use tokio::sync::oneshot;
use x11rb::protocol::{
    xproto::{ConnectionExt as _, KEY_PRESS_EVENT, KEY_RELEASE_EVENT},
    xtest::ConnectionExt as _,
};

use crate::{
    fixtures::{Stage, outline},
    linux_x11::{BOUND, active_client, desktop, window_titled},
    live::handle_of,
    programs::has_programs,
    x11_client::{Client, Place, connect},
};

const SHIFT: u32 = 0xffe1;
const CONTROL: u32 = 0xffe3;
const CAPS_LOCK: u32 = 0xffe5;
const LEFT: u32 = 0xff51;

async fn hands_on(desktop: &LinuxDesktop) -> LiveInput {
    LiveInput::open(&handle_of(desktop)).await.unwrap()
}

async fn key(input: &LiveInput, keysym: u32, down: bool) {
    input.send(InputMessage::Key { keysym, down }).await.unwrap();
}

async fn stroke(input: &LiveInput, keysym: u32) {
    key(input, keysym, true).await;
    key(input, keysym, false).await;
}

/// The keys that are down, and the buttons.
fn held(desktop: &LinuxDesktop) -> (Vec<u8>, u16) {
    let (connection, root) = connect(desktop);
    let map = connection.query_keymap().unwrap().reply().unwrap().keys;
    let down = |code: &u8| map[usize::from(code / 8)] & (1 << (code % 8)) != 0;
    let mask = connection.query_pointer(root).unwrap().reply().unwrap().mask;
    ((8..=255).filter(down).collect(), u16::from(mask) & 0x1f00)
}

/// The whole keyboard map.
fn keyboard(desktop: &LinuxDesktop) -> Vec<u32> {
    let (connection, _) = connect(desktop);
    connection.get_keyboard_mapping(8, 248).unwrap().reply().unwrap().keysyms
}

/// How many keys are bound to ideographs, which the keyboard does not have.
fn bound(desktop: &LinuxDesktop) -> usize {
    let mut symbols = keyboard(desktop);
    symbols.retain(|symbol| (0x0100_4e00..0x0100_a000).contains(symbol));
    symbols.dedup();
    symbols.len()
}

/// Waits for something that sends no event to this process; each look is a round trip to the X server.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + BOUND;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::yield_now();
    }
}

/// Reads so many keys in an application that also answers pings, until its display ends.
fn reading(mut client: Client, count: usize) -> oneshot::Receiver<String> {
    let (sender, typed) = oneshot::channel();
    std::thread::spawn(move || {
        sender.send(client.read_keys(count)).unwrap();
        client.answer_until_closed();
    });
    typed
}

/// Umlauts, a script that no key has, emoji, an edit by keys, and a pasted text.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_types_arrives_in_gtk() {
    let Some(stage) = Stage::start(Toolkit::Gtk3, Screen::Text).await else { return };
    let tree = stage.tree().await;
    let entry = tree.elements.iter().find(|element| element.name == "Name").and_then(|entry| entry.bounds);
    let at = entry.unwrap_or_else(|| panic!("no entry in\n{}", outline(&tree))).center();
    stage.desktop.activate(stage.window.id).await.unwrap();
    let input = hands_on(&stage.desktop).await;
    input.send(InputMessage::Down { button: 1, x: at.x, y: at.y }).await.unwrap();
    input.send(InputMessage::Up { button: 1, x: at.x, y: at.y }).await.unwrap();
    let arrives = async |expected: &str| {
        let deadline = Instant::now() + BOUND;
        let mut state = stage.fixture.state().await.unwrap();
        while state["Name"] != expected {
            assert!(Instant::now() < deadline, "{expected:?}: {state}");
            state = stage.fixture.state().await.unwrap();
        }
    };
    // As a German keyboard sends them: Shift is held for the first letter and the last sign.
    key(&input, SHIFT, true).await;
    stroke(&input, 0x47).await;
    key(&input, SHIFT, false).await;
    for symbol in [0x72, 0xfc, 0xdf, 0x65] {
        stroke(&input, symbol).await;
    }
    key(&input, SHIFT, true).await;
    stroke(&input, 0x2f).await;
    key(&input, SHIFT, false).await;
    arrives("Grüße/").await;
    for symbol in [0x0100_6771, 0x0101_f600, 0x20ac] {
        stroke(&input, symbol).await;
    }
    arrives("Grüße/東😀€").await;
    // Back over the last two and over the slash.
    stroke(&input, LEFT).await;
    stroke(&input, LEFT).await;
    stroke(&input, LEFT).await;
    stroke(&input, 0xff08).await;
    arrives("Grüße東😀€").await;
    input.send(InputMessage::Text { text: " žluťoučký 😀 {a|b}".to_owned() }).await.unwrap();
    arrives("Grüße žluťoučký 😀 {a|b}東😀€").await;
    stage.desktop.shut_down().await;
}

/// The modifiers that an application sees are those that its keyboard needs for the symbol, or those of a command.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn symbols_and_commands_come_with_the_right_modifiers() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let mut client = active_client(&desktop, Place::default()).await;
    let input = hands_on(&desktop).await;
    for (held, symbol, expected) in [
        // On a German keyboard, the slash has Shift; on this one it has none.
        (vec![SHIFT], 0x2f, "/"),
        (vec![], 0x3f, "shift+?"),
        (vec![SHIFT], 0x41, "shift+A"),
        (vec![SHIFT], LEFT, "shift+Left"),
        (vec![SHIFT], 0xff09, "shift+ISO_Left_Tab"),
        (vec![SHIFT], 0x20, "shift+ "),
        // With Caps Lock on the person's keyboard, Ctrl+S comes with a capital letter.
        (vec![CONTROL], 0x53, "ctrl+s"),
        (vec![CONTROL, SHIFT], 0x53, "ctrl+shift+S"),
        (vec![CAPS_LOCK], 0x61, "a"),
        (vec![], 0xe9, "é"),
        (vec![SHIFT], 0xc9, "shift+É"),
    ] {
        for modifier in &held {
            key(&input, *modifier, true).await;
        }
        stroke(&input, symbol).await;
        for modifier in &held {
            key(&input, *modifier, false).await;
        }
        assert_eq!(client.read_chord(), expected, "{held:x?} {symbol:x}");
        assert_eq!(self::held(&desktop), (vec![], 0), "after {expected}");
    }
    desktop.shut_down().await;
}

/// Caps Lock that somebody left on turns no letter.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letters_have_their_case_whatever_was_locked() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let mut client = active_client(&desktop, Place::default()).await;
    let (connection, root) = connect(&desktop);
    let map = keyboard(&desktop);
    let per_key = map.len() / 248;
    let caps =
        8 + u8::try_from(map.iter().position(|symbol| *symbol == CAPS_LOCK).unwrap() / per_key).unwrap();
    for kind in [KEY_PRESS_EVENT, KEY_RELEASE_EVENT] {
        connection.xtest_fake_input(kind, caps, 0, root, 0, 0, 0).unwrap().check().unwrap();
    }
    let locked = || u16::from(connection.query_pointer(root).unwrap().reply().unwrap().mask) & 2 != 0;
    assert!(locked());
    let input = hands_on(&desktop).await;
    input.send(InputMessage::Text { text: "aB".to_owned() }).await.unwrap();
    assert_eq!(client.read_keys(2), "aB");
    assert!(!locked());
    desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn buttons_and_the_wheel_go_where_they_are_sent() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let mut client = Client::open(&desktop, "Board", Place::default());
    let place = window_titled(&desktop, "Board").await.bounds;
    client.wait_until_drawn();
    let input = hands_on(&desktop).await;
    let at = |x: i32, y: i32| (place.x + x, place.y + y);
    let press = async |button: u8, (x, y): (i32, i32)| {
        input.send(InputMessage::Down { button, x, y }).await.unwrap();
    };
    let lift = async |button: u8, (x, y): (i32, i32)| input.send(InputMessage::Up { button, x, y }).await;
    press(1, at(10, 20)).await;
    lift(1, at(60, 50)).await.unwrap();
    assert_eq!(client.read_buttons(2), ["+1 10,20", "-1 60,50"]);
    for button in [3, 5, 4, 2, 7] {
        press(button, at(5, 6)).await;
        lift(button, at(5, 6)).await.unwrap();
        assert_eq!(client.read_buttons(2), [format!("+{button} 5,6"), format!("-{button} 5,6")]);
    }
    // What is dragged off the screen is let go where it was.
    press(1, at(10, 20)).await;
    let error = lift(1, (4_000, 5)).await.unwrap_err();
    assert!(error.chain().contains("outside"), "{}", error.chain());
    assert_eq!(client.read_buttons(2), ["+1 10,20", "-1 10,20"]);
    // One that is not held does not go up.
    lift(1, at(1, 1)).await.unwrap();
    press(3, at(2, 2)).await;
    assert_eq!(client.read_buttons(1), ["+3 2,2"]);
    desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_makes_no_sense_is_refused_and_does_nothing() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let input = hands_on(&desktop).await;
    input.send(InputMessage::Move { x: 5, y: 6 }).await.unwrap();
    for (message, part) in [
        (InputMessage::Move { x: 1024, y: 0 }, "outside"),
        (InputMessage::Move { x: 0, y: -1 }, "outside"),
        (InputMessage::Down { button: 1, x: 0, y: 768 }, "outside"),
        (InputMessage::Down { button: 0, x: 1, y: 1 }, "no button 0"),
        (InputMessage::Down { button: 8, x: 1, y: 1 }, "no button 8"),
        (InputMessage::Key { keysym: 0, down: true }, "no symbol"),
        (InputMessage::Key { keysym: u32::MAX, down: true }, "no symbol"),
        (InputMessage::Text { text: "a\u{1}".to_owned() }, "control character"),
        (InputMessage::Text { text: "a".repeat(10_001) }, "more than 10000"),
    ] {
        let error = input.send(message.clone()).await.unwrap_err().chain();
        assert!(error.contains(part), "{message:?}: {error}");
    }
    assert_eq!(held(&desktop), (vec![], 0));
    let (connection, root) = connect(&desktop);
    let pointer = connection.query_pointer(root).unwrap().reply().unwrap();
    assert_eq!((pointer.root_x, pointer.root_y), (5, 6));
    desktop.shut_down().await;
}

/// A viewer that vanishes leaves nothing pressed and the keyboard as it was; what another one holds stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_held_is_released_when_the_person_goes() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let (one, other) = (hands_on(&desktop).await, hands_on(&desktop).await);
    key(&other, 0x78, true).await;
    let others = held(&desktop);
    assert_eq!(others.0.len(), 1);
    for symbol in [SHIFT, 0x61, 0x0100_6771] {
        key(&one, symbol, true).await;
        // A key that is held already: the page repeats it.
        key(&one, symbol, true).await;
    }
    one.send(InputMessage::Down { button: 1, x: 900, y: 700 }).await.unwrap();
    one.send(InputMessage::Down { button: 3, x: 900, y: 700 }).await.unwrap();
    let all = held(&desktop);
    assert_eq!((all.0.len(), all.1), (4, 0x0500), "{all:?}");
    one.release_all().await.unwrap();
    assert_eq!(held(&desktop), others);
    assert_eq!(bound(&desktop), 1);

    key(&one, SHIFT, true).await;
    // Shift goes up first: the key that was pressed goes up, not that of the other case.
    key(&one, 0x41, true).await;
    key(&one, SHIFT, false).await;
    key(&one, 0x61, false).await;
    assert_eq!(held(&desktop), others);

    key(&one, CONTROL, true).await;
    one.send(InputMessage::Down { button: 1, x: 900, y: 700 }).await.unwrap();
    assert_ne!(held(&desktop), others);
    drop(one);
    until("keys stay pressed", || held(&desktop) == others);
    until("keys stay bound", || bound(&desktop) == 0);
    drop(other);
    until("keys stay pressed", || held(&desktop) == (vec![], 0));
    desktop.shut_down().await;
}

/// Keys must be bound again while the application processes them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_with_more_symbols_than_there_are_keys_arrives() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let client = active_client(&desktop, Place::default()).await;
    let many: String = (0..300_u32).filter_map(|number| char::from_u32(0x4e00 + number * 7 % 1000)).collect();
    let count = many.chars().count();
    let typed = reading(client, count);
    let input = hands_on(&desktop).await;
    input.send(InputMessage::Text { text: many.clone() }).await.unwrap();
    assert_eq!(typed.await.unwrap(), many);
    drop(input);
    until("keys stay bound", || bound(&desktop) == 0);
    desktop.shut_down().await;
}

/// An application that hangs keeps a text from being typed, until the person lets go of everything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letting_go_ends_a_text() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    // It offers to answer pings, and then reads nothing.
    let _client = active_client(&desktop, Place::default()).await;
    let many: String = (0..600_u32).filter_map(|number| char::from_u32(0x4e00 + number)).collect();
    let input = hands_on(&desktop).await;
    let text = InputMessage::Text { text: many };
    let (typed, released) = tokio::join!(input.send(text.clone()), async {
        // The text is on its way once keys are bound.
        let deadline = Instant::now() + BOUND;
        while bound(&desktop) == 0 {
            assert!(Instant::now() < deadline);
            tokio::task::yield_now().await;
        }
        input.release_all().await
    });
    assert!(typed.is_ok() && released.is_ok(), "{typed:?} {released:?}");
    // Without that it says so.
    let error = tokio::time::timeout(BOUND, input.send(text)).await.unwrap().unwrap_err();
    assert!(matches!(error, DesktopError::NotAnswering { .. }), "{error:?}");
    desktop.shut_down().await;
}

/// The session types as before while a person has keys bound.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_session_types_beside_the_keys_of_a_person() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let typed = reading(active_client(&desktop, Place::default()).await, 6);
    let input = hands_on(&desktop).await;
    stroke(&input, 0x0100_6771).await;
    deskhand_desktop::InputInjection::type_text(&desktop, "東京é").await.unwrap();
    stroke(&input, 0x0100_4eac).await;
    input.send(InputMessage::Text { text: "ž".to_owned() }).await.unwrap();
    assert_eq!(typed.await.unwrap(), "東東京é京ž");
    desktop.shut_down().await;
}
