//! The addresses of pages, as browsers tell them.

use deskhand_machine::policy::Subject;
use deskhand_machine::{
    command::ToolCommand,
    intent::{CommandAim, Does, Intent},
    observation::Observation,
};
use deskhand_testkit::fixture::{Screen, Toolkit};
use deskhand_ui::Role;
use deskhand_ui::{Surface, WindowView, ids::ElementId};

use crate::fixtures::{Stage, outline};

/// A page tells its address, and what is in it is judged as of that host, whatever stands in the page.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_element_of_a_page_is_of_its_host() {
    let Some(stage) = Stage::start(Toolkit::Page, Screen::Form).await else { return };
    let tree = stage.tree().await;
    let page = tree.elements.iter().find(|one| one.role == Role::DOCUMENT_WEB).unwrap();
    let opened = stage.fixture.arguments().iter().find_map(|one| one.strip_prefix("--app=")).unwrap();
    assert_eq!(page.address.as_deref(), Some(opened), "{}", outline(&tree));
    let others = tree.elements.iter().filter(|one| one.role != Role::DOCUMENT_WEB);
    assert!(others.clone().all(|one| one.address.is_none()));

    let host_of = |id: ElementId| {
        let intent = Intent { does: Does::Press, aims: vec![CommandAim::Element { id }] };
        let command = ToolCommand { tool: "click_element".to_owned(), intent, ..ToolCommand::default() };
        let surfaces = vec![Surface { window: stage.window.clone(), tree: tree.clone() }];
        let view = WindowView { surfaces, picture: None, notices: Vec::new() };
        Subject::of(&command, &Observation::Window(view)).hosts
    };
    let inside = others.clone().find(|one| one.name == "Count").unwrap();
    assert_eq!(host_of(inside.id), ["127.0.0.1"]);
    assert_eq!(host_of(tree.elements[0].id), [""; 0]);
    stage.desktop.shut_down().await;
}
