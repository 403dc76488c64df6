//! Passing capabilities through to a desktop inside.

/// Passes methods of the capabilities through to the desktop inside, which is a field or what a method returns. It stands in the
/// implementation of a capability, beside those methods that do more.
///
/// ```
/// use deskhand_desktop::{Capture, DesktopResult, Picture, delegate};
/// use deskhand_ui::geometry::{Rect, Screen};
///
/// /// A desktop of which no text is read.
/// struct Textless<D>(D);
///
/// impl<D> Textless<D> {
///     fn inner(&self) -> &D {
///         &self.0
///     }
/// }
///
/// impl<D: Capture + Sync> Capture for Textless<D> {
///     delegate!(inner() => screen, region);
///
///     async fn drawn_text(&self, _region: Rect<Screen>) -> DesktopResult<Option<String>> {
///         Ok(None)
///     }
/// }
/// ```
#[macro_export]
macro_rules! delegate {
    ($field:ident => $($method:ident),+ $(,)?) => { $($crate::delegate!(@$method [$field]);)+ };
    ($method_of:ident() => $($method:ident),+ $(,)?) => { $($crate::delegate!(@$method [$method_of()]);)+ };

    (@async [$($to:tt)+] $name:ident($($argument:ident: $type:ty),*) -> $result:ty) => {
        async fn $name(&self, $($argument: $type),*) -> $crate::DesktopResult<$result> {
            self.$($to)+.$name($($argument),*).await
        }
    };
    (@fn [$($to:tt)+] $name:ident($($argument:ident: $type:ty),*) -> $result:ty) => {
        fn $name(&self, $($argument: $type),*) -> $result {
            self.$($to)+.$name($($argument),*)
        }
    };

    // `Desktop`
    (@capabilities $to:tt) => { $crate::delegate!(@fn $to capabilities() -> $crate::Capabilities); };
    (@see $to:tt) => {
        $crate::delegate!(@async $to see(window: $crate::ui::ids::WindowId, limits: $crate::TreeLimits) -> $crate::WindowTreeSnapshot);
    };
    (@reserve_element_id $to:tt) => { $crate::delegate!(@fn $to reserve_element_id() -> $crate::ui::ids::ElementId); };

    // `WindowManagement`
    (@windows $to:tt) => { $crate::delegate!(@async $to windows() -> Vec<$crate::ui::WindowInfo>); };
    (@windows_changed $to:tt) => {
        $crate::delegate!(@async $to windows_changed(known: &[$crate::ui::WindowInfo], bound: std::time::Duration)
            -> Vec<$crate::ui::WindowInfo>);
    };
    (@activate $to:tt) => { $crate::delegate!(@async $to activate(window: $crate::ui::ids::WindowId) -> ()); };
    (@close $to:tt) => { $crate::delegate!(@async $to close(window: $crate::ui::ids::WindowId) -> ()); };
    (@launch $to:tt) => {
        $crate::delegate!(@async $to launch(request: &$crate::LaunchRequest) -> $crate::LaunchedProgram);
    };
    (@launch_all $to:tt) => {
        $crate::delegate!(@async $to launch_all(requests: &[$crate::LaunchRequest]) -> Vec<$crate::LaunchedProgram>);
    };
    (@applications $to:tt) => { $crate::delegate!(@fn $to applications() -> Vec<$crate::ui::InstalledApplication>); };
    (@process_ended $to:tt) => { $crate::delegate!(@fn $to process_ended(pid: u32) -> Option<$crate::ProcessExit>); };
    (@last_words $to:tt) => { $crate::delegate!(@fn $to last_words(pid: u32) -> String); };

    // `Documents`
    (@document $to:tt) => {
        $crate::delegate!(@async $to document(window: &$crate::ui::WindowInfo) -> Option<$crate::ui::DocumentInfo>);
    };
    (@file $to:tt) => { $crate::delegate!(@async $to file(path: &str) -> $crate::FileState); };

    // `Native`
    (@natives $to:tt) => { $crate::delegate!(@fn $to natives() -> $crate::Natives); };
    (@native $to:tt) => {
        $crate::delegate!(@async $to native(window: $crate::ui::ids::WindowId, call: &$crate::NativeCall) -> $crate::NativeAnswer);
    };

    // `UiTree`
    (@tree $to:tt) => {
        $crate::delegate!(@async $to tree(window: $crate::ui::ids::WindowId, limits: $crate::TreeLimits) -> $crate::ui::Tree);
    };
    (@element $to:tt) => {
        $crate::delegate!(@async $to element(id: $crate::ui::ids::ElementId) -> $crate::ui::Element);
    };
    (@children $to:tt) => {
        $crate::delegate!(@async $to children(id: $crate::ui::ids::ElementId, max: usize) -> Vec<$crate::ui::Element>);
    };
    (@selected $to:tt) => {
        $crate::delegate!(@async $to selected(id: $crate::ui::ids::ElementId) -> Vec<$crate::ui::Element>);
    };
    (@element_at $to:tt) => {
        $crate::delegate!(@async $to element_at(
            window: $crate::ui::ids::WindowId,
            point: $crate::ui::geometry::Point<$crate::ui::geometry::Screen>
        ) -> Option<$crate::ui::Element>);
    };
    (@is_within $to:tt) => {
        $crate::delegate!(@async $to is_within(id: $crate::ui::ids::ElementId, ancestor: $crate::ui::ids::ElementId) -> bool);
    };
    (@may_show_elements $to:tt) => {
        $crate::delegate!(@async $to may_show_elements(window: &$crate::ui::WindowInfo) -> bool);
    };
    (@known_focus $to:tt) => {
        $crate::delegate!(@async $to known_focus(window: $crate::ui::ids::WindowId) -> Option<$crate::ui::Element>);
    };
    (@last_place $to:tt) => {
        $crate::delegate!(@fn $to last_place(id: $crate::ui::ids::ElementId) -> Option<$crate::ui::ElementTreePath>);
    };

    // `ElementPatterns`
    (@perform $to:tt) => {
        $crate::delegate!(@async $to perform(id: $crate::ui::ids::ElementId, action: &$crate::ElementAction) -> ());
    };
    (@quirks $to:tt) => { $crate::delegate!(@fn $to quirks(id: $crate::ui::ids::ElementId) -> $crate::Quirks); };
    (@action_names $to:tt) => {
        $crate::delegate!(@async $to action_names(id: $crate::ui::ids::ElementId) -> Vec<String>);
    };
    (@text $to:tt) => { $crate::delegate!(@async $to text(id: $crate::ui::ids::ElementId, max: usize) -> String); };
    (@text_selection $to:tt) => {
        $crate::delegate!(@async $to text_selection(id: $crate::ui::ids::ElementId) -> Option<(usize, usize)>);
    };
    (@caret $to:tt) => { $crate::delegate!(@async $to caret(id: $crate::ui::ids::ElementId) -> Option<usize>); };
    (@formula $to:tt) => {
        $crate::delegate!(@async $to formula(table: $crate::ui::ids::ElementId, cell: $crate::ui::CellRef) -> Option<String>);
    };
    (@cells $to:tt) => {
        $crate::delegate!(@async $to cells(table: $crate::ui::ids::ElementId, range: $crate::ui::CellRange)
            -> $crate::ui::TableContent);
    };
    (@cell $to:tt) => {
        $crate::delegate!(@async $to cell(table: $crate::ui::ids::ElementId, cell: $crate::ui::CellRef) -> $crate::ui::Element);
    };

    // `InputInjection`
    (@click $to:tt) => {
        $crate::delegate!(@async $to click(
            at: $crate::ui::geometry::Point<$crate::ui::geometry::Screen>,
            held: impl std::convert::Into<$crate::PointerChord> + Send,
            count: u8
        ) -> ());
    };
    (@drag $to:tt) => {
        $crate::delegate!(@async $to drag(
            from: $crate::ui::geometry::Point<$crate::ui::geometry::Screen>,
            to: $crate::ui::geometry::Point<$crate::ui::geometry::Screen>,
            held: &$crate::PointerChord
        ) -> ());
    };
    (@scroll $to:tt) => {
        $crate::delegate!(@async $to scroll(
            at: $crate::ui::geometry::Point<$crate::ui::geometry::Screen>,
            right: i32,
            down: i32
        ) -> ());
    };
    (@hover $to:tt) => {
        $crate::delegate!(@async $to hover(at: $crate::ui::geometry::Point<$crate::ui::geometry::Screen>) -> ());
    };
    (@press $to:tt) => { $crate::delegate!(@async $to press(chord: &$crate::keys::KeyChord) -> ()); };
    (@type_text $to:tt) => { $crate::delegate!(@async $to type_text(text: &str) -> ()); };
    (@enter $to:tt) => { $crate::delegate!(@async $to enter(text: &str, then: &[$crate::keys::KeyChord]) -> ()); };

    // `Clipboard`
    (@clipboard $to:tt) => { $crate::delegate!(@async $to clipboard() -> Option<String>); };
    (@set_clipboard $to:tt) => { $crate::delegate!(@async $to set_clipboard(text: Option<&str>) -> ()); };
    (@set_clipboard_as $to:tt) => { $crate::delegate!(@async $to set_clipboard_as(format: &str, content: &str) -> ()); };
    (@clipboard_taken $to:tt) => { $crate::delegate!(@async $to clipboard_taken(bound: std::time::Duration) -> bool); };

    // `Capture`
    (@screen $to:tt) => { $crate::delegate!(@async $to screen() -> $crate::Picture); };
    (@region $to:tt) => {
        $crate::delegate!(@async $to region(region: $crate::ui::geometry::Rect<$crate::ui::geometry::Screen>) -> $crate::Picture);
    };
    (@drawn_text $to:tt) => {
        $crate::delegate!(@async $to drawn_text(region: $crate::ui::geometry::Rect<$crate::ui::geometry::Screen>)
            -> Option<String>);
    };

    // `IdleWait`
    (@watch $to:tt) => { $crate::delegate!(@async $to watch(window: Option<$crate::ui::ids::WindowId>) -> Self::Watch); };
    (@settle $to:tt) => {
        $crate::delegate!(@async $to settle(watch: Self::Watch, limits: $crate::QuietLimits) -> $crate::IdleReport);
    };
    (@sleeps_for $to:tt) => {
        $crate::delegate!(@async $to sleeps_for(window: $crate::ui::ids::WindowId) -> std::time::Duration);
    };
    (@recently_changed $to:tt) => {
        $crate::delegate!(@fn $to recently_changed(elements: &[$crate::ui::ids::ElementId], span: std::time::Duration)
            -> Vec<$crate::ui::ids::ElementId>);
    };
    (@attribute_to_action $to:tt) => {
        $crate::delegate!(@fn $to attribute_to_action(element: $crate::ui::ids::ElementId) -> ());
    };
    (@mark_self_changing $to:tt) => {
        $crate::delegate!(@fn $to mark_self_changing(element: $crate::ui::ids::ElementId, aspect: $crate::ElementChangeKind) -> ());
    };
    (@is_self_changing $to:tt) => {
        $crate::delegate!(@fn $to is_self_changing(element: $crate::ui::ids::ElementId, aspect: $crate::ElementChangeKind) -> bool);
    };
}
