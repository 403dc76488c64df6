//! What is listed of documents and dialogs of LibreOffice: styles, what cells store, how far it goes on, drop-downs and labels. What the
//! documents have is written here, and what was done is judged by the file that is saved.

use std::{fs, time::Duration};

use deskhand_desktop::{Capture as _, LaunchRequest, TreeLimits, UiTree as _, WindowManagement as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionTarget, Click, TableTarget};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_machine::prompt::{ViewListOptions, view_text};
use deskhand_ui::{
    Description, ElementQuery, Role, Surface, Tree, WindowView,
    action::{Condition, Verdict},
    ids::WindowId,
};

use serde_json::json;

use crate::{fixtures::outline, programs::has_programs};

const BOUND: Duration = Duration::from_secs(30);

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
 xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.KIND">"#;

/// 55 rows and 6 columns; B is shown as percent, C as a day.
fn sheet() -> String {
    let mut rows = String::new();
    for row in 1..=55 {
        rows.push_str("<table:table-row>");
        for column in 1..=6 {
            let cell = match (row, column) {
                (1, column) => format!("office:value-type=\"string\"><text:p>Head {column}</text:p>"),
                (row, 2) => {
                    format!(
                        "table:style-name=\"p\" office:value-type=\"percentage\" office:value=\"0.12{row}\">"
                    )
                }
                (row, 3) => {
                    let day = row % 28 + 1;
                    let date = format!("office:date-value=\"2025-03-{day:02}\"");
                    format!("table:style-name=\"d\" office:value-type=\"date\" {date}>")
                }
                (row, column) => {
                    format!("office:value-type=\"float\" office:value=\"{}\">", (60 - row) * 10 + column)
                }
            };
            rows.push_str(&format!("<table:table-cell {cell}</table:table-cell>"));
        }
        rows.push_str("</table:table-row>");
    }
    let head = HEAD.replace("KIND", "spreadsheet");
    format!(
        r#"{head}<office:automatic-styles>
<number:percentage-style style:name="N1"><number:number number:decimal-places="0"
 number:min-integer-digits="1"/><number:text>%</number:text></number:percentage-style>
<number:date-style style:name="N2"><number:day/><number:text>. </number:text><number:month
 number:textual="true"/></number:date-style>
<style:style style:name="p" style:family="table-cell" style:data-style-name="N1"/>
<style:style style:name="d" style:family="table-cell" style:data-style-name="N2"/></office:automatic-styles>
<office:body><office:spreadsheet><table:table table:name="Data">{rows}</table:table></office:spreadsheet>
</office:body></office:document>"#
    )
}

/// A heading, a paragraph with bold words, one that is all bold, and several pages.
fn text() -> String {
    let long: String =
        (1..=120).map(|at| format!("<text:p>Part {at} {}</text:p>", "and so on ".repeat(14))).collect();
    let head = HEAD.replace("KIND", "text");
    format!(
        r#"{head}<office:styles><style:style style:name="Standard" style:family="paragraph"/>
<style:style style:name="Heading_20_1" style:display-name="Heading 1" style:family="paragraph"
 style:parent-style-name="Standard" style:default-outline-level="1"/></office:styles>
<office:automatic-styles><style:style style:name="T1" style:family="text"><style:text-properties
 fo:font-weight="bold"/></style:style></office:automatic-styles><office:body><office:text>
<text:h text:style-name="Heading_20_1" text:outline-level="1">North</text:h>
<text:p>Plain words and <text:span text:style-name="T1">strong words</text:span> here.</text:p>
<text:p><text:span text:style-name="T1">All of it.</text:span></text:p>{long}
</office:text></office:body></office:document>"#
    )
}

struct Office {
    folder: tempfile::TempDir,
    desktop: LinuxDesktop,
    window: WindowId,
    limits: ActLimits,
}

