"""Walks the showing elements of one window with pyatspi, and times the second walk, with warm caches."""
import json
import sys
import time

import pyatspi

CHILDREN_MAX = 200


def visit(node):
    """Reads the same properties as an observation: name, role, states, extents, actions and text."""
    states = node.getState()
    if not states.contains(pyatspi.STATE_SHOWING) and not states.contains(pyatspi.STATE_VISIBLE):
        return None
    node.name
    node.getRole()
    interfaces = pyatspi.listInterfaces(node)
    if "Component" in interfaces:
        node.queryComponent().getExtents(pyatspi.DESKTOP_COORDS)
    if "Action" in interfaces:
        action = node.queryAction()
        [action.getName(i) for i in range(action.nActions)]
    if "Text" in interfaces:
        text = node.queryText()
        text.getText(0, min(text.characterCount, 500))
    return states.contains(pyatspi.STATE_SHOWING)


def walk(frame):
    count, open_nodes = 0, [frame]
    while open_nodes:
        node = open_nodes.pop()
        try:
            shows = visit(node)
            if not shows and node is not frame and node.get_toolkit_name() not in ("GTK", None):
                continue
            if shows is None:
                continue
            count += 1
            children = node.childCount
            if children > CHILDREN_MAX or node.getRole() == pyatspi.ROLE_MENU:
                continue
            open_nodes.extend(node.getChildAtIndex(i) for i in range(children))
        except Exception:  # removed meanwhile
            continue
        open_nodes = [node for node in open_nodes if node is not None]
    return count


def find(title):
    desktop = pyatspi.Registry.getDesktop(0)
    for i in range(desktop.childCount):
        application = desktop.getChildAtIndex(i)
        for j in range(application.childCount if application is not None else 0):
            frame = application.getChildAtIndex(j)
            if frame is not None and (frame.name == title or (frame.name and frame.name in title)):
                return frame
    raise SystemExit("no window " + title)


frame = find(sys.argv[1])
walk(frame)
begun = time.monotonic()
nodes = walk(frame)
print(json.dumps({"ms": (time.monotonic() - begun) * 1000, "nodes": nodes}))
