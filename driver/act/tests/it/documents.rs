//! Saving: what the file, the mark of unsaved changes and the dialogs of the application prove.

use deskhand_desktop::{Documents, WindowManagement, keys::KeyChord};
use deskhand_desktop_act::{ActLimits, ActionReport, SaveAsOptions, press_keys, save, save_as, visit};
use deskhand_desktop_fake::{Behaviour, FakeApp, FakeDesktop, FakeElement, FakeWindow};
use deskhand_ui::{
    Role, WindowKind,
    action::{ActionProof, Evidence, Shortfall, Uncertainty, Verdict},
};

const PATH: &str = "/a/notes.txt";

fn title(text: &str) -> Behaviour {
    Behaviour::Title(text.to_owned())
}

fn written(content: &str) -> Behaviour {
    Behaviour::WriteFile { path: PATH.to_owned(), content: content.to_owned() }
}

/// Saves a document with unsaved changes whose application does this on Ctrl+S.
async fn saving(behaviour: Behaviour, keep_format: Option<bool>) -> (FakeDesktop, ActionReport) {
    let window = FakeWindow::normal("*notes.txt - Editor").chord("ctrl+s", behaviour);
    let desktop = FakeDesktop::new([FakeApp::new("Editor", "editor", [window])], []);
    desktop.add_file(PATH, "old");
    let id = desktop.windows().await.unwrap()[0].id;
    let report = save(&desktop, id, keep_format, &ActLimits::default()).await.unwrap();
    (desktop, report)
}

fn saved(bytes: u64) -> Evidence {
    ActionProof::Saved { path: PATH.to_owned(), bytes, already: false }.into()
}

fn not_saved(changed: bool) -> Evidence {
    Shortfall::NotSaved { path: Some(PATH.to_owned()), modified: Some(true), changed }.into()
}

#[tokio::test]
async fn the_file_and_the_mark_prove_it() {
    let check = async |behaviour: Behaviour, expected: Evidence| {
        let (_, report) = saving(behaviour, None).await;
        assert_eq!(report.actions[0].evidence, expected, "{}", report.summary());
    };
    let clean = || title("notes.txt - Editor");
    check(Behaviour::All(vec![written("new!"), clean()]), saved(4)).await;
    // A slow one, in pieces; the mark goes last.
    let pieces = vec![written("ne").after(1_500), written("new!").after(3_000), clean().after(3_200)];
    check(Behaviour::All(pieces), saved(4)).await;
    // An automatic copy is not the save; nor is a title that changes alone.
    check(written("copy"), not_saved(true)).await;
    check(Behaviour::Nothing, not_saved(false)).await;
    check(clean(), Uncertainty::FileUnchanged { path: Some(PATH.to_owned()) }.into()).await;
}

fn asks_format() -> Behaviour {
    let writes = |content: &str| {
        Behaviour::All(vec![written(content), title("notes.txt - Editor"), Behaviour::CloseWindow])
    };
    let button =
        |name: &str, content: &str| FakeElement::new(Role::PUSH_BUTTON, name).on_click(writes(content));
    let dialog = FakeWindow::dialog("Keep Current Format?")
        .elements([button("Use Text CSV Format!", "csv"), button("Use ODF Format!", "odf")]);
    Behaviour::Open(Box::new(dialog))
}

#[tokio::test]
async fn the_question_about_the_format_is_answered_or_named() {
    for (keep_format, content) in [(Some(true), Some("csv")), (Some(false), Some("odf")), (None, None)] {
        let (desktop, report) = saving(asks_format(), keep_format).await;
        let file = desktop.files().into_iter().find(|(path, _)| path == PATH).unwrap();
        assert_eq!(file.1, content.unwrap_or("old"), "{}", report.summary());
        match content {
            Some(_) => assert_eq!(report.actions[0].evidence, saved(3)),
            None => assert!(
                matches!(
                    &report.actions[0].evidence,
                    Evidence::NotSeen { shortfall: Shortfall::Asks { .. } }
                ),
                "{}",
                report.summary()
            ),
        }
    }
}

