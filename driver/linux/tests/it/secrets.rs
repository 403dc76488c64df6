//! Secrets typed into real applications, judged by their own log: what arrives there is the value, and nothing that is read or
//! taken a picture of shows it.

use std::process::{Command, Stdio};

use deskhand_desktop::{Capture as _, Picture, TreeLimits, UiTree as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{
    ActLimits, ActionReport, NewValue, PermittedDesktop, SecretUse, TypeTextOptions, VeiledDesktop,
};
use deskhand_desktop_linux::LinuxDesktop;
use deskhand_secret::{ReadValue, SecretReader, SecretValue, Secrets, Veil};
use deskhand_testkit::fixture::{Fixture, Screen, Toolkit};
use deskhand_ui::{
    Element, Tree, WindowInfo,
    action::Verdict,
    geometry::{Rect, Screen as OnScreen},
    ids::ElementId,
    secret::SecretPermit,
};
use serde_json::{Value, json};

use crate::fixtures::{Stage, outline};

/// Longer than `secret:shop`, so that places in texts differ.
const CANARY: &str = "Kanarie-7f3a&Vogel";

struct Fixed;

impl SecretReader for Fixed {
    fn read<'a>(&'a self, _name: &'a str) -> ReadValue<'a> {
        Box::pin(async { Ok(SecretValue::new(CANARY).unwrap()) })
    }
}

struct Typing {
    desktop: VeiledDesktop<LinuxDesktop>,
    fixture: Fixture,
    window: WindowInfo,
    secrets: Secrets,
    permit: SecretPermit,
    limits: ActLimits,
}

impl Typing {
    async fn start(toolkit: Toolkit, screen: Screen) -> Option<Self> {
        let Stage { desktop, fixture, window } = Stage::start(toolkit, screen).await?;
        let secrets = Secrets::new(Fixed, Veil::default());
        let permit = SecretPermit {
            name: "shop".to_owned(),
            application: "*".to_owned(),
            role: "*".to_owned(),
            host: (toolkit == Toolkit::Page).then(|| "127.0.0.1".to_owned()),
            window: "*".to_owned(),
        };
        let desktop = VeiledDesktop::new(desktop, secrets.veil().clone());
        Some(Self { desktop, fixture, window, secrets, permit, limits: ActLimits::default() })
    }

    async fn tree(&self) -> Tree {
        self.desktop.tree(self.window.id, TreeLimits::default()).await.unwrap()
    }

    async fn named(&self, name: &str) -> Element {
        let tree = self.tree().await;
        let found = tree.elements.iter().find(|one| one.name == name && one.role.is_interactive());
        found.unwrap_or_else(|| panic!("no {name} in\n{}", outline(&tree))).clone()
    }

    /// Types the secret into `name` as it was permitted for `judged`.
    async fn type_as(&self, judged: ElementId, name: &str, clear: bool) -> ActionReport {
        let permit = SecretUse { permit: &self.permit, field: judged, secrets: &self.secrets };
        let desktop = PermittedDesktop::new(&self.desktop, &permit, Some(self.window.id));
        let element = Some(self.named(name).await.id);
        let request = TypeTextOptions { element, name: None, text: "secret:shop".to_owned(), clear };
        let report = act::type_text(&desktop, self.window.id, &request, &self.limits).await.unwrap();
        println!("type into {name}: {} {}", report.effect(), report.summary());
        hidden(&format!("{report:?} {}", report.summary()));
        report
    }

    async fn type_into(&self, name: &str, clear: bool) -> ActionReport {
        self.type_as(self.named(name).await.id, name, clear).await
    }

    async fn set(&self, name: &str) -> ActionReport {
        let field = self.named(name).await.id;
        let permit = SecretUse { permit: &self.permit, field, secrets: &self.secrets };
        let desktop = PermittedDesktop::new(&self.desktop, &permit, Some(self.window.id));
        let value = NewValue::Text("secret:shop".to_owned());
        let report =
            act::set_value(&desktop, self.window.id, field, None, &value, &self.limits).await.unwrap();
        println!("set {name}: {} {}", report.effect(), report.summary());
        hidden(&format!("{report:?} {}", report.summary()));
        report
    }

    async fn value(&self, name: &str) -> Value {
        self.fixture.state().await.unwrap()[name].clone()
    }

    async fn put(&self, name: &str, value: Value) {
        self.fixture.ask("put", json!({ "control": name, "value": value })).await.unwrap();
    }

    async fn end(self) {
        self.desktop.into_inner().shut_down().await;
    }
}

#[track_caller]
fn hidden(text: &str) {
    let folded = text.to_lowercase();
    for form in [CANARY, "kanarie", "7f3a", "Kanarie-7f3a%26Vogel", "Kanarie-7f3a&amp;Vogel"] {
        assert!(!folded.contains(&form.to_lowercase()), "{form} in {text}");
    }
}

/// Returns `true` if a part of a picture has one colour.
fn is_plain(picture: &Picture, bounds: Rect<OnScreen>) -> bool {
    let place = picture.place(&bounds).unwrap();
    let at = |x: i32, y: i32| {
        let start = usize::try_from(3 * (y * picture.region.width + x)).unwrap();
        picture.rgb[start..start + 3].to_vec()
    };
    let first = at(place.x, place.y);
    (place.y..place.bottom()).all(|y| (place.x..place.right()).all(|x| at(x, y) == first))
}

/// What a reader of pictures finds in one.
fn read(picture: &Picture) -> String {
    use std::io::Write as _;
    let mut reader = Command::new("tesseract")
        .args(["-", "-", "--psm", "11"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut picture = picture.clone();
    picture = picture.fitted(0);
    reader.stdin.take().unwrap().write_all(&picture.to_png().unwrap()).unwrap();
    String::from_utf8_lossy(&reader.wait_with_output().unwrap().stdout).into_owned()
}

/// The value arrives in both kinds of fields by both tools, and is nowhere else.
async fn arrives_and_is_hidden(toolkit: Toolkit) {
    let Some(typing) = Typing::start(toolkit, Screen::Form).await else { return };
    typing.put("Name", json!("old")).await;
    let shown = typing.named("Name").await.bounds.unwrap();
    assert!(!is_plain(&typing.desktop.screen().await.unwrap(), shown), "nothing is black before");

    let told = typing.type_into("Secret", true).await.effect();
    assert_eq!(told, Verdict::Seen, "{toolkit}: by its length");
    assert_eq!(typing.value("Secret").await, json!(CANARY), "{toolkit}");
    assert_eq!(typing.type_into("Name", true).await.effect(), Verdict::Seen, "{toolkit}");
    assert_eq!(typing.value("Name").await, json!(CANARY), "{toolkit}");
    typing.put("Name", json!("")).await;
    assert_eq!(typing.set("Name").await.effect(), Verdict::Seen, "{toolkit}");
    assert_eq!(typing.value("Name").await, json!(CANARY), "{toolkit}");
    // A second one at the caret, which a click on the field may have put into the first.
    typing.type_into("Name", false).await;
    let length = typing.value("Name").await.as_str().unwrap().chars().count();
    let one = CANARY.chars().count();
    assert!([one, 2 * one].contains(&length), "{toolkit}: {length} characters");
    hidden(&outline(&typing.tree().await));
    typing.type_into("Name", true).await;
    assert_eq!(typing.value("Name").await, json!(CANARY), "{toolkit}");
    typing.set("Secret").await;
    assert_eq!(typing.value("Secret").await, json!(CANARY), "{toolkit}");

    let tree = typing.tree().await;
    hidden(&outline(&tree));
    assert!(outline(&tree).contains("secret:shop"), "{toolkit}:\n{}", outline(&tree));
    let picture = typing.desktop.screen().await.unwrap();
    for name in ["Name", "Secret"] {
        let bounds = typing.named(name).await.bounds.unwrap();
        assert!(is_plain(&picture, bounds), "{toolkit}: {name} is shown at {bounds:?}");
    }
    hidden(&read(&picture));
    typing.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_arrives_and_is_hidden_in_gtk_3() {
    arrives_and_is_hidden(Toolkit::Gtk3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_arrives_and_is_hidden_in_gtk_4() {
    arrives_and_is_hidden(Toolkit::Gtk4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_arrives_and_is_hidden_in_qt() {
    arrives_and_is_hidden(Toolkit::Qt).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_arrives_and_is_hidden_in_a_page() {
    arrives_and_is_hidden(Toolkit::Page).await;
}

/// What an application makes of the value is hidden as well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_value_is_hidden_too() {
    let Some(typing) = Typing::start(Toolkit::Gtk3, Screen::Writing).await else { return };
    let report = typing.type_into("Upper", true).await;
    assert_eq!(typing.value("Upper").await, json!(CANARY.to_uppercase()), "{}", report.summary());
    assert_eq!(report.effect(), Verdict::NotSeen, "another text is no effect: {}", report.summary());
    hidden(&outline(&typing.tree().await));
    // The user shortens it: a part of it is still no news for anybody.
    typing.put("Upper", json!("KANARIE")).await;
    let tree = typing.tree().await;
    hidden(&outline(&tree));
    assert!(outline(&tree).contains("[part of secret:shop]"), "{}", outline(&tree));
    typing.end().await;
}

/// The last look: nothing is typed into another field than the one that was judged, nor where the permission does not hold now.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_typed_where_it_is_not_permitted_now() {
    let Some(mut typing) = Typing::start(Toolkit::Page, Screen::Form).await else { return };
    let refused = async |typing: &Typing, judged: ElementId, why: &str| {
        let report = typing.type_as(judged, "Secret", false).await;
        assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
        assert!(report.summary().contains(why), "{why}: {}", report.summary());
        assert_eq!(typing.value("Secret").await, json!(""), "{why}");
    };
    let (secret, name) = (typing.named("Secret").await.id, typing.named("Name").await.id);
    refused(&typing, name, "the keyboard does not go to it").await;
    typing.permit.host = Some("shop.example".to_owned());
    refused(&typing, secret, "`127.0.0.1`: `secrets.shop.host` is `shop.example`").await;
    typing.permit.host = None;
    refused(&typing, secret, "`secrets.shop.host` does not name its host").await;
    typing.permit.host = Some("*".to_owned());
    typing.permit.role = "entry".to_owned();
    refused(&typing, secret, "`secrets.shop.role` is `entry`").await;
    typing.permit.role = "*".to_owned();
    typing.permit.application = "Mail".to_owned();
    refused(&typing, secret, "`secrets.shop.application` is `Mail`").await;
    typing.permit.application = "*".to_owned();
    typing.permit.window = "Bank*".to_owned();
    refused(&typing, secret, "`secrets.shop.window` is `Bank*`").await;
    typing.end().await;
}
