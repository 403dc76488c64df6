//! Top-level windows by EWMH: what the X server and the window manager report about them.
//!
//! Reading is one pipelined batch; the kind and the owner of each window are computed by pure functions.

use std::collections::{HashMap, HashSet};

use deskhand_ui::{
    AppInfo, WindowInfo, WindowKind, WindowState,
    geometry::{Rect, Screen},
    ids::WindowId,
};
use x11rb::{
    cookie::Cookie,
    protocol::{
        randr::ConnectionExt as _,
        res::{ClientIdMask, ClientIdSpec, ConnectionExt as _},
        xproto::{
            Atom, AtomEnum, ConnectionExt as _, GetPropertyReply, InputFocus, MapState, PropMode,
            WindowClass as XWindowClass,
        },
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

use crate::{
    desktop_entries::DesktopEntries,
    kernel::peer_process,
    screen::{monitors::monitor_of, window_ids::WindowIdRegistry},
    x11::{
        fault::{WorkResult, X11RequestError},
        kinds::{kind_in_use, kind_of, state_of, takes_input},
        monitors::areas,
        worker::{Atoms, X11Worker},
    },
};

/// The most windows that are read.
const WINDOWS_MAX: usize = 512;
/// The longest chain of owners that is followed.
const OWNERS_MAX: usize = 16;
/// Maximum depth at which the window with the focus may be nested in another window.
const DEPTH_MAX: usize = 64;
/// The longest title or class that is read, in units of four bytes.
const TEXT_MAX: u32 = 1024;
/// X ids without these bits identify the client that created the window.
const CLIENT_BITS: u32 = 0x001f_ffff;

/// Properties read of one window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct X11WindowProperties {
    pub(crate) window: u32,
    pub(crate) bounds: [i32; 4],
    pub(crate) title: String,
    /// Instance and class of `WM_CLASS`.
    pub(crate) class: (String, String),
    pub(crate) pid: Option<u32>,
    /// The known kind that `_NET_WM_WINDOW_TYPE` names, if any.
    pub(crate) kind: Option<WindowKind>,
    pub(crate) transient_for: Option<u32>,
    pub(crate) override_redirect: bool,
    pub(crate) state: WindowState,
}

/// All windows at one moment, bottom-most first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WindowList {
    pub(crate) windows: Vec<X11WindowProperties>,
    pub(crate) active: Option<u32>,
    /// Every existing window, visible or not.
    pub(crate) existing: HashSet<u32>,
    /// The areas of the monitors: x, y, width, height.
    pub(crate) monitors: Vec<[i32; 4]>,
}

type PropertyCookie<'a> = Cookie<'a, RustConnection, GetPropertyReply>;

/// The requests for one window, all sent before the first reply is awaited.
struct X11WindowCookies<'a> {
    window: u32,
    attributes: Cookie<'a, RustConnection, x11rb::protocol::xproto::GetWindowAttributesReply>,
    geometry: Cookie<'a, RustConnection, x11rb::protocol::xproto::GetGeometryReply>,
    origin: Cookie<'a, RustConnection, x11rb::protocol::xproto::TranslateCoordinatesReply>,
    net_name: PropertyCookie<'a>,
    name: PropertyCookie<'a>,
    class: PropertyCookie<'a>,
    pid: PropertyCookie<'a>,
    kind: PropertyCookie<'a>,
    transient_for: PropertyCookie<'a>,
    state: PropertyCookie<'a>,
    hints: PropertyCookie<'a>,
}

impl X11Worker {
    /// Every mapped top-level window.
    pub(crate) fn list_windows(&self) -> WorkResult<WindowList> {
        let atoms = &self.atoms;
        let stacking = self.ask(self.root, atoms._NET_CLIENT_LIST_STACKING)?;
        let clients = self.ask(self.root, atoms._NET_CLIENT_LIST)?;
        let active = self.ask(self.root, atoms._NET_ACTIVE_WINDOW)?;
        let tree = self.connection.query_tree(self.root)?;
        let monitors = self.connection.randr_get_monitors(self.root, /*get_active*/ true)?;
        let manager = self.window_manager()?;
        let mut managed = numbers(&stacking.reply()?);
        let clients = numbers(&clients.reply()?);
        let mut active = numbers(&active.reply()?).first().copied().filter(|window| *window != 0);
        let children = tree.reply()?.children;
        if manager.is_some() {
            let known: HashSet<u32> = managed.iter().copied().collect();
            managed.extend(clients.into_iter().filter(|window| !known.contains(window)));
        } else {
            // The property on the root window may be left over from a window manager that has ended.
            managed.clear();
            active = self.focused_top_level()?;
        }

        let listed: HashSet<u32> = managed.iter().copied().collect();
        // The frames, menus and helper windows of the window manager belong to no application.
        let of_manager =
            |window: &u32| manager.is_some_and(|one| one & !CLIENT_BITS == window & !CLIENT_BITS);
        let others =
            children.iter().copied().filter(|window| !listed.contains(window) && !of_manager(window));
        let asked = managed
            .iter()
            .copied()
            .chain(others)
            .take(WINDOWS_MAX)
            .map(|window| self.ask_about(window))
            .collect::<WorkResult<Vec<_>>>()?;
        let mut windows = Vec::with_capacity(asked.len());
        for window in asked {
            // Without a window manager every child of the root window is a top-level window.
            let takes_all = manager.is_none() || listed.contains(&window.window);
            match window.facts(atoms) {
                Ok(Some(facts)) if takes_all || facts.override_redirect => windows.push(facts),
                Ok(_) => {}
                Err(fault) if fault.is_refusal() => {}
                Err(fault) => return Err(fault),
            }
        }
        fill_missing_pids(&mut windows);
        let existing = listed.into_iter().chain(children).collect();
        Ok(WindowList { windows, active, existing, monitors: areas(monitors) })
    }

