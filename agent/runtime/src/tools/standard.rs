//! The standard tools.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::ActLimits;
use deskhand_secret::Secrets;

use super::{
    calculate::Calculate,
    choose_file::ChooseFile,
    click_element::ClickElement,
    click_on_coordinates::ClickOnCoordinates,
    close_application::CloseApplication,
    drag::Drag,
    drag_on_coordinates::DragOnCoordinates,
    expand::Expand,
    focus_element::FocusElement,
    hover::Hover,
    invoke_action::InvokeAction,
    launch_application::LaunchApplication,
    more::More,
    paste_text::PasteText,
    press_keys::PressKeys,
    read_clipboard::ReadClipboard,
    read_table::ReadTable,
    read_text::ReadTextArgs,
    recall::Recall,
    registry::{DuplicateTool, ToolList, Toolbox},
    save::Save,
    save_as::SaveAsArgs,
    scroll::ScrollArgs,
    scroll_into_view::ScrollIntoView,
    select::Select,
    select_application_window::SelectApplicationWindow,
    select_cells::SelectCells,
    select_text::SelectText,
    set_checked::SetChecked,
    set_value::SetValue,
    summary::SummaryArgs,
    type_text::TypeTextArgs,
    visit::VisitArgs,
    wait::WaitArgs,
    wait_for::WaitFor,
    write_clipboard::WriteClipboard,
    write_table::WriteTable,
    zoom::Zoom,
};
use crate::sources::EnabledSources;

impl<D: Desktop> Toolbox<D> {
    /// The standard tools.
    ///
    /// # Errors
    /// [`DuplicateTool`] if two tools of one agent have the same name.
    pub fn standard(limits: ActLimits) -> Result<Self, DuplicateTool> {
        let host = ToolList::default()
            .with::<LaunchApplication>()?
            .with::<SelectApplicationWindow>()?
            .with::<CloseApplication>()?
            .with::<Recall>()?
            .with::<WaitArgs>()?;
        let app = ToolList::default()
            .with::<VisitArgs>()?
            .with::<ClickElement>()?
            .with::<SetValue>()?
            .with::<SetChecked>()?
            .with::<Select>()?
            .with::<Expand>()?
            .with::<TypeTextArgs>()?
            .with::<SelectText>()?
            .with::<PressKeys>()?
            .with::<Save>()?
            .with::<SaveAsArgs>()?
            .with::<ChooseFile>()?
            .with::<ReadTable>()?
            .with::<WriteTable>()?
            .with::<SelectCells>()?
            .with::<Calculate>()?
            .with::<ReadTextArgs>()?
            .with::<ScrollArgs>()?
            .with::<Drag>()?
            .with::<FocusElement>()?
            .with::<Hover>()?
            .with::<InvokeAction>()?
            .with::<WaitFor>()?
            .with::<More>()?
            .with::<ScrollIntoView>()?
            .with::<PasteText>()?
            .with::<ReadClipboard>()?
            .with::<WriteClipboard>()?
            .with::<SummaryArgs>()?
            .with::<Zoom>()?
            .with::<Recall>()?
            .with::<ClickOnCoordinates>()?
            .with::<DragOnCoordinates>()?
            .with::<WaitArgs>()?;
        Ok(Self { host, app, limits, secrets: Secrets::default(), sources: EnabledSources::default() })
    }
}
