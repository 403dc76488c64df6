// What a script of Deskhand knows of the windows of KWin, in Plasma 5 and in Plasma 6. Bottom-most first.
function windows() {
    var all = workspace.stackingOrder || (workspace.windowList ? workspace.windowList() : workspace.clientList());
    var shown = [];
    for (var i = 0; i < all.length; i++) {
        var one = all[i];
        if (!one.desktopWindow && !one.dock && !one.onScreenDisplay && !one.deleted)
            shown.push(one);
    }
    if (!workspace.stackingOrder)
        shown.sort(function (one, other) { return one.stackingOrder - other.stackingOrder; });
    return shown;
}

function active() {
    return workspace.activeWindow === undefined ? workspace.activeClient : workspace.activeWindow;
}

// The place of what the application draws, without the frame of KWin.
function place(one) {
    var frame = one.frameGeometry;
    if (one.clientGeometry)
        return [one.clientGeometry.x, one.clientGeometry.y, one.clientGeometry.width, one.clientGeometry.height];
    if (one.clientPos && one.clientSize)
        return [frame.x + one.clientPos.x, frame.y + one.clientPos.y, one.clientSize.width, one.clientSize.height];
    return [frame.x, frame.y, frame.width, frame.height];
}

function listed(one) {
    return {
        id: String(one.internalId),
        title: String(one.caption || ""),
        app: String(one.desktopFileName || one.resourceClass || ""),
        pid: Math.max(one.pid || 0, 0),
        bounds: place(one),
        focused: one === active() || one.active === true,
        full_screen: Boolean(one.fullScreen),
        owner: one.transientFor ? String(one.transientFor.internalId) : "",
        pop_up: Boolean(one.popupWindow || one.tooltip || one.popupMenu || one.dropdownMenu || one.comboBox),
        hidden: Boolean(one.minimized || one.hidden)
    };
}

function change(id, what) {
    var all = windows();
    for (var i = 0; i < all.length; i++) {
        if (String(all[i].internalId) !== id)
            continue;
        if (what === "Close")
            all[i].closeWindow();
        else if (workspace.activeWindow === undefined)
            workspace.activeClient = all[i];
        else
            workspace.activeWindow = all[i];
        return true;
    }
    return false;
}

function reply(text) {
    callDBus(SERVICE, PATH, "org.deskhand.Windows", "Answer", String(NUMBER), text);
}