    fn ask(&self, window: u32, property: Atom) -> WorkResult<PropertyCookie<'_>> {
        Ok(self.connection.get_property(false, window, property, AtomEnum::ANY, 0, TEXT_MAX)?)
    }

    fn ask_about(&self, window: u32) -> WorkResult<X11WindowCookies<'_>> {
        Ok(X11WindowCookies {
            window,
            attributes: self.connection.get_window_attributes(window)?,
            geometry: self.connection.get_geometry(window)?,
            origin: self.connection.translate_coordinates(window, self.root, 0, 0)?,
            net_name: self.ask(window, self.atoms._NET_WM_NAME)?,
            name: self.ask(window, AtomEnum::WM_NAME.into())?,
            class: self.ask(window, AtomEnum::WM_CLASS.into())?,
            pid: self.ask(window, self.atoms._NET_WM_PID)?,
            kind: self.ask(window, self.atoms._NET_WM_WINDOW_TYPE)?,
            transient_for: self.ask(window, AtomEnum::WM_TRANSIENT_FOR.into())?,
            state: self.ask(window, self.atoms._NET_WM_STATE)?,
            hints: self.ask(window, AtomEnum::WM_HINTS.into())?,
        })
    }

    /// Stores the ids of windows on them, where the next owner of the desktop finds them. Windows that are gone are
    /// skipped.
    pub(crate) fn mark_windows(&self, ids: &[(u32, WindowId)]) -> WorkResult<()> {
        for (window, id) in ids {
            self.connection.change_property32(
                PropMode::REPLACE,
                *window,
                self.atoms.DESKHAND_WINDOW_ID,
                AtomEnum::CARDINAL,
                &[id.0],
            )?;
        }
        self.round_trip()
    }

    /// The windows that have an id stored on them.
    pub(crate) fn marked_windows(&self) -> WorkResult<Vec<(u32, WindowId)>> {
        let existing = self.list_windows()?.existing;
        let mark = self.atoms.DESKHAND_WINDOW_ID;
        let asked = existing
            .into_iter()
            .map(|window| Ok((window, self.ask(window, mark)?)))
            .collect::<WorkResult<Vec<_>>>()?;
        // A window that was closed in the meantime sends no reply and needs no id.
        let read = |(window, cookie): (u32, PropertyCookie<'_>)| {
            let id = numbers(&cookie.reply().ok()?).first().copied()?;
            Some((window, WindowId(id)))
        };
        Ok(asked.into_iter().filter_map(read).collect())
    }

    /// The active window according to the window manager.
    pub(crate) fn active_window(&self) -> WorkResult<Option<u32>> {
        let reply = self.ask(self.root, self.atoms._NET_ACTIVE_WINDOW)?.reply()?;
        Ok(numbers(&reply).first().copied().filter(|window| *window != 0))
    }

    /// Returns `true` if there is a window manager that answers `_NET_REQUEST_FRAME_EXTENTS`.
    pub(crate) fn has_answering_window_manager(&self) -> WorkResult<bool> {
        let supported = self.ask(self.root, self.atoms._NET_SUPPORTED)?.reply()?;
        Ok(self.has_window_manager()? && numbers(&supported).contains(&self.atoms._NET_REQUEST_FRAME_EXTENTS))
    }

    /// Returns `true` if there is a window manager that supports EWMH.
    pub(crate) fn has_window_manager(&self) -> WorkResult<bool> {
        Ok(self.window_manager()?.is_some())
    }

    /// The processes of the X server and of the window manager, as far as they run on this machine and tell.
    pub(crate) fn server_processes(&self) -> WorkResult<Vec<u32>> {
        let mut found: Vec<u32> = peer_process(self.connection.stream()).into_iter().collect();
        if let Some(client) = self.window_manager()? {
            let asked = ClientIdSpec { client, mask: ClientIdMask::LOCAL_CLIENT_PID };
            // A server without the X-Resource extension refuses.
            if let Ok(Ok(reply)) = self.connection.res_query_client_ids(&[asked]).map(Cookie::reply) {
                found.extend(reply.ids.iter().filter_map(|id| id.value.first().copied()));
            }
        }
        Ok(found)
    }

    /// The window by which a window manager announces itself. One that has ended leaves its id behind, so the window
    /// itself must name it too (EWMH, `_NET_SUPPORTING_WM_CHECK`).
    fn window_manager(&self) -> WorkResult<Option<u32>> {
        let check = self.atoms._NET_SUPPORTING_WM_CHECK;
        let Some(window) = numbers(&self.ask(self.root, check)?.reply()?).first().copied() else {
            return Ok(None);
        };
        match self.ask(window, check)?.reply().map_err(X11RequestError::from) {
            Ok(reply) => Ok(numbers(&reply).first().copied().filter(|named| *named == window)),
            Err(fault) if fault.is_refusal() => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The child of the root window that has the keyboard focus, or contains the window that has it.
    fn focused_top_level(&self) -> WorkResult<Option<u32>> {
        let mut window = self.connection.get_input_focus()?.reply()?.focus;
        for _ in 0..DEPTH_MAX {
            if [u32::from(InputFocus::NONE), u32::from(InputFocus::POINTER_ROOT)].contains(&window) {
                break;
            }
            match self.connection.query_tree(window)?.reply().map_err(X11RequestError::from) {
                Ok(tree) if tree.parent == self.root => return Ok(Some(window)),
                Ok(tree) => window = tree.parent,
                Err(fault) if fault.is_refusal() => break,
                Err(fault) => return Err(fault),
            }
        }
        Ok(None)
    }

    /// Returns `true` if a window supports a protocol such as `_NET_WM_PING`.
    pub(crate) fn has_protocol(&self, window: u32, protocol: Atom) -> WorkResult<bool> {
        Ok(numbers(&self.ask(window, self.atoms.WM_PROTOCOLS)?.reply()?).contains(&protocol))
    }
}

impl X11WindowCookies<'_> {
    /// `None` for windows that are not visible. Every reply is fetched, whatever the first ones say.
    fn facts(self, atoms: &Atoms) -> WorkResult<Option<X11WindowProperties>> {
        let attributes = self.attributes.reply();
        let geometry = self.geometry.reply();
        let origin = self.origin.reply();
        let net_name = self.net_name.reply();
        let name = self.name.reply();
        let class = self.class.reply();
        let pid = self.pid.reply();
        let kind = self.kind.reply();
        let transient_for = self.transient_for.reply();
        let state = self.state.reply();
        let hints = self.hints.reply();
        let (attributes, geometry, origin) = (attributes?, geometry?, origin?);
        let seen = attributes.map_state == MapState::VIEWABLE
            && attributes.class == XWindowClass::INPUT_OUTPUT
            && geometry.width > 1
            && geometry.height > 1;
        if !seen {
            return Ok(None);
        }
        let states = numbers(&state?);
        let transient_for = numbers(&transient_for?).first().copied().filter(|window| *window != 0);
        let said = numbers(&kind?).into_iter().find_map(|atom| kind_of(atom, atoms));
        let takes_input = takes_input(&numbers(&hints?));
        let kind = kind_in_use(said, transient_for.is_some(), takes_input, &states, atoms);
        let net_name = utf8(&net_name?.value);
        let title = if net_name.is_empty() { text_of(&name?) } else { net_name };
        Ok(Some(X11WindowProperties {
            window: self.window,
            bounds: [
                i32::from(origin.dst_x),
                i32::from(origin.dst_y),
                i32::from(geometry.width),
                i32::from(geometry.height),
            ],
            title,
            class: class_of(&class?.value),
            pid: numbers(&pid?).first().copied().filter(|pid| *pid != 0),
            kind,
            transient_for,
            override_redirect: attributes.override_redirect,
            state: state_of(&states, atoms),
        }))
    }
}

