//! Listings of windows, with trees recorded from real applications.

use deskhand_machine::prompt::{
    PageQuery, ViewListOptions, changes_text, marked_elements, relevant_words, view_page, view_text,
};
use deskhand_ui::{
    CellRef, Element, ElementSource, Role, State, States, Surface, Tree, WindowView, ids::ElementId,
    text::tokens,
};

use crate::harness::{element, window};

fn read(text: &str) -> WindowView {
    let surface: Surface = serde_json::from_str(text).expect("a surface");
    WindowView { surfaces: vec![surface], picture: None, notices: Vec::new() }
}

fn calc() -> WindowView {
    read(include_str!("windows/calc.json"))
}

fn writer() -> WindowView {
    read(include_str!("windows/writer.json"))
}

fn whole(view: &WindowView) -> String {
    view_text(view, &ViewListOptions::default())
}

fn changes(old: &WindowView, new: &WindowView) -> String {
    changes_text(old, new, &ViewListOptions::default())
}

#[test]
fn an_empty_sheet() {
    insta::assert_snapshot!("calc", whole(&calc()));
}

#[test]
fn a_document_with_a_table() {
    insta::assert_snapshot!("writer", whole(&writer()));
}

/// The view with one element changed.
fn with(view: &WindowView, id: u32, change: impl FnOnce(&mut Element)) -> WindowView {
    let mut view = view.clone();
    let elements = &mut view.surfaces[0].tree.elements;
    change(elements.iter_mut().find(|element| element.id == ElementId(id)).expect("it is there"));
    view
}

