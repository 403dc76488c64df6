//! Watching a person: what they did becomes calls of tools, on the in-memory desktop.

use std::time::{Duration, Instant};

use deskhand_desktop::{
    Button, InputInjection as _, PERSON_INPUTS_WAITING_MAX, PersonInput, TimedPersonInput, UiTree as _,
    keys::{ChordKey, KeyChord},
};
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_fake::{Behaviour, FakeApp, FakeDesktop, FakeElement, FakeWindow};
use deskhand_machine::{command::ToolSpec, session::StopReason};
use deskhand_runtime::{
    StopSwitch, Toolbox,
    demonstration::{DemonstratedActs, DemonstrationObserver, watch},
    learn::{LearnOptions, learn_shown},
};
use deskhand_ui::{
    Role,
    geometry::{Point, Screen},
};
use tokio::{
    sync::mpsc::{self, Sender},
    time::sleep,
};

const PASSWORD: &str = "Zaunkoenig7";

struct Silent;

impl DemonstrationObserver for Silent {}

/// A person at a form.
struct Person<'a> {
    desktop: &'a FakeDesktop,
    inputs: Sender<TimedPersonInput>,
}

impl Person<'_> {
    fn does(&self, input: PersonInput) {
        self.inputs.try_send(TimedPersonInput { at: Instant::now(), input }).unwrap();
    }

    async fn looks(&self) {
        sleep(Duration::from_millis(60)).await;
    }

    async fn clicks(&self, key: &str) {
        let id = self.desktop.find_key(key).unwrap_or_else(|| panic!("no {key}"));
        let bounds = self.desktop.element(id).await.unwrap().bounds.unwrap();
        let at: Point<Screen> = bounds.center();
        self.does(PersonInput::Pressed { button: 1, at, held: Vec::new() });
        sleep(Duration::from_millis(20)).await;
        self.desktop.click(at, Button::Left, 1).await.unwrap();
        self.does(PersonInput::Released { button: 1, at });
        self.looks().await;
    }

    /// A click that is heard of when everything that it does is over.
    async fn clicks_unheard(&self, key: &str) {
        sleep(Duration::from_millis(300)).await;
        let id = self.desktop.find_key(key).unwrap_or_else(|| panic!("no {key}"));
        let at: Point<Screen> = self.desktop.element(id).await.unwrap().bounds.unwrap().center();
        let clicked = Instant::now();
        self.desktop.click(at, Button::Left, 1).await.unwrap();
        sleep(Duration::from_millis(300)).await;
        for input in [
            PersonInput::Pressed { button: 1, at, held: Vec::new() },
            PersonInput::Released { button: 1, at },
        ] {
            self.inputs.try_send(TimedPersonInput { at: clicked, input }).unwrap();
        }
        self.looks().await;
    }

    async fn types(&self, text: &str) {
        for character in text.chars() {
            self.does(PersonInput::Key {
                chord: KeyChord { modifiers: Vec::new(), key: ChordKey::Char(character) },
            });
        }
        sleep(Duration::from_millis(20)).await;
        self.desktop.type_text(text).await.unwrap();
        self.looks().await;
    }

    async fn pauses(&self) {
        self.does(PersonInput::Pause);
        self.looks().await;
    }
}

fn form() -> FakeDesktop {
    form_with([])
}

/// The form, with further windows.
fn form_with(further: impl IntoIterator<Item = FakeWindow>) -> FakeDesktop {
    let field =
        |role: Role, name: &str, y: i32| FakeElement::new(role, name).key(name).text("").at(20, y, 300, 30);
    let ok = FakeElement::new(Role::PUSH_BUTTON, "Good").key("Good").at(20, 150, 100, 30);
    let more =
        FakeWindow::dialog("More").at(200, 40, 200, 210).elements([ok.on_click(Behaviour::CloseWindow)]);
    let more = Box::new(more);
    let window = FakeWindow::normal("Order").at(0, 0, 600, 400).elements([
        field(Role::ENTRY, "Customer", 40),
        field(Role::PASSWORD_TEXT, "PIN", 90),
        FakeElement::new(Role::CHECK_BOX, "Express")
            .key("Express")
            .at(20, 140, 300, 30)
            .on_click(Behaviour::Toggle),
        FakeElement::new(Role::PUSH_BUTTON, "Send").key("Send").at(20, 190, 120, 30),
        FakeElement::new(Role::PUSH_BUTTON, "More")
            .key("More")
            .at(20, 240, 120, 30)
            .on_click(Behaviour::Open(more)),
    ]);
    let windows: Vec<FakeWindow> = [window].into_iter().chain(further).collect();
    FakeDesktop::new([FakeApp::new("Orders", "orders", windows)], [])
}

fn tools() -> Vec<ToolSpec> {
    Toolbox::<FakeDesktop>::standard(ActLimits::default()).unwrap().app_specs()
}