impl Office {
    async fn open(name: &str, document: &str) -> Option<Self> {
        if !has_programs(&["soffice"]) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, document).unwrap();
        let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
        let limits = ActLimits::default();
        let profile = format!("-env:UserInstallation=file://{}/profile", folder.path().display());
        let arguments = vec![profile, path.display().to_string()];
        let request = LaunchRequest { program: "soffice".to_owned(), arguments };
        let window = act::launch(&desktop, &request, &limits).await.unwrap().window.unwrap().id;
        Some(Self { folder, desktop, window, limits })
    }

    async fn tree(&self, window: WindowId) -> Tree {
        self.desktop.tree(window, TreeLimits::default()).await.unwrap()
    }

    async fn surface(&self, window: WindowId) -> Surface {
        let windows = self.desktop.windows().await.unwrap();
        let info = windows.into_iter().find(|info| info.id == window).unwrap();
        Surface { window: info, tree: self.tree(window).await }
    }

    /// As an agent is shown it.
    async fn listing(&self, window: WindowId) -> String {
        let view =
            WindowView { surfaces: vec![self.surface(window).await], picture: None, notices: Vec::new() };
        view_text(&view, &ViewListOptions { tokens_max: 40_000, ..ViewListOptions::default() })
    }

    async fn shows(&self, wanted: ElementQuery) {
        let condition = Condition::Appears(wanted);
        let shown = act::wait_for(&self.desktop, self.window, &condition, BOUND).await.unwrap();
        assert_eq!(shown.effect(), Verdict::Seen, "{}", shown.summary());
    }

    /// The dialog that the menu opens.
    async fn dialog(&self, path: &[&str]) -> WindowId {
        let path: Vec<String> = path.iter().map(|&name| name.to_owned()).collect();
        let opened = act::visit(&self.desktop, self.window, &path, &self.limits).await.unwrap();
        opened.window.clone().unwrap_or_else(|| panic!("{}", opened.summary())).id
    }

    async fn named(&self, window: WindowId, role: Role, name: &str) -> ActionTarget {
        let found = act::find_element(&self.desktop, window, &ElementQuery::new(role, name)).await.unwrap();
        ActionTarget::element(found.unwrap_or_else(|| panic!("no {name}")).1.id)
    }

    async fn click(&self, target: ActionTarget) {
        let report =
            act::click(&self.desktop, self.window, &Click::once(target), &self.limits).await.unwrap();
        assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    }

    async fn picture(&self, name: &str) {
        if let Some(folder) = std::env::var_os("DESKHAND_TEST_PICTURES") {
            let png = self.desktop.screen().await.unwrap().to_png().unwrap();
            fs::write(std::path::Path::new(&folder).join(name), png).unwrap();
        }
    }
}