#[tokio::test]
async fn keys_and_the_menu_get_the_same_proof_and_a_saved_document_is_left_alone() {
    let save_item = || {
        let writes =
            Behaviour::All(vec![written("new!").after(900), title("notes.txt - Editor").after(2_500)]);
        FakeElement::new(Role::MENU_ITEM, "Save").on_click(writes)
    };
    let menu = FakeElement::new(Role::MENU, "File").children([save_item()]);
    let writes = Behaviour::All(vec![written("new!").after(900), title("notes.txt - Editor").after(2_500)]);
    let window =
        || FakeWindow::normal("*notes.txt - Editor").elements([menu.clone()]).chord("ctrl+s", writes.clone());
    for by_menu in [true, false] {
        let desktop = FakeDesktop::new([FakeApp::new("Editor", "editor", [window()])], []);
        desktop.add_file(PATH, "old");
        let id = desktop.windows().await.unwrap()[0].id;
        let limits = ActLimits::default();
        let report = if by_menu {
            visit(&desktop, id, &["File".to_owned(), "Save".to_owned()], &limits).await.unwrap()
        } else {
            let chord: KeyChord = "ctrl+s".parse().unwrap();
            press_keys(&desktop, id, &[chord], &limits).await.unwrap()
        };
        assert_eq!(report.actions[0].evidence, saved(4), "{}", report.summary());
        let again = save(&desktop, id, None, &limits).await.unwrap();
        assert_eq!((again.effect(), again.route()), (Verdict::Seen, None), "{}", again.summary());
    }
}

#[tokio::test]
async fn saving_as_writes_the_named_file_and_never_replaces_one_unasked() {
    let field = FakeElement::new(Role::ENTRY, "Name").key("name");
    let save = FakeElement::new(Role::PUSH_BUTTON, "Save")
        .on_click(Behaviour::Save { entry: "name".to_owned(), title: "{file} - Editor".to_owned() });
    let dialog = FakeWindow::dialog("Save As").elements([field, save]);
    let window =
        FakeWindow::normal("*Untitled 1 - Editor").chord("ctrl+shift+s", Behaviour::Open(Box::new(dialog)));
    let desktop = FakeDesktop::new([FakeApp::new("Editor", "editor", [window])], []);
    desktop.add_file("/a/there.txt", "precious");
    let id = desktop.windows().await.unwrap()[0].id;
    let to = |path: &str| SaveAsOptions {
        path: path.to_owned(),
        format: None,
        keep_format: None,
        overwrite: false,
    };
    let refused = save_as(&desktop, id, &to("/a/there.txt"), &ActLimits::default()).await.unwrap();
    assert_eq!((refused.effect(), refused.route()), (Verdict::Refused, None), "{}", refused.summary());
    assert!(desktop.windows().await.unwrap().iter().all(|info| info.kind == WindowKind::Normal));
    let report = save_as(&desktop, id, &to("/a/new.txt"), &ActLimits::default()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    let window = desktop.windows().await.unwrap().remove(0);
    let document = desktop.document(&window).await.unwrap().unwrap();
    assert_eq!((document.path.as_deref(), document.modified), (Some("/a/new.txt"), Some(false)));
}

/// As in GTK 3 while it reads a folder: the dialog stays as it was after the first press of its button.
#[tokio::test]
async fn a_press_that_the_dialog_forgets_is_made_again() {
    let path = "/a/new.txt";
    let writes = Behaviour::All(vec![
        Behaviour::WriteFile { path: path.to_owned(), content: "text".to_owned() },
        title("new.txt - Editor"),
        Behaviour::CloseWindow,
    ]);
    let works = FakeElement::new(Role::PUSH_BUTTON, "Save").on_click(writes);
    let forgets = Behaviour::All(vec![Behaviour::Add(Box::new(works)), Behaviour::Remove { key: None }]);
    let dialog = FakeWindow::dialog("Save As")
        .elements([
            FakeElement::new(Role::ENTRY, "Name:").key("name"),
            FakeElement::new(Role::PUSH_BUTTON, "Save").on_click(forgets),
        ])
        .focus("name");
    let opens = Behaviour::Open(Box::new(dialog));
    let window = FakeWindow::normal("*notes.txt - Editor").chord("ctrl+shift+s", opens);
    let desktop = FakeDesktop::new([FakeApp::new("Editor", "editor", [window])], []);
    // The folder has to exist.
    desktop.add_file(PATH, "old");
    let id = desktop.windows().await.unwrap()[0].id;
    let wanted = SaveAsOptions { path: path.to_owned(), format: None, keep_format: None, overwrite: false };
    let report = save_as(&desktop, id, &wanted, &ActLimits::default()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    let written = desktop.files().into_iter().filter(|(file, _)| file == path).count();
    assert_eq!(written, 1);
}
