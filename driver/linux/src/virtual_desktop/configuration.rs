//! The configuration files of a virtual desktop, in its private folder.

use std::{io, path::Path};

use super::{
    environment::Environment,
    folders::{SETTINGS_FOLDER, create_private, write_private},
    session_bus,
};

/// New windows get the focus, clicks focus windows, and no key is intercepted.
const WINDOW_MANAGER_CONFIGURATION: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <focus><focusNew>yes</focusNew><followMouse>no</followMouse><focusLast>yes</focusLast></focus>
  <placement><policy>Smart</policy><center>yes</center></placement>
  <theme><name>Clearlooks</name><titleLayout>NLIMC</titleLayout><animateIconify>no</animateIconify></theme>
  <desktops><number>1</number><popupTime>0</popupTime></desktops>
  <resize><drawContents>yes</drawContents><popupShow>Never</popupShow></resize>
  <keyboard></keyboard>
  <mouse>
    <dragThreshold>1</dragThreshold>
    <doubleClickTime>500</doubleClickTime>
    <context name="Client">
      <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Middle" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Right" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
    </context>
    <context name="Titlebar">
      <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Left" action="Drag"><action name="Move"/></mousebind>
      <mousebind button="Left" action="DoubleClick"><action name="ToggleMaximize"/></mousebind>
    </context>
    <context name="Close"><mousebind button="Left" action="Click"><action name="Close"/></mousebind></context>
    <context name="Maximize">
      <mousebind button="Left" action="Click"><action name="ToggleMaximize"/></mousebind>
    </context>
    <context name="Iconify"><mousebind button="Left" action="Click"><action name="Iconify"/></mousebind></context>
    <context name="BRCorner">
      <mousebind button="Left" action="Drag"><action name="Resize"/></mousebind>
    </context>
  </mouse>
</openbox_config>
"#;

/// No blinking caret, and no long wait for a second click, where the user has not chosen otherwise: an application that waits
/// for nothing else can be seen to sleep. Scroll bars stay in view, so that none fades. GTK 4 gets no animations either; with
/// those of GTK 3 off, Chromium loses drops; `programs.rs` turns them off for single programs.
const TOOLKIT_SETTINGS: &str =
    "[Settings]\ngtk-cursor-blink=false\ngtk-double-click-time=100\ngtk-overlay-scrolling=false\n";

/// Writes all that programs of the desktop read when they start.
///
/// # Errors
/// The folder cannot be written.
pub(super) fn write_files(folder: &Path, cookie: &[u8; 16], user: &Environment) -> io::Result<()> {
    for name in ["run", "tmp"] {
        create_private(&folder.join(name))?;
    }
    let write = |name: &str, content: &[u8]| write_private(&folder.join(name), content);
    write("Xauthority", &authority(cookie))?;
    write("bus.conf", session_bus::configuration(folder).as_bytes())?;
    session_bus::link_services(folder, user)?;
    session_bus::link_portals(folder, user)?;
    for (toolkit, more) in [("gtk-3.0", ""), ("gtk-4.0", "gtk-enable-animations=false\n")] {
        let settings = folder.join(SETTINGS_FOLDER).join(toolkit);
        create_private(&settings)?;
        write_private(&settings.join("settings.ini"), format!("{TOOLKIT_SETTINGS}{more}").as_bytes())?;
    }
    write("openbox.xml", WINDOW_MANAGER_CONFIGURATION.as_bytes())
}

/// An `.Xauthority` file with one cookie for every address and display: family, then address, number, name and data,
/// each with its length. The display number is unknown before the server has chosen it.
fn authority(cookie: &[u8; 16]) -> Vec<u8> {
    const FAMILY_WILD: u16 = 0xffff;
    const NAME: &[u8] = b"MIT-MAGIC-COOKIE-1";
    let mut file = FAMILY_WILD.to_be_bytes().to_vec();
    for part in [b"".as_slice(), b"", NAME, cookie] {
        file.extend(u16::try_from(part.len()).unwrap_or(0).to_be_bytes());
        file.extend(part);
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_file_has_the_format_of_xauthority() {
        let file = authority(&[7; 16]);
        assert_eq!(file[..6], [0xff, 0xff, 0, 0, 0, 0]);
        assert_eq!(file[6..8], [0, 18]);
        assert_eq!(&file[8..26], b"MIT-MAGIC-COOKIE-1");
        assert_eq!(file[26..28], [0, 16]);
        assert_eq!(file[28..], [7; 16]);
    }
}