/// Finds the process of windows without `_NET_WM_PID` by other windows of the same connection.
fn fill_missing_pids(windows: &mut [X11WindowProperties]) {
    let known: HashMap<u32, u32> =
        windows.iter().filter_map(|facts| Some((facts.window & !CLIENT_BITS, facts.pid?))).collect();
    for facts in windows.iter_mut().filter(|facts| facts.pid.is_none()) {
        facts.pid = known.get(&(facts.window & !CLIENT_BITS)).copied();
    }
}

impl X11WindowProperties {
    fn window_kind(&self) -> WindowKind {
        if self.override_redirect {
            return self.kind.filter(|kind| *kind == WindowKind::Tooltip).unwrap_or(WindowKind::Popup);
        }
        // EWMH: a window without a type is a dialog if it is transient, else normal.
        let unsaid = if self.transient_for.is_some() { WindowKind::Dialog } else { WindowKind::Normal };
        self.kind.unwrap_or(unsaid)
    }
}

impl WindowList {
    /// The windows as the contract describes them.
    pub(crate) fn to_infos(
        &self,
        registry: &mut WindowIdRegistry,
        entries: &DesktopEntries,
        accessible: &HashSet<u32>,
    ) -> Vec<WindowInfo> {
        registry.keep_only(&self.existing);
        self.windows
            .iter()
            .map(|facts| {
                let [x, y, width, height] = facts.bounds;
                WindowInfo {
                    id: registry.id_of(facts.window),
                    title: facts.title.clone(),
                    app: self.app_of(facts, entries),
                    bounds: Rect::<Screen>::new(x, y, width, height),
                    kind: facts.window_kind(),
                    owner: self.owner_of(facts).map(|owner| registry.id_of(owner.window)),
                    active: self.active == Some(facts.window),
                    accessible: facts.pid.is_some_and(|pid| accessible.contains(&pid)),
                    document: None,
                    state: facts.state,
                    monitor: monitor_of(facts.bounds, &self.monitors),
                }
            })
            .collect()
    }