#[test]
fn changed_cell_is_one_line() {
    let old = writer();
    let new = with(&old, 148, |paragraph| paragraph.text = Some("Area".to_owned()));
    insta::assert_snapshot!(changes(&old, &new), @r#"
    <untrusted source="screen">
    - [w1] window "sales.odt - LibreOffice Writer" of LibreOffice Writer (active)
    changed:
    [e128] table cell "A1" = "Area"
    </untrusted>
    "#);
    let (full, part) = (tokens(&whole(&new)), tokens(&changes(&old, &new)));
    assert!(part * 5 <= full, "{part} tokens of {full}");
    assert_eq!(changes(&old, &old), "");
    assert_eq!(
        changes(&old, &with(&old, 148, |paragraph| paragraph.bounds = None)),
        "",
        "places are not listed"
    );
}

#[test]
fn new_elements_are_listed_by_container_and_removed_ones_by_id() {
    let old = calc();
    let mut new = with(&old, 104, |button| button.states.insert(State::Checked));
    let tree = &mut new.surfaces[0].tree;
    let table = tree.elements.iter().position(|element| element.id == ElementId(136)).unwrap();
    let depth = tree.elements[table].depth + 1;
    tree.elements.insert(table + 1, element(300, depth, Role::TABLE_CELL, "A1"));
    tree.elements.retain(|element| !(61..=63).contains(&element.id.0) && element.id.0 != 66);
    let mut dialog = window(2, "Save Document?", "LibreOffice Calc");
    dialog.owner = Some(new.surfaces[0].window.id);
    let elements = vec![
        element(400, 0, Role::ALERT, "Save Document?"),
        element(401, 1, Role::LABEL, "Save changes?"),
        element(402, 1, Role::PUSH_BUTTON, "Save"),
        element(403, 1, Role::PUSH_BUTTON, "Cancel"),
    ];
    new.surfaces.push(Surface { window: dialog, tree: Tree { elements, partial: None } });
    insta::assert_snapshot!(changes(&old, &new), @r#"
    <untrusted source="screen">
    new window:
    - [w2] window "Save Document?" of LibreOffice Calc
    [e401] label "Save changes?"
    [e402] push button "Save" | [e403] "Cancel"
    </untrusted>
    <untrusted source="screen">
    - [w1] window "Untitled 1 - LibreOffice Calc" of LibreOffice Calc (active)
    changed:
    [e104] toggle button "Draw Functions" (checked)
    new in e136:
    [e300] table cell "A1"
    gone: e61 to e63, e66
    </untrusted>
    "#);
    insta::assert_snapshot!(changes(&new, &old).lines().last().unwrap_or_default(), @"</untrusted>");
    assert!(changes(&new, &old).contains("gone with its elements: - [w2] window \"Save Document?\""));
}

#[test]
fn omitted_elements_are_counted_and_relevant_ones_listed_first() {
    let options =
        |tokens_max, text: &str| ViewListOptions { tokens_max, words: relevant_words(std::iter::once(text)) };
    let view = calc();
    let text = view_text(&view, &options(200, "Make a pivot table of the cells"));
    assert!(tokens(&text) < 280, "{text}");
    assert!(text.contains("\"Pivot Table\"") && text.contains("table \"Sheet Sheet1\""), "{text}");
    assert!(text.contains("more elements omitted; `more` lists them)"), "{text}");
    assert!(!text.contains("Freeze Rows"), "{text}");
    // Paging loses nothing of the full listing.
    let page = |page| view_page(&view, &PageQuery { page, ..PageQuery::default() }, 200);
    let first = page(1);
    let count: usize = first.strip_prefix("page 1 of ").unwrap().split(',').next().unwrap().parse().unwrap();
    let pages: String = (1..=count).map(page).collect();
    for id in whole(&view).split('[').skip(1).filter_map(|part| part.split(']').next()) {
        assert!(pages.contains(&format!("[{id}]")), "{id} is on no page");
    }
    assert!(page(count + 1).contains("does not exist"));
    let found = view_page(
        &view,
        &PageQuery { find: Some("ALIGN".to_owned()), inside: Some(ElementId(21)), page: 1 },
        200,
    );
    assert!(found.contains("5 elements in all") && found.contains("\"Align Bottom\""), "{found}");
    let none = PageQuery { find: Some("no such".to_owned()), ..PageQuery::default() };
    assert_eq!(view_page(&view, &none, 200), "no matching element");
}

#[test]
fn empty_cells_of_large_tables_are_omitted() {
    let mut elements = vec![element(1, 0, Role::TABLE, "Big")];
    for cell in 0..100_u32 {
        let mut one = element(cell + 2, 1, Role::TABLE_CELL, "");
        one.bounds =
            Some(deskhand_ui::geometry::Rect::new(0, i32::try_from(cell / 10).unwrap() * 20, 10, 20));
        one.text = (cell % 11 == 0).then(|| format!("value {cell}"));
        elements.push(one);
    }
    let surface = Surface { window: window(1, "Main", "App"), tree: Tree { elements, partial: None } };
    let view = WindowView { surfaces: vec![surface], picture: None, notices: Vec::new() };
    let text = whole(&view);
    assert_eq!(text.matches("value").count(), 10, "{text}");
    assert_eq!(text.matches("[e").count(), 11, "{text}");
}

#[test]
fn only_actionable_elements_are_annotated() {
    let view = calc();
    let marked = marked_elements(&view, &ViewListOptions::default());
    assert!(marked.contains(&ElementId(104)) && !marked.contains(&ElementId(22)), "{marked:?}");
    assert!(!marked.contains(&ElementId(2)), "a panel is no control");
    let elements = vec![
        element(1, 0, Role::FRAME, "Main"),
        element(2, 1, Role::PUSH_BUTTON, "Save"),
        Element { states: States::EMPTY, ..element(3, 1, Role::PUSH_BUTTON, "Undo") },
        element(4, 1, Role::TABLE_CELL, "B7"),
        element(5, 1, Role::TABLE_CELL, "Berlin"),
    ];
    let surface = Surface { window: window(1, "Main", "App"), tree: Tree { elements, partial: None } };
    let view = WindowView { surfaces: vec![surface], picture: None, notices: Vec::new() };
    assert_eq!(marked_elements(&view, &ViewListOptions::default()), [ElementId(2), ElementId(5)]);
}

#[test]
fn unnamed_items_absorb_text_and_layout_is_omitted() {
    let mut described = element(20, 1, Role::TEXT, "");
    described.description = "a word and another ".repeat(8);
    let mut cells = element(30, 1, Role::TABLE, "Files");
    cells.table = Some(deskhand_ui::TableShape { rows: 2, columns: 1 });
    let elements = vec![
        element(1, 0, Role::FRAME, "Main"),
        element(2, 1, Role::LIST_BOX, "Places"),
        element(3, 2, Role::LIST_ITEM, ""),
        element(4, 3, Role::ICON, ""),
        element(5, 3, Role::LABEL, "Home"),
        element(6, 2, Role::LIST_ITEM, ""),
        element(7, 3, Role::ICON, "Add"),
        element(8, 3, Role::LABEL, "Other Locations"),
        element(10, 1, Role::PANEL, "Revealer"),
        element(11, 2, Role::PANEL, "Stack"),
        element(12, 3, Role::FILLER, "Path Bar"),
        element(13, 4, Role::PUSH_BUTTON, "Up"),
        element(14, 4, Role::PUSH_BUTTON, "Down"),
        described,
        cells,
        element(31, 2, Role::TABLE_CELL, ""),
        element(32, 3, Role::TABLE_CELL, "sales.odt"),
        element(33, 2, Role::TABLE_CELL, "notes.odt"),
    ];
    let surface = Surface { window: window(1, "Main", "App"), tree: Tree { elements, partial: None } };
    let view = WindowView { surfaces: vec![surface], picture: None, notices: Vec::new() };
    insta::assert_snapshot!(whole(&view), @r#"
    <untrusted source="screen">
    - [w1] window "Main" of App (active)
    [e2] list box "Places"
      [e3] list item = "Home" | [e6] = "Other Locations"
    [e10] panel "Revealer"
      [e13] push button "Up" | [e14] "Down"
    [e20] text — a word and another a word and another a word and another a w…
    [e30] table "Files" (2 rows × 1 columns)
      [e32] table cell "sales.odt" | [e33] "notes.odt"
    </untrusted>
    "#);
}

#[test]
fn lost_focus_is_not_listed_if_the_new_focus_is() {
    let focused = |view: &WindowView, id| with(view, id, |element| element.states.insert(State::Focused));
    let (mut calc, button) = (calc(), 104);
    calc.surfaces[0].tree.elements.iter_mut().for_each(|element| element.states.remove(State::Focused));
    let before = focused(&calc, 136);
    let told = changes(&before, &focused(&calc, button));
    assert!(told.contains("[e104]") && !told.contains("[e136]"), "{told}");
    let told = changes(&before, &calc);
    assert!(told.contains("[e136]"), "nothing else tells of it: {told}");
}

/// The ids that a list names.
fn listed(text: &str) -> Vec<ElementId> {
    let ids = text.split("[e").skip(1).filter_map(|part| part.split(']').next()?.parse().ok());
    ids.map(ElementId).collect()
}

#[test]
fn annotated_elements_equal_the_listed_ones_under_a_limit() {
    let words = relevant_words(std::iter::once("Make a pivot table and freeze the first row"));
    for tokens_max in [60, 200, 500, 4_000] {
        let options = ViewListOptions { tokens_max, words: words.clone() };
        for mut view in [calc(), writer()] {
            view.surfaces.extend(writer().surfaces.into_iter().map(|mut surface| {
                surface.window.id = deskhand_ui::ids::WindowId(2);
                surface.tree.elements.iter_mut().for_each(|element| element.id.0 += 1_000);
                surface
            }));
            let listed = listed(&view_text(&view, &options));
            let acts: Vec<ElementId> = view
                .elements()
                .filter(|element| element.role.is_interactive() && element.bounds.is_some())
                .filter(|element| element.states.takes_input() && element.name.parse::<CellRef>().is_err())
                .map(|element| element.id)
                .filter(|id| listed.contains(id))
                .collect();
            let mut marked = marked_elements(&view, &options);
            marked.sort_unstable();
            let mut acts = acts;
            acts.sort_unstable();
            assert_eq!(marked, acts, "{tokens_max}");
        }
    }
}

#[test]
fn elements_blocked_by_a_modal_dialog_are_not_annotated() {
    let mut view = calc();
    let mut root = element(900, 0, Role::DIALOG, "Really?");
    root.states.insert(State::Modal);
    let elements = vec![root, element(901, 1, Role::PUSH_BUTTON, "Yes")];
    let dialog = window(2, "Really?", "LibreOffice Calc");
    view.surfaces.push(Surface { window: dialog, tree: Tree { elements, partial: None } });
    assert_eq!(marked_elements(&view, &ViewListOptions::default()), [ElementId(901)]);
}

#[test]
fn detected_elements_are_labelled_and_annotated() {
    let mut elements = vec![
        element(1, 0, Role::FRAME, "Main"),
        element(2, 1, Role::PUSH_BUTTON, ""),
        element(3, 1, Role::DRAWING_AREA, ""),
        element(50, 2, Role::DRAWN_TEXT, "Save"),
        element(51, 2, Role::DRAWN_ICON, "a folder"),
    ];
    elements[1].description = "Send (by ocr)".to_owned();
    elements[3].source = ElementSource::Ocr;
    elements[4].source = ElementSource::Omniparser;
    let surface = Surface { window: window(1, "Main", "App"), tree: Tree { elements, partial: None } };
    let view = WindowView { surfaces: vec![surface], picture: None, notices: Vec::new() };
    insta::assert_snapshot!(whole(&view), @r#"
    <untrusted source="screen">
    - [w1] window "Main" of App (active)
    [e2] push button — Send (by ocr)
    [e50] drawn text "Save" (by ocr)
    [e51] drawn icon "a folder" (by omniparser)
    </untrusted>
    "#);
    let mut marked = marked_elements(&view, &ViewListOptions::default());
    marked.sort_unstable();
    assert_eq!(marked, [ElementId(2), ElementId(50), ElementId(51)]);
}