fn has_line(listing: &str, parts: &[&str]) {
    let has = |line: &str| parts.iter().all(|part| line.contains(part));
    assert!(listing.lines().any(has), "no line with {parts:?} in\n{listing}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sheet_is_listed_with_what_its_cells_store_and_how_far_it_goes_on() {
    let Some(office) = Office::open("data.fods", &sheet()).await else { return };
    office.shows(ElementQuery::new(Role::TABLE_CELL, "B3")).await;
    let listing = office.listing(office.window).await;
    has_line(&listing, &["\"B3\" = \"12.3%\""]);
    has_line(&listing, &["\"C3\" (2025-03-04)"]);
    has_line(&listing, &["\"A3\" = \"571\""]);
    has_line(&listing, &["table \"Sheet Data\"", "goes on to about row 5"]);
    assert!(!listing.contains("and column"), "{listing}");
    let range = Some("A2:C3".parse().unwrap());
    let target = TableTarget::Largest;
    let read = act::read_table(&office.desktop, office.window, &target, range).await.unwrap();
    println!("{}", read.output);
    let shown = json!({"B2": "12%", "B3": "12%", "C2": "3. Mar", "C3": "4. Mar"});
    assert_eq!(read.output["shown"], shown, "{}", read.output);
    office.picture("sheet.png").await;
    let stale = office.desktop.verify_tree(office.window, TreeLimits::default()).await.unwrap();
    assert!(stale.is_empty(), "{stale:#?}");
    office.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_is_listed_with_its_styles_and_pages() {
    let Some(office) = Office::open("text.fodt", &text()).await else { return };
    office.shows(ElementQuery::named("")).await;
    let listing = office.listing(office.window).await;
    has_line(&listing, &["heading (", "Heading 1", "= \"North\""]);
    has_line(&listing, &["paragraph (bold “strong words”)", "Plain words"]);
    has_line(&listing, &["(bold) = \"All of it.\""]);
    has_line(&listing, &["document text", "page 1 of "]);
    office.picture("text.png").await;
    let stale = office.desktop.verify_tree(office.window, TreeLimits::default()).await.unwrap();
    assert!(stale.is_empty(), "{stale:#?}");
    office.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_sorted_in_the_dialog_with_drop_downs_without_names() {
    let Some(office) = Office::open("data.fods", &sheet()).await else { return };
    office.shows(ElementQuery::new(Role::TABLE_CELL, "B3")).await;
    let dialog = office.dialog(&["Data", "Sort..."]).await;
    let listing = office.listing(dialog).await;
    has_line(&listing, &["toggle button beside \"Column\""]);
    let tree = office.tree(dialog).await;
    let boxes = tree.elements.iter().filter(|one| one.role == Role::TOGGLE_BUTTON && one.name.is_empty());
    let box_ids: Vec<_> = boxes.map(|one| one.id).collect();
    let (desktop, limits) = (&office.desktop, &office.limits);
    let first = *box_ids.first().unwrap_or_else(|| panic!("{}", outline(&tree)));
    let none = act::select(desktop, dialog, first, "Head 9", limits).await.unwrap();
    assert_eq!(none.effect(), Verdict::Refused, "{}", none.summary());
    assert!(none.summary().contains("Head 4"), "{}", none.summary());
    let same = act::select(desktop, dialog, first, "Head 1", limits).await.unwrap();
    assert_eq!(same.effect(), Verdict::Seen, "{}", same.summary());
    let chosen = act::select(desktop, dialog, first, "Head 4", limits).await.unwrap();
    println!("{} after {} ms", chosen.summary(), chosen.waited_ms());
    assert_eq!(chosen.effect(), Verdict::Seen, "{}", chosen.summary());
    office.picture("sort.png").await;
    office.click(office.named(dialog, Role::PUSH_BUTTON, "OK").await).await;
    let path = office.folder.path().join("data.fods");
    let saved = act::save(desktop, office.window, Some(true), limits).await.unwrap();
    println!("{}", saved.summary());
    let saved = fs::read_to_string(&path).unwrap();
    office.desktop.shut_down().await;
    let row = |value: &str| saved.find(&format!("office:value=\"{value}\"")).expect("a row");
    assert!(row("54") < row("584"), "the rows are sorted by the fourth column");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn margins_of_a_page_have_the_labels_beside_them() {
    let Some(office) = Office::open("data.fods", &sheet()).await else { return };
    office.shows(ElementQuery::new(Role::TABLE_CELL, "B3")).await;
    let dialog = office.dialog(&["Format", "Page Style..."]).await;
    office.click(office.named(dialog, Role::PAGE_TAB, "Page").await).await;
    let listing = office.listing(dialog).await;
    for label in ["Left:", "Right:", "Top:", "Bottom:", "Height:", "Width:"] {
        has_line(&listing, &[&format!("beside \"{label}\"")]);
    }
    has_line(&listing, &["beside \"Format:\""]);
    let description = Description { name: Some("Left".to_owned()), ..Description::default() };
    let found = description.find(&[office.surface(dialog).await]);
    assert!(found.is_ok(), "{found:?}");
    office.picture("margins.png").await;
    office.desktop.shut_down().await;
}
