//! Boxes of a visual parser, merged with the tree, clicked, and done without when the parser does not answer.

use std::time::Duration;

use deskhand_desktop::{Desktop, TreeLimits, UiTree};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionTarget, Click};
use deskhand_desktop_detect::{DetectOptions, DetectingDesktop, HttpCredential, OcrUse, OmniparserOptions};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_testkit::{
    endpoint::Behaviour,
    fixture::{Fixture, Screen, Toolkit},
    parser::{MockBox, MockParser},
};
use deskhand_ui::{Element, ElementSource, Role, Tree, WindowInfo, action::Verdict, geometry::Size};

use crate::{
    fixtures::{outline, request_of},
    programs::has_programs,
};

const TOKEN: &str = "let-me-in-4711";

struct Stage {
    desktop: DetectingDesktop<LinuxDesktop>,
    fixture: Fixture,
    window: WindowInfo,
    parser: MockParser,
}

fn options(parser: &MockParser, token: &str) -> DetectOptions {
    let omniparser = OmniparserOptions {
        endpoint: parser.address(),
        token: Some(HttpCredential::new(token).unwrap()),
        timeout: Duration::from_secs(20),
        picture_bytes_max: 8 << 20,
    };
    DetectOptions {
        ocr: OcrUse::Never,
        omniparser: Some(omniparser),
        retry_after: Duration::ZERO,
        ..DetectOptions::default()
    }
}

/// The application with icon buttons that have no names and a canvas without elements.
async fn start() -> Option<Stage> {
    if !has_programs(&[Toolkit::Page.needs()]) {
        return None;
    }
    let parser = MockParser::start(TOKEN).await.unwrap();
    let size = Size { width: 1280, height: 900 };
    let desktop =
        LinuxDesktop::start_virtual(VirtualOptions { size, ..VirtualOptions::default() }).await.unwrap();
    let desktop = DetectingDesktop::new(desktop, options(&parser, TOKEN));
    let fixture = Fixture::prepare(Toolkit::Page, Screen::Canvas).await.unwrap();
    let request = request_of(&fixture);
    let launched = act::launch(&desktop, &request, &ActLimits::default()).await.unwrap();
    let window = launched.window.clone().unwrap_or_else(|| panic!("{}", launched.summary()));
    fixture.ready().await.unwrap();
    Some(Stage { desktop, fixture, window, parser })
}

impl Stage {
    async fn see(&self) -> (Tree, Vec<String>) {
        let sight = self.desktop.see(self.window.id, TreeLimits::default()).await.unwrap();
        (sight.tree, sight.notices)
    }

    /// What an element covers, as the parser sees it.
    fn corners(&self, element: &Element) -> [u32; 4] {
        let bounds = element.bounds.unwrap();
        let edge = |edge: i32| u32::try_from(edge).unwrap();
        let (x, y) = (bounds.x - self.window.bounds.x, bounds.y - self.window.bounds.y);
        [edge(x), edge(y), edge(x + bounds.width), edge(y + bounds.height)]
    }

    /// Lets the parser find the first icon button, and the place `Open` of the canvas.
    async fn place_boxes(&self) -> Element {
        let tree = self.desktop.tree(self.window.id, TreeLimits::default()).await.unwrap();
        let is_icon = |element: &&Element| element.role == Role::PUSH_BUTTON && element.name.is_empty();
        let icon = tree.elements.iter().find(is_icon).unwrap_or_else(|| panic!("{}", outline(&tree))).clone();
        let is_canvas =
            |element: &&Element| element.bounds.is_some_and(|bounds| (640..=642).contains(&bounds.width));
        let canvas = tree.elements.iter().rfind(is_canvas).unwrap_or_else(|| panic!("{}", outline(&tree)));
        let [left, top, ..] = self.corners(canvas);
        let [x1, y1, x2, y2] = self.corners(&icon);
        self.parser.set_boxes([
            MockBox { kind: "icon", content: "a dot".to_owned(), corners: [x1 + 1, y1 + 1, x2 - 2, y2 - 1] },
            MockBox {
                kind: "icon",
                content: "Open a folder".to_owned(),
                corners: [left + 240, top + 40, left + 400, top + 100],
            },
        ]);
        icon
    }

