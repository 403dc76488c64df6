//! The tools that every session has.

use deskhand_desktop::{Desktop, act::ActLimits};

use super::{
    click_element::ClickElement,
    close_application::CloseApplication,
    drag::Drag,
    focus_element::FocusElement,
    invoke_action::InvokeAction,
    launch_application::LaunchApplication,
    more::More,
    press_keys::PressKeys,
    read_table::ReadTable,
    read_text::ReadText,
    registry::{DuplicateTool, ToolList, Toolbox},
    scroll::Scroll,
    select::Select,
    select_application_window::SelectApplicationWindow,
    select_cells::SelectCells,
    set_checked::SetChecked,
    set_value::SetValue,
    type_text::TypeText,
    visit::Visit,
    wait_for::WaitFor,
    write_table::WriteTable,
};

impl<D: Desktop> Toolbox<D> {
    /// The tools that every session has.
    ///
    /// # Errors
    /// [`DuplicateTool`] when two of one agent have the same name.
    pub fn standard(limits: ActLimits) -> Result<Self, DuplicateTool> {
        let host = ToolList::default()
            .with::<LaunchApplication>()?
            .with::<SelectApplicationWindow>()?
            .with::<CloseApplication>()?;
        let app = ToolList::default()
            .with::<Visit>()?
            .with::<ClickElement>()?
            .with::<SetValue>()?
            .with::<SetChecked>()?
            .with::<Select>()?
            .with::<TypeText>()?
            .with::<PressKeys>()?
            .with::<ReadTable>()?
            .with::<WriteTable>()?
            .with::<SelectCells>()?
            .with::<ReadText>()?
            .with::<Scroll>()?
            .with::<Drag>()?
            .with::<FocusElement>()?
            .with::<InvokeAction>()?
            .with::<WaitFor>()?
            .with::<More>()?;
        Ok(Self { host, app, limits })
    }
}
