//! Which files of a crate import each other, by the paths in their `use crate::…` and `use super::…` items.

use std::collections::{BTreeMap, BTreeSet};

use super::{code::first_test_line, files::SourceFile};

/// The groups of two or more files that import each other in a circle.
pub(super) fn circles<'a>(files: impl Iterator<Item = &'a SourceFile>) -> Vec<Vec<&'a str>> {
    // The module of a file, with the folder of its crate in front: `agent/machine/src::session::state`.
    let modules: BTreeMap<String, &SourceFile> = files.map(|file| (module_of(&file.path), file)).collect();
    let edges: BTreeMap<&str, Vec<&str>> = modules
        .iter()
        .map(|(module, file)| {
            let named = imported(module, product_code(file));
            let to = named
                .iter()
                .filter_map(|path| longest_module(&modules, path).filter(|target| target != module));
            (module.as_str(), to.collect())
        })
        .collect();
    let mut circles = Vec::new();
    for group in components(&edges) {
        if group.len() > 1 {
            let files = group.iter().filter_map(|module| modules.get(*module));
            circles.push(files.map(|file| file.path.as_str()).collect());
        }
    }
    circles
}

/// The module that a file is.
fn module_of(path: &str) -> String {
    let (root, below) = path.split_once("/src/").unwrap_or((path, ""));
    let below = below.trim_end_matches(".rs");
    let below = below.strip_suffix("/mod").unwrap_or(below);
    let mut module = format!("{root}/src");
    if !matches!(below, "lib" | "main" | "mod") {
        module.push_str("::");
        module.push_str(&below.replace('/', "::"));
    }
    module
}

/// The code of a file above its tests.
fn product_code(file: &SourceFile) -> &str {
    let lines = first_test_line(file.text()) - 1;
    let end = file.code().match_indices('\n').nth(lines.saturating_sub(1)).map(|(at, _)| at);
    file.code().get(..end.unwrap_or(file.code().len())).unwrap_or_default()
}

/// The module with the longest path that begins a path.
fn longest_module<'a>(modules: &'a BTreeMap<String, &SourceFile>, path: &[&str]) -> Option<&'a str> {
    (1..=path.len()).rev().find_map(|length| {
        modules.get_key_value(&path.get(..length)?.join("::")).map(|(module, _)| module.as_str())
    })
}

/// The paths that a module imports of its own crate, from the root on, with groups expanded.
fn imported<'a>(module: &'a str, code: &'a str) -> Vec<Vec<&'a str>> {
    let own: Vec<&str> = module.split("::").collect();
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let rest = code.get(at + "use ".len()..).unwrap_or_default();
        let tree = rest.split_once(';').map_or(rest, |(tree, _)| tree);
        let (mut base, tree) = match tree.strip_prefix("crate::") {
            Some(tree) => (own.iter().take(1).copied().collect(), tree),
            None => {
                let inner = tree.trim_start_matches("super::");
                let ups = (tree.len() - inner.len()) / "super::".len();
                let up: Vec<&str> = own.iter().take(own.len().saturating_sub(ups)).copied().collect();
                (if ups == 0 { Vec::new() } else { up }, inner)
            }
        };
        if !base.is_empty() {
            expand(tree, &mut base, &mut paths);
        }
    }
    paths
}

/// Adds the paths of a use tree.
fn expand<'a>(tree: &'a str, before: &mut Vec<&'a str>, paths: &mut Vec<Vec<&'a str>>) {
    for branch in branches(tree) {
        let (path, group) = match branch.split_once('{') {
            Some((path, group)) => (path, Some(group.rsplit_once('}').map_or(group, |(group, _)| group))),
            None => (branch, None),
        };
        let length = before.len();
        before.extend(path.split("::").map(str::trim).filter(|segment| !segment.is_empty()));
        match group {
            Some(group) => expand(group, before, paths),
            None => paths.push(before.clone()),
        }
        before.truncate(length);
    }
}

/// The branches of a use tree, at its commas outside of braces.
fn branches(tree: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0_usize, 0, Vec::new());
    for (at, character) in tree.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.extend(tree.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    found.extend(tree.get(start..));
    found.retain(|branch| !branch.trim().is_empty());
    found
}

/// The strongly connected components: nodes that reach each other.
fn components<'a>(edges: &BTreeMap<&'a str, Vec<&'a str>>) -> Vec<Vec<&'a str>> {
    let reversed = edges.iter().flat_map(|(from, to)| to.iter().map(|to| (*to, *from)));
    let mut back: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    reversed.for_each(|(to, from)| back.entry(to).or_default().push(from));
    // Kosaraju: in the reverse order of leaving, along the reversed edges.
    let mut order = Vec::new();
    let mut visited = BTreeSet::new();
    edges.keys().for_each(|node| visit(node, edges, &mut visited, &mut order));
    visited.clear();
    let mut found = Vec::new();
    for node in order.into_iter().rev() {
        let mut group = Vec::new();
        visit(node, &back, &mut visited, &mut group);
        if !group.is_empty() {
            found.push(group);
        }
    }
    found
}

/// Adds a node and all that it reaches, each after what it reaches.
fn visit<'a>(
    node: &'a str,
    edges: &BTreeMap<&'a str, Vec<&'a str>>,
    visited: &mut BTreeSet<&'a str>,
    order: &mut Vec<&'a str>,
) {
    if !visited.insert(node) {
        return;
    }
    for next in edges.get(node).into_iter().flatten() {
        visit(next, edges, visited, order);
    }
    order.push(node);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_expanded() {
        let code =
            "use crate::{a::{B, c::D}, e::F};\nuse super::{g, h::I};\nuse super::super::J;\nuse std::fs;\n";
        let found: Vec<String> = imported("x/src::m::n", code).iter().map(|path| path.join("::")).collect();
        assert_eq!(
            found,
            ["x/src::a::B", "x/src::a::c::D", "x/src::e::F", "x/src::m::g", "x/src::m::h::I", "x/src::J"]
        );
    }

    #[test]
    fn circles_are_found_within_a_crate() {
        let file = |path: &str, text: &str| SourceFile::sample(path, text);
        let files = [
            file("agent/x/src/lib.rs", "mod a;\nmod b;\nmod c;\n"),
            file("agent/x/src/a.rs", "use crate::b::B;\n"),
            file("agent/x/src/b/mod.rs", "use crate::c::{C, D};\n"),
            file("agent/x/src/c.rs", "use crate::a::A;\n"),
            file("agent/x/src/d.rs", "use crate::a::A;\n"),
            file("agent/y/src/a.rs", "use crate::b::B;\n"),
        ];
        let mut found = circles(files.iter());
        assert_eq!(found.len(), 1);
        found[0].sort_unstable();
        assert_eq!(found[0], ["agent/x/src/a.rs", "agent/x/src/b/mod.rs", "agent/x/src/c.rs"]);
    }
}
