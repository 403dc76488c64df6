//! Changes of a layout, as an upgrade of an application makes them.

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

/// A change. Controls and containers are named by the identity that stays theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Another name of a control, label, group or option.
    Name(&'static str, &'static str),
    /// Another kind of control.
    Kind(&'static str, &'static str),
    /// A help text.
    Help(&'static str, &'static str),
    /// It is no longer there.
    Remove(&'static str),
    /// It stands in another place: in a container, or in the window itself if that is empty.
    Move { id: &'static str, into: &'static str, at: usize },
    /// Something new, as JSON.
    Add { into: &'static str, at: usize, node: &'static str },
    /// What a container holds, or the window itself, in the opposite order.
    Reverse(&'static str),
    /// What a container holds takes its place.
    Unwrap(&'static str),
    /// A group around something.
    Wrap { id: &'static str, name: &'static str },
    /// All names by a table of words; names that are not in it stay.
    Words(&'static [(&'static str, &'static str)]),
    /// A dialog that opens with the window, as JSON.
    Dialog(&'static str),
    /// The size of the window.
    Size([u16; 2]),
    /// The toolkit.
    Toolkit(&'static str),
}

/// Makes a change.
pub(super) fn apply(change: &Change, layout: &mut Value) -> Result<()> {
    match change {
        Change::Name(id, name) => set(layout, id, "name", name),
        Change::Kind(id, kind) => set(layout, id, "kind", kind),
        Change::Help(id, help) => set(layout, id, "help", help),
        Change::Remove(id) => take(body(layout)?, id).map(|_| ()).with_context(|| missing(id)),
        Change::Move { id, into, at } => {
            let node = take(body(layout)?, id).with_context(|| missing(id))?;
            put(layout, into, *at, node)
        }
        Change::Add { into, at, node } => {
            let node = serde_json::from_str(node).with_context(|| format!("read {node}"))?;
            put(layout, into, *at, node)
        }
        Change::Reverse(id) => {
            inside(layout, id)?.reverse();
            Ok(())
        }
        Change::Unwrap(id) => {
            let held = std::mem::take(inside(layout, id)?);
            let place = place_of(body(layout)?, id).with_context(|| missing(id))?;
            let (nodes, at) = place;
            nodes.splice(at..=at, held);
            Ok(())
        }
        Change::Wrap { id, name } => {
            let (nodes, at) = place_of(body(layout)?, id).with_context(|| missing(id))?;
            let node = nodes.remove(at);
            nodes.insert(at, json!({ "kind": "group", "id": "around", "name": name, "of": [node] }));
            Ok(())
        }
        Change::Words(words) => {
            translate(layout, words);
            Ok(())
        }
        Change::Dialog(dialog) => {
            let dialog: Value = serde_json::from_str(dialog).with_context(|| format!("read {dialog}"))?;
            let layout = layout.as_object_mut().context("a layout is an object")?;
            layout.insert("dialogs".to_owned(), json!([dialog]));
            Ok(())
        }
        Change::Size(size) => replace(layout, "size", json!(size)),
        Change::Toolkit(toolkit) => replace(layout, "toolkit", json!(toolkit)),
    }
}

fn missing(id: &str) -> String {
    format!("the layout has no `{id}`")
}

fn replace(layout: &mut Value, field: &str, value: Value) -> Result<()> {
    *layout.get_mut(field).with_context(|| format!("the layout has no {field}"))? = value;
    Ok(())
}

fn body(layout: &mut Value) -> Result<&mut Vec<Value>> {
    layout.get_mut("body").and_then(Value::as_array_mut).context("a layout has a body")
}

fn is(node: &Value, id: &str) -> bool {
    node.get("id").is_some_and(|known| known == id)
}

/// The lists of nodes and options inside a node.
fn lists(node: &mut Value) -> impl Iterator<Item = &mut Vec<Value>> {
    let fields = node.as_object_mut().into_iter().flat_map(|node| node.iter_mut());
    fields
        .filter(|(name, _)| ["of", "options"].contains(&name.as_str()))
        .filter_map(|(_, list)| list.as_array_mut())
}

/// The list that holds a node, and where.
fn place_of<'a>(nodes: &'a mut Vec<Value>, id: &str) -> Option<(&'a mut Vec<Value>, usize)> {
    if let Some(at) = nodes.iter().position(|node| is(node, id)) {
        return Some((nodes, at));
    }
    nodes.iter_mut().flat_map(lists).find_map(|inner| place_of(inner, id))
}

fn take(nodes: &mut Vec<Value>, id: &str) -> Option<Value> {
    let (nodes, at) = place_of(nodes, id)?;
    Some(nodes.remove(at))
}

/// What a container holds; of the window itself, if the name is empty.
fn inside<'a>(layout: &'a mut Value, id: &str) -> Result<&'a mut Vec<Value>> {
    let all = body(layout)?;
    if id.is_empty() {
        return Ok(all);
    }
    let (nodes, at) = place_of(all, id).with_context(|| missing(id))?;
    let held = nodes.get_mut(at).and_then(|node| node.get_mut("of")).and_then(Value::as_array_mut);
    held.with_context(|| format!("`{id}` holds nothing"))
}

fn put(layout: &mut Value, into: &str, at: usize, node: Value) -> Result<()> {
    let nodes = inside(layout, into)?;
    if at > nodes.len() {
        bail!("`{into}` has only {} things in it", nodes.len());
    }
    nodes.insert(at, node);
    Ok(())
}

fn set(layout: &mut Value, id: &str, field: &str, text: &str) -> Result<()> {
    let (nodes, at) = place_of(body(layout)?, id).with_context(|| missing(id))?;
    let node = nodes.get_mut(at).and_then(Value::as_object_mut).with_context(|| missing(id))?;
    node.insert(field.to_owned(), json!(text));
    Ok(())
}

fn translate(value: &mut Value, words: &[(&str, &str)]) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let known = value.as_str().filter(|_| ["name", "status", "title"].contains(&name.as_str()));
                let new = known.and_then(|text| words.iter().find(|(old, _)| *old == text));
                match new {
                    Some((_, new)) => *value = json!(new),
                    None => translate(value, words),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| translate(value, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Identities, names and what is inside, in order.
    fn shown(nodes: &Value) -> String {
        let one = |node: &Value| {
            let inside = if node["of"].is_array() { shown(&node["of"]) } else { String::new() };
            format!("{}:{}{inside}", node["id"].as_str().unwrap(), node["name"].as_str().unwrap())
        };
        format!("[{}]", nodes.as_array().unwrap().iter().map(one).collect::<Vec<_>>().join(" "))
    }

    fn changed(change: Change) -> String {
        let mut layout = json!({ "size": [1, 1], "body": [
            { "id": "a", "name": "A" },
            { "id": "g", "name": "G", "of": [{ "id": "b", "name": "B" }, { "id": "c", "name": "C" }] },
        ]});
        apply(&change, &mut layout).unwrap();
        shown(&layout["body"])
    }

    #[test]
    fn layouts_change_as_told() {
        for (change, expected) in [
            (Change::Name("b", "X"), "[a:A g:G[b:X c:C]]"),
            (Change::Remove("b"), "[a:A g:G[c:C]]"),
            (Change::Move { id: "a", into: "g", at: 1 }, "[g:G[b:B a:A c:C]]"),
            (Change::Move { id: "c", into: "", at: 0 }, "[c:C a:A g:G[b:B]]"),
            (Change::Reverse("g"), "[a:A g:G[c:C b:B]]"),
            (Change::Unwrap("g"), "[a:A b:B c:C]"),
            (Change::Wrap { id: "b", name: "N" }, "[a:A g:G[around:N[b:B] c:C]]"),
            (Change::Words(&[("B", "Z"), ("G", "H")]), "[a:A g:H[b:Z c:C]]"),
        ] {
            assert_eq!(changed(change), expected, "{change:?}");
        }
        let mut layout = json!({ "body": [] });
        assert!(apply(&Change::Remove("x"), &mut layout).unwrap_err().to_string().contains("has no `x`"));
    }
}
