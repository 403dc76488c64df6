//! A desktop that shows no secret: above it, `secret:NAME` stands wherever a value stands that was typed, and what shows one is
//! black in pictures.
//!
//! It lies between the back end and everything else, detection in pictures included. So an action compares what it reads back with the
//! reference that it was given, and neither it nor what is made of it ever has the value. Places in texts (caret, selection) are
//! those of the text with marks. Until a secret was typed it changes nothing and costs nothing.

mod delegate;
mod pictures;

use std::borrow::Cow;

use deskhand_desktop::{Desktop, DesktopError, DesktopResult};
use deskhand_secret::{TextRedaction, Veil};
use deskhand_ui::{Element, TableContent, Tree, WindowInfo, action::UiChange, ids::ElementId};

/// The most characters of a text that places are counted in.
const TEXT_MAX: usize = 200_000;
/// Number of characters read beyond the requested text, so that no value is cut through.
const BEYOND: usize = deskhand_secret::SecretValue::CHARACTERS_MAX * 6;

/// A desktop that shows no secret.
pub struct VeiledDesktop<D: Desktop> {
    inner: D,
    veil: Veil,
}

impl<D: Desktop> VeiledDesktop<D> {
    /// Hides what `veil` knows.
    pub const fn new(inner: D, veil: Veil) -> Self {
        Self { inner, veil }
    }

    /// The desktop inside, which shows everything.
    pub const fn inner(&self) -> &D {
        &self.inner
    }

    /// The desktop inside, without its veil.
    pub fn into_inner(self) -> D {
        self.inner
    }

    fn hide(&self, text: &mut String) {
        if let Cow::Owned(hidden) = self.veil.hide(text) {
            *text = hidden;
        }
    }

    fn hide_optional(&self, text: &mut Option<String>) {
        text.iter_mut().for_each(|text| self.hide(text));
    }

    fn element(&self, mut element: Element) -> Element {
        if self.veil.is_empty() {
            return element;
        }
        let id = element.id;
        for text in [&mut element.name, &mut element.description].into_iter().chain(&mut element.text) {
            let hidden = self.veil.hide_in_field(id.0, text);
            if hidden.is_changed {
                *text = hidden.text;
            }
        }
        self.hide_optional(&mut element.address);
        self.hide_optional(&mut element.told);
        if element.value.is_some_and(|value| self.veil.is_in(&value.current.to_string())) {
            element.value = None;
        }
        element
    }

    fn elements(&self, elements: Vec<Element>) -> Vec<Element> {
        elements.into_iter().map(|element| self.element(element)).collect()
    }

    fn tree(&self, tree: Tree) -> Tree {
        if self.veil.is_empty() {
            return tree;
        }
        Tree { elements: self.elements(tree.elements), ..tree }
    }

    fn window(&self, mut window: WindowInfo) -> WindowInfo {
        self.hide(&mut window.title);
        self.hide(&mut window.app.name);
        self.hide(&mut window.app.root);
        if let Some(document) = &mut window.document {
            self.hide(&mut document.name);
            self.hide_optional(&mut document.path);
        }
        window
    }

    fn windows(&self, windows: Vec<WindowInfo>) -> Vec<WindowInfo> {
        if self.veil.is_empty() {
            return windows;
        }
        windows.into_iter().map(|window| self.window(window)).collect()
    }

    fn cells(&self, mut content: TableContent) -> TableContent {
        content.rows.iter_mut().flatten().for_each(|cell| self.hide(cell));
        content
    }

    fn change(&self, mut change: UiChange) -> UiChange {
        match &mut change {
            UiChange::WindowOpened { title }
            | UiChange::WindowClosed { title }
            | UiChange::TitleChanged { title } => {
                self.hide(title);
            }
            UiChange::Element { .. } => {}
        }
        change
    }

    /// An error of an input, which may name a character of what was typed.
    fn input_error(&self, text: &str, error: DesktopError) -> DesktopError {
        if matches!(error, DesktopError::Key { .. }) && self.veil.is_in(text) {
            return DesktopError::failed("type a secret", "this keyboard cannot type one of its characters");
        }
        error
    }

    /// The text of an element with marks; `None` if nothing of it is hidden, or if it cannot be read.
    async fn hidden_text(&self, id: ElementId) -> DesktopResult<Option<TextRedaction>> {
        if self.veil.is_empty() {
            return Ok(None);
        }
        match self.inner.text(id, TEXT_MAX).await {
            Ok(text) => Ok(Some(self.veil.hide_in_field(id.0, &text)).filter(|hidden| hidden.is_changed)),
            Err(DesktopError::NotOffered { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