    async fn click(&self, element: &Element) -> act::ActionReport {
        let target = ActionTarget::Element { id: element.id, name: Some(element.name.clone()) };
        act::click(&self.desktop, self.window.id, &Click::once(target), &ActLimits::default()).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn boxes_are_merged_with_the_tree_and_clicked() {
    let Some(stage) = start().await else { return };
    let icon = stage.place_boxes().await;
    let (tree, notices) = stage.see().await;
    assert_eq!(notices, Vec::<String>::new());
    let found: Vec<&Element> =
        tree.elements.iter().filter(|element| element.source == ElementSource::Omniparser).collect();
    let [open] = found.as_slice() else { panic!("one box is new:\n{}", outline(&tree)) };
    assert_eq!((open.name.as_str(), &open.role), ("Open a folder", &Role::DRAWN_ICON));
    let described = tree.find(icon.id).unwrap();
    assert_eq!(described.description, "a dot (by omniparser)", "the button without a name is told apart");
    // The same picture is not sent again.
    let asked = stage.parser.asked();
    assert_eq!(stage.see().await.0, tree);
    assert_eq!(stage.parser.asked(), asked);
    for (element, control) in [(*open, "Open"), (described, "Icon 1")] {
        let mark = stage.fixture.mark();
        let report = stage.click(element).await;
        assert_ne!(report.effect(), Verdict::Refused, "{}", report.summary());
        assert_ne!(report.effect(), Verdict::Seen, "nothing changes that can be seen: {}", report.summary());
        let entry = stage.fixture.happens(mark, |entry| entry.event == "clicked").await.unwrap();
        assert_eq!(entry.control, control);
    }
    // What the parser does not find any more, where it is asked again, is not clicked.
    stage.parser.set_boxes([]);
    stage.desktop.into_inner().shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_parser_that_does_not_answer_is_a_notice_and_the_look_goes_on() {
    let Some(mut stage) = start().await else { return };
    stage.place_boxes().await;
    let own = stage.desktop.tree(stage.window.id, TreeLimits::default()).await.unwrap();
    let address = stage.parser.address();
    for (behaviour, part) in [
        (Behaviour::status(500, "out of memory"), "answered 500 Internal Server Error: out of memory"),
        (Behaviour::status(500, format!("I got {TOKEN}")), "I got [redacted]"),
        (Behaviour::status(200, "<html>"), "sent an invalid response"),
        (Behaviour::status(200, "{\"parsed_content_list\": 3}"), "no list `parsed_content_list`"),
        (Behaviour::status(307, "").with_header("location", "http://127.0.0.1:1/"), "answered 307"),
        (Behaviour::CutBody, "cannot be reached"),
        (Behaviour::Close, "cannot be reached"),
    ] {
        stage.parser.misbehave([behaviour]);
        let (tree, notices) = stage.see().await;
        assert!(matches!(notices.as_slice(), [one] if one.contains(part)), "{part}: {notices:?}");
        assert!(
            notices.iter().all(|notice| notice.contains(&address) && !notice.contains(TOKEN)),
            "{notices:?}"
        );
        assert_eq!(tree, own, "{part}");
    }
    let wrong = options(&stage.parser, "another");
    stage.desktop = DetectingDesktop::new(stage.desktop.into_inner(), wrong);
    let (tree, notices) = stage.see().await;
    assert!(
        matches!(notices.as_slice(), [one] if one.contains("rejected the token (401 Unauthorized); correct `omniparser.token_env`")),
        "{notices:?}"
    );
    assert_eq!(tree, own);

    // Slow: the look waits no longer than it may, and the next one does not wait again.
    let mut slow = options(&stage.parser, TOKEN);
    slow.retry_after = Duration::from_secs(600);
    if let Some(parser) = &mut slow.omniparser {
        parser.timeout = Duration::from_millis(300);
    }
    stage.parser.misbehave([Behaviour::Hang]);
    stage.desktop = DetectingDesktop::new(stage.desktop.into_inner(), slow);
    let (tree, notices) = stage.see().await;
    assert!(
        matches!(notices.as_slice(), [one] if one.contains("did not answer within 300 ms; raise `omniparser.timeout_s`")),
        "{notices:?}"
    );
    assert_eq!(tree, own);
    let asked = stage.parser.asked();
    assert_eq!(stage.see().await, (own.clone(), notices), "said again, not asked again");
    assert_eq!(stage.parser.asked(), asked);

    let gone = options(&stage.parser, TOKEN);
    stage.parser.kill().await;
    stage.desktop = DetectingDesktop::new(stage.desktop.into_inner(), gone);
    let (tree, notices) = stage.see().await;
    assert!(
        matches!(notices.as_slice(), [one] if one.contains("cannot be reached: Connection refused")),
        "{notices:?}"
    );
    assert_eq!(tree, own);
    stage.desktop.into_inner().shut_down().await;
}