    /// Returns `true` if a window, or a dialog of it, is the active one.
    pub(crate) fn has_focus(&self, window: u32) -> bool {
        let owner = || self.find(self.active?).and_then(|active| self.owner_of(active));
        self.active == Some(window) || owner().is_some_and(|owner| owner.window == window)
    }

    /// Returns `true` if no other normal window lies above.
    pub(crate) fn is_in_front(&self, window: u32) -> bool {
        let mut normal = self.windows.iter().rev().filter(|facts| facts.window_kind() == WindowKind::Normal);
        let top = normal.next().map(|facts| facts.window);
        let owner = || self.find(window).and_then(|facts| self.owner_of(facts)).map(|facts| facts.window);
        top == Some(window) || top == owner()
    }

    fn find(&self, window: u32) -> Option<&X11WindowProperties> {
        self.windows.iter().find(|facts| facts.window == window)
    }

    /// The normal window that a dialog or pop-up belongs to.
    fn owner_of(&self, facts: &X11WindowProperties) -> Option<&X11WindowProperties> {
        if facts.window_kind() == WindowKind::Normal {
            return None;
        }
        let mut next = facts.transient_for;
        for _ in 0..OWNERS_MAX {
            let Some(owner) = next.and_then(|window| self.find(window)) else { break };
            if owner.window_kind() == WindowKind::Normal {
                return Some(owner);
            }
            next = owner.transient_for;
        }
        // The active window may itself be a dialog: then its owner is meant.
        let same = |other: &&X11WindowProperties| {
            other.window != facts.window
                && other.window_kind() == WindowKind::Normal
                && match facts.pid {
                    Some(pid) => other.pid == Some(pid),
                    None => other.window & !CLIENT_BITS == facts.window & !CLIENT_BITS,
                }
        };
        let active = self.active.and_then(|window| self.find(window));
        let behind_active =
            active.and_then(|active| active.transient_for).and_then(|window| self.find(window));
        active
            .filter(same)
            .or_else(|| behind_active.filter(same))
            .or_else(|| self.windows.iter().rev().find(same))
    }

    /// The application of a window; a dialog or pop-up has that of its owner if both belong to one process.
    fn app_of(&self, facts: &X11WindowProperties, entries: &DesktopEntries) -> AppInfo {
        let own = self.owner_of(facts).filter(|owner| owner.pid == facts.pid).unwrap_or(facts);
        let (instance, class) = &own.class;
        let class = if class.is_empty() { instance } else { class };
        let name = entries.find_by_class(instance, class).map_or_else(
            || if class.is_empty() { own.title.clone() } else { class.clone() },
            |entry| entry.name.clone(),
        );
        AppInfo { name, root: class.to_lowercase(), pid: facts.pid }
    }
}

fn numbers(reply: &GetPropertyReply) -> Vec<u32> {
    reply.value32().map(Iterator::collect).unwrap_or_default()
}

fn utf8(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned()
}

/// `WM_NAME`, decoded by its declared encoding.
fn text_of(reply: &GetPropertyReply) -> String {
    if reply.type_ == u32::from(AtomEnum::STRING) {
        return reply.value.iter().map(|byte| char::from(*byte)).collect();
    }
    utf8(&reply.value)
}

fn class_of(bytes: &[u8]) -> (String, String) {
    let mut parts = bytes.split(|byte| *byte == 0).map(utf8);
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

#[cfg(test)]
#[path = "windows_tests.rs"]
mod tests;
