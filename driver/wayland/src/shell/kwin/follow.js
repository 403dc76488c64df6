function changed() {
    callDBus(SERVICE, PATH, "org.deskhand.Windows", "Changed");
}

function follow(one) {
    var signals = ["captionChanged", "frameGeometryChanged", "minimizedChanged", "fullScreenChanged"];
    for (var i = 0; i < signals.length; i++) {
        if (one[signals[i]])
            one[signals[i]].connect(changed);
    }
    changed();
}

[workspace.windowAdded, workspace.clientAdded].forEach(function (added) {
    if (added)
        added.connect(follow);
});
[
    workspace.windowRemoved, workspace.clientRemoved, workspace.windowActivated, workspace.clientActivated
].forEach(function (signal) {
    if (signal)
        signal.connect(changed);
});
windows().forEach(follow);
