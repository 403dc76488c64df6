//! The definition of a toolkit: how its programs are recognised, and the way they come to expose elements.

/// A toolkit.
pub(super) struct ToolkitDefinition {
    /// Its name.
    pub(super) name: &'static str,
    /// Parts of the names of files, any of which a process of it has loaded.
    pub(super) loads: &'static [&'static str],
    /// The way it exposes elements, if it does.
    pub(super) exposes: Exposes,
    /// Variables with which its programs expose elements. Those of other toolkits do not mind them.
    pub(super) variables: &'static [(&'static str, &'static str)],
    /// Variables that its programs need besides if root starts them.
    pub(super) as_superuser: &'static [(&'static str, &'static str)],
}

/// The way a toolkit exposes elements, if it does.
pub(super) enum Exposes {
    /// By itself.
    Always,
    /// Through a bridge that is loaded before the first window, or never.
    Through(Bridge),
    /// Never: the toolkit has no accessibility.
    Never,
}

/// A library that exposes the elements of a toolkit.
pub(super) struct Bridge {
    /// A part of the name of the file that a process has loaded once it is in use.
    pub(super) loads: &'static str,
    /// Its path, below a folder of libraries.
    pub(super) file: &'static str,
    /// The Debian package that brings it.
    pub(super) package: &'static str,
}

/// A toolkit that exposes elements by itself.
pub(super) const fn exposing(name: &'static str, loads: &'static [&'static str]) -> ToolkitDefinition {
    ToolkitDefinition { name, loads, exposes: Exposes::Always, variables: &[], as_superuser: &[] }
}

/// A toolkit without accessibility.
pub(super) const fn silent(name: &'static str, loads: &'static [&'static str]) -> ToolkitDefinition {
    ToolkitDefinition { name, loads, exposes: Exposes::Never, variables: &[], as_superuser: &[] }
}

impl ToolkitDefinition {
    /// The same with variables for its programs.
    pub(super) const fn with(self, variables: &'static [(&'static str, &'static str)]) -> Self {
        Self { variables, ..self }
    }
}
