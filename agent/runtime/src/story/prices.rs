//! Costs and display names of the models of a session.

use deskhand_machine::{
    money::{Price, PriceTable},
    session::{ModelRoles, SessionConfig},
};

/// The prices in force.
#[derive(Debug, Default)]
pub(super) struct Prices {
    table: PriceTable,
    usual: String,
    roles: ModelRoles,
}

impl Prices {
    pub(super) fn new(config: &SessionConfig) -> Self {
        Self { table: config.prices.clone(), usual: config.model.clone(), roles: config.roles.clone() }
    }

    /// The name of a model at its endpoint and in the price table, by its name in the session.
    pub(super) fn name<'a>(&'a self, by: Option<&'a str>) -> &'a str {
        self.roles.priced(by, &self.usual)
    }

    /// The price of a model, by its name in the session.
    pub(super) fn of(&self, by: Option<&str>) -> Option<&Price> {
        self.table.find(self.name(by))
    }
}
