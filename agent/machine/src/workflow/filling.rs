//! Selectors with values in braces: a row that is found by a parameter, an option that is called like one.

use super::{
    selector::{NamePattern, Selector},
    values::{TemplateError, Values, literal, names_in},
};

impl Selector {
    /// The texts of it that may have values in braces: its name, its row, its column.
    pub(super) fn texts(&self) -> Vec<String> {
        let name = self.name.iter().map(|name| name.text().to_owned());
        name.chain(self.row.iter().cloned()).chain(self.column.clone()).collect()
    }

    /// The selector with its values filled in.
    pub(super) fn filled(&self, values: &Values) -> Result<Self, TemplateError> {
        let mut filled = self.clone();
        if let Some(name) = &self.name {
            // What a value has of the signs of patterns is meant as it is.
            let text =
                values.fill_with(name.text(), |value| NamePattern::literal(value).text().to_owned())?;
            filled.name = Some(NamePattern::new(text));
        }
        filled.row = self.row.iter().map(|text| values.fill(text)).collect::<Result<_, _>>()?;
        filled.column = self.column.as_ref().map(|text| values.fill(text)).transpose()?;
        Ok(filled)
    }

    /// The selector as it is written in a workflow: braces of its texts are doubled.
    #[must_use]
    pub fn written(mut self) -> Self {
        self.name = self.name.map(|name| NamePattern::new(literal(name.text())));
        self.row = self.row.iter().map(|text| literal(text)).collect();
        self.column = self.column.as_deref().map(literal);
        self
    }

    /// The selector of what was found for another one, as it is written in its place: texts that still hold stay as they were, and so do
    /// those with values in braces, of which one was seen.
    pub(super) fn in_place_of(self, was: &Self) -> Self {
        let has_value = |text: &str| names_in(text).is_ok_and(|names| !names.is_empty());
        let mut written = self.clone().written();
        let keeps_name =
            was.name.as_ref().is_some_and(|name| has_value(name.text())) || self.name == was.name;
        if keeps_name {
            written.name.clone_from(&was.name);
        }
        if was.row.iter().any(|text| has_value(text)) || self.row == was.row {
            written.row.clone_from(&was.row);
        }
        if was.column.as_deref().is_some_and(has_value) || self.column == was.column {
            written.column.clone_from(&was.column);
        }
        written
    }
}
