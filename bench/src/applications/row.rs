//! What came of one application.

use std::process::Command;

use super::programs::{List, Program, Save, Where};

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Found,
    First,
    Menus,
    Dialogs,
    Lists,
    Text,
    Save,
}

impl Column {
    pub(super) const ALL: [Self; 7] =
        [Self::Found, Self::First, Self::Menus, Self::Dialogs, Self::Lists, Self::Text, Self::Save];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Found => "found by name",
            Self::First => "first elements",
            Self::Menus => "menus",
            Self::Dialogs => "dialogs",
            Self::Lists => "lists",
            Self::Text => "text",
            Self::Save => "save",
        }
    }
}

/// What came of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    /// The application has none.
    None,
    /// Not tried yet.
    Untried,
    /// It was done.
    Works,
    /// It was not, with the reason.
    Fails(String),
}

/// What came of one application.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) toolkit: &'static str,
    pub(super) version: String,
    cells: Vec<(Column, Cell)>,
    /// How long after its last window the first elements were there, in milliseconds.
    pub(super) first_ms: Option<u64>,
    /// How long after its last window it could be worked in, with all that was read, in milliseconds.
    pub(super) ready_ms: Option<u64>,
    /// For how long that window was blank, in milliseconds.
    pub(super) blank_ms: u64,
    /// Whether its elements are read from a picture.
    pub(super) read_from_picture: bool,
    /// Whether the first elements came too late.
    pub(super) slow: bool,
    /// What was said to be done and was not.
    pub(super) false_seen: Vec<String>,
    /// What was done and not said to be.
    pub(super) missed: Vec<String>,
    pub(super) hangs: usize,
    /// How often something was lost that was there.
    pub(super) destroyed: usize,
}

impl Row {
    pub(super) fn new(program: &Program) -> Self {
        let has = |column: Column| match column {
            Column::Found | Column::First => true,
            Column::Menus | Column::Dialogs => !program.menu.is_empty(),
            Column::Lists => program.list != List::None,
            Column::Text => program.text != Where::No,
            Column::Save => program.save != Save::No,
        };
        let cell = |column| if has(column) { Cell::Untried } else { Cell::None };
        Self {
            name: program.name,
            toolkit: program.toolkit,
            version: version_of(program.package),
            cells: Column::ALL.map(|column| (column, cell(column))).to_vec(),
            first_ms: None,
            ready_ms: None,
            blank_ms: 0,
            read_from_picture: false,
            slow: false,
            false_seen: Vec::new(),
            missed: Vec::new(),
            hangs: 0,
            destroyed: 0,
        }
    }

    pub(super) fn set(&mut self, column: Column, cell: Cell) {
        if let Some((_, place)) = self.cells.iter_mut().find(|(own, _)| *own == column) {
            *place = cell;
        }
    }

    pub(super) fn with(mut self, column: Column, cell: Cell) -> Self {
        self.set(column, cell);
        self
    }

    /// Nothing else can be tried.
    pub(super) fn fail_untried(&mut self, why: &str) {
        for (_, cell) in &mut self.cells {
            if *cell == Cell::Untried {
                *cell = Cell::Fails(why.to_owned());
            }
        }
    }

    pub(super) fn cell(&self, column: Column) -> &Cell {
        self.cells.iter().find(|(own, _)| *own == column).map_or(&Cell::None, |(_, cell)| cell)
    }

    /// What does not work, with the reasons.
    pub(super) fn failures(&self) -> impl Iterator<Item = (Column, &str)> {
        self.cells.iter().filter_map(|(column, cell)| match cell {
            Cell::Fails(why) => Some((*column, why.as_str())),
            Cell::Untried => Some((*column, "not tried")),
            Cell::None | Cell::Works => None,
        })
    }

    /// Returns `true` if everything that the application has works, and was judged rightly.
    pub(super) fn is_complete(&self) -> bool {
        self.failures().next().is_none()
            && self.false_seen.is_empty()
            && self.hangs == 0
            && self.destroyed == 0
    }
}

/// The version of a package, as Debian counts.
fn version_of(package: &str) -> String {
    let output = Command::new("dpkg-query").args(["--show", "--showformat", "${Version}", package]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}