/// What is shown by a person who does this.
fn shown(request: &str, work: impl AsyncFnOnce(&Person<'_>)) -> DemonstratedActs {
    shown_on(&form(), request, work)
}

fn shown_on(desktop: &FakeDesktop, request: &str, work: impl AsyncFnOnce(&Person<'_>)) -> DemonstratedActs {
    let (inputs, mut receiver) = mpsc::channel(PERSON_INPUTS_WAITING_MAX);
    let stop = StopSwitch::new();
    let person = Person { desktop, inputs };
    // The desktop in memory answers at once, so that watching it never lets anything else of its thread run.
    let watching = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(watch(desktop, &mut receiver, &stop, &mut Silent))
    };
    let watched = std::thread::scope(|scope| {
        let watched = scope.spawn(watching);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            person.looks().await;
            work(&person).await;
        });
        stop.cancel(StopReason::User);
        watched.join().unwrap()
    });
    watched.unwrap().shown(request, &tools(), &|_| false)
}

fn calls(shown: &DemonstratedActs) -> Vec<(String, String)> {
    let call = |act: &deskhand_runtime::demonstration::ShownAct| {
        let name = act.target().map(|element| element.name.clone()).unwrap_or_default();
        let value =
            ["value", "text", "checked", "keys"].into_iter().find_map(|key| act.command.arguments.get(key));
        (format!("{} {name}", act.command.tool), value.map(ToString::to_string).unwrap_or_default())
    };
    shown.acts.iter().map(call).collect()
}

#[test]
fn clicks_and_texts_become_calls_and_the_password_is_in_none_of_them() {
    let request = "Order for Acme";
    let shown = shown(request, async |person| {
        person.clicks("Customer").await;
        person.types("Acme").await;
        person.clicks("PIN").await;
        person.types(PASSWORD).await;
        person.clicks("Express").await;
        person.clicks("Send").await;
    });
    let expected = [
        ("set_value Customer", "\"Acme\""),
        ("type_text PIN", "\"secret:password\""),
        ("set_checked Express", "true"),
        ("click_element Send", ""),
    ];
    let expected: Vec<(String, String)> =
        expected.map(|(call, value)| (call.to_owned(), value.to_owned())).to_vec();
    assert_eq!(calls(&shown), expected, "{:?}", shown.notes);
    assert!(shown.notes.iter().any(|note| note.contains("“PIN”")), "{:?}", shown.notes);

    let lesson = LearnOptions { name: "order".to_owned(), ..LearnOptions::default() };
    let draft = learn_shown(shown.clone(), request, &tools(), &lesson, "id").unwrap();
    let text = serde_json::to_string(&draft.workflow).unwrap();
    assert!(draft.workflow.parameters.contains_key("customer") && !text.contains("Zaun"), "{text}");
    // Where an application shows it elsewhere, it is hidden.
    let elsewhere = shown.without_passwords(format!("Welcome {PASSWORD}!")).unwrap();
    assert_eq!(elsewhere, "Welcome secret:password!");
}

#[test]
fn what_is_done_during_a_pause_is_not_kept() {
    let shown = shown("Order", async |person| {
        person.clicks("Express").await;
        person.pauses().await;
        person.clicks("Send").await;
        person.pauses().await;
        person.clicks("Express").await;
    });
    let calls = calls(&shown);
    let names: Vec<&str> = calls.iter().map(|(call, _)| call.as_str()).collect();
    assert_eq!(names, ["set_checked Express", "set_checked Express"]);
    assert_eq!((calls[0].1.as_str(), calls[1].1.as_str()), ("true", "false"));
}

#[test]
fn a_click_that_is_heard_of_late_is_on_what_was_there() {
    let shown = shown("Order", async |person| {
        person.clicks("More").await;
        person.clicks_unheard("Good").await;
        person.clicks("Express").await;
    });
    let names: Vec<String> = calls(&shown).into_iter().map(|(call, _)| call).collect();
    assert_eq!(
        names,
        ["click_element More", "click_element Good", "set_checked Express"],
        "{:?}",
        shown.notes
    );
}

#[test]
fn a_dialog_that_nobody_called_may_not_come_another_time() {
    let welcome = FakeWindow::dialog("Welcome").at(100, 40, 300, 200).elements([
        FakeElement::new(Role::CHECK_BOX, "Every time")
            .key("Every time")
            .at(20, 50, 200, 30)
            .on_click(Behaviour::Toggle),
        FakeElement::new(Role::PUSH_BUTTON, "Begin")
            .key("Begin")
            .at(20, 150, 100, 30)
            .on_click(Behaviour::CloseWindow),
    ]);
    let shown = shown_on(&form_with([welcome]), "Order", async |person| {
        person.clicks("Every time").await;
        person.clicks("Begin").await;
        person.clicks("More").await;
        person.clicks("Good").await;
    });
    let lesson = LearnOptions { name: "order".to_owned(), ..LearnOptions::default() };
    let draft = learn_shown(shown, "Order", &tools(), &lesson, "id").unwrap();
    let steps: Vec<(&str, bool)> =
        draft.workflow.steps.iter().map(|step| (step.call.as_str(), step.maybe)).collect();
    let expected =
        [("set_checked", true), ("click_element", true), ("click_element", false), ("click_element", false)];
    assert_eq!(steps, expected, "{:?}", draft.notes);
}
