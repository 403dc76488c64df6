// Tells Deskhand which windows are where, and activates and closes them for it: on the session bus, for programs of this user alone.

const PATH = '/org/deskhand/Windows';
const INTERFACE = `
<node>
  <interface name="org.deskhand.Windows">
    <method name="List"><arg type="s" direction="out" name="windows"/></method>
    <method name="Activate"><arg type="s" direction="in" name="id"/><arg type="b" direction="out" name="found"/></method>
    <method name="Close"><arg type="s" direction="in" name="id"/><arg type="b" direction="out" name="found"/></method>
    <signal name="Changed"/>
  </interface>
</node>`;
const TOPLEVELS = [
    Meta.WindowType.NORMAL,
    Meta.WindowType.DIALOG,
    Meta.WindowType.MODAL_DIALOG,
    Meta.WindowType.UTILITY,
    Meta.WindowType.SPLASHSCREEN,
];
const POP_UPS = [
    Meta.WindowType.DROPDOWN_MENU,
    Meta.WindowType.POPUP_MENU,
    Meta.WindowType.COMBO,
    Meta.WindowType.TOOLTIP,
    Meta.WindowType.OVERRIDE_OTHER,
];
const OF_WINDOW = ['notify::title', 'position-changed', 'size-changed', 'unmanaged', 'notify::minimized'];

class Windows {
    enable() {
        this._connections = [];
        this._exported = Gio.DBusExportedObject.wrapJSObject(INTERFACE, this);
        this._exported.export(Gio.DBus.session, PATH);
        const changed = () => this._exported.emit_signal('Changed', null);
        const follow = window => {
            for (const signal of OF_WINDOW)
                this._connect(window, signal, changed);
            changed();
        };
        this._connect(global.display, 'window-created', (_display, window) => follow(window));
        this._connect(global.display, 'notify::focus-window', changed);
        this._connect(global.display, 'restacked', changed);
        this._connect(global.window_manager, 'map', changed);
        this._windows().forEach(follow);
    }

    disable() {
        for (const [object, connection] of this._connections) {
            try {
                object.disconnect(connection);
            } catch {
                // The window is gone.
            }
        }
        this._connections = [];
        this._exported.unexport();
        this._exported = null;
    }

    _connect(object, signal, run) {
        this._connections.push([object, object.connect(signal, run)]);
    }

    // Bottom-most first.
    _windows() {
        const windows = global.get_window_actors().map(actor => actor.meta_window).filter(window => window);
        return windows.filter(window => [...TOPLEVELS, ...POP_UPS].includes(window.get_window_type()));
    }

    _find(id) {
        return this._windows().find(window => `${window.get_id()}` === id);
    }

    List() {
        const listed = window => {
            const frame = window.get_frame_rect();
            const owner = window.get_transient_for();
            return {
                id: `${window.get_id()}`,
                title: window.get_title() ?? '',
                app: window.get_wm_class() ?? '',
                pid: Math.max(window.get_pid(), 0),
                bounds: [frame.x, frame.y, frame.width, frame.height],
                focused: window.has_focus(),
                full_screen: window.is_fullscreen(),
                owner: owner ? `${owner.get_id()}` : '',
                pop_up: POP_UPS.includes(window.get_window_type()),
                hidden: window.minimized || !window.showing_on_its_workspace(),
            };
        };
        return JSON.stringify(this._windows().map(listed).filter(({ bounds }) => bounds[2] > 0 && bounds[3] > 0));
    }

    Activate(id) {
        const window = this._find(id);
        if (window) {
            Main.overview.hide();
            window.activate(global.get_current_time());
        }
        return Boolean(window);
    }

    Close(id) {
        const window = this._find(id);
        window?.delete(global.get_current_time());
        return Boolean(window);
    }
}
