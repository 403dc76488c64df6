//! Check of a command's target: against the state that the command was judged on, and by the rules, which are
//! applied again to the current state.

use deskhand_desktop_act::{Live, Permit, SecretUse};
use deskhand_machine::{
    command::ToolCommand,
    intent::{CommandAim, Does, JudgedElement},
    policy::{Policy, PolicyDecision, Subject},
    secret,
};
use deskhand_secret::Secrets;
use deskhand_ui::{Element, Role, action::LastLook, ids::ElementId, names_equal, secret::SecretPermit};

/// The permit of one command.
pub(crate) struct Warrant<'a> {
    command: &'a ToolCommand,
    policy: &'a Policy,
    secret: Option<SecretUse<'a>>,
}

impl<'a> Warrant<'a> {
    /// The warrant of a command that the gate has cleared under this policy.
    pub(crate) const fn new(command: &'a ToolCommand, policy: &'a Policy) -> Self {
        Self { command, policy, secret: None }
    }

    /// The same with the secret that the command types, if it types one of these.
    pub(crate) fn with_secrets(self, permits: &'a [SecretPermit], secrets: &'a Secrets) -> Self {
        let named = secret::secret_of(self.command);
        let secret = named.and_then(|(name, field)| {
            let permit = permits.iter().find(|permit| permit.name == name)?;
            Some(SecretUse { permit, field, secrets })
        });
        Self { secret, ..self }
    }

    /// Refuses an element that is another one than the element that was judged.
    fn same_as_judged(&self, live: &Element, focused: bool) -> Result<(), LastLook> {
        let judged: &[JudgedElement] = self.command.judged.as_ref().map_or(&[], |judged| &judged.elements);
        match judged.iter().find(|one| one.id == live.id) {
            Some(judged)
                if judged.role != live.role
                    || (!shows_its_value(&live.role) && !names_equal(&judged.name, &live.name)) =>
            {
                Err(LastLook::Replaced { judged: Box::new(judged.to_ref()), found: live.into() })
            }
            Some(_) => Ok(()),
            // One that stands in for it, as after a view was drawn anew, has its name.
            None if !focused && self.only_there() => match judged.first() {
                Some(first) if !judged.iter().any(|one| names_equal(&one.name, &live.name)) => {
                    Err(LastLook::Replaced { judged: Box::new(first.to_ref()), found: live.into() })
                }
                Some(_) | None => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// Lets the rules rule on what is there now. What a person approved is only what was judged.
    fn ruled(&self, live: &Element, inside: &[String]) -> Result<(), LastLook> {
        let subject = Subject::live(self.command, live, inside);
        let ruling = self.policy.decide(&subject);
        let judged = self.command.judged.as_ref();
        // The levels of a path were shown with its last name.
        let path = self.command.intent.aims.iter().flat_map(|aimed| {
            let names: &[String] = if let CommandAim::Path { names } = aimed { names } else { &[] };
            names
        });
        let elements = judged.iter().flat_map(|judged| judged.elements.iter().map(|one| &one.name));
        let names = judged.iter().flat_map(|judged| &judged.names);
        let known: Vec<&String> = names.chain(elements).chain(path).collect();
        let is_judged = |label: &String| known.iter().any(|name| names_equal(name, label));
        let approved = judged.is_some_and(|judged| judged.approved);
        // A host or an address that stands there by now was not asked about.
        let values_known =
            judged.is_some_and(|judged| subject.values.iter().all(|value| judged.values.contains(value)));
        match ruling.decision {
            PolicyDecision::Allow => Ok(()),
            PolicyDecision::Ask if approved && values_known && subject.labels.iter().all(is_judged) => Ok(()),
            PolicyDecision::Ask => Err(LastLook::NeedsApproval { element: live.into(), rule: ruling.why }),
            PolicyDecision::Deny => Err(LastLook::Denied { element: live.into(), rule: ruling.why }),
        }
    }
}

/// Roles whose accessible name may be their value, so that another name is no other element.
fn shows_its_value(role: &Role) -> bool {
    [Role::COMBO_BOX, Role::ENTRY, Role::TEXT, Role::PARAGRAPH, Role::PASSWORD_TEXT, Role::LABEL]
        .contains(role)
}

/// Roles whose parts are acted on where these are: cells, items, entries beside them.
fn is_in_parts(role: &Role) -> bool {
    [Role::TABLE, Role::COMBO_BOX, Role::LIST, Role::LIST_BOX, Role::TREE, Role::TREE_TABLE].contains(role)
        || ["document", "spin"].iter().any(|part| role.name().contains(part))
}

impl Permit for Warrant<'_> {
    fn admits(&self, live: &Live<'_>) -> Result<(), LastLook> {
        self.same_as_judged(live.element, live.focused)?;
        self.ruled(live.element, live.inside)
    }

    fn elements(&self) -> Vec<ElementId> {
        let judged: &[JudgedElement] = self.command.judged.as_ref().map_or(&[], |judged| &judged.elements);
        judged.iter().filter(|one| !one.drawn).map(|one| one.id).collect()
    }

    fn is_drawn(&self) -> bool {
        self.command.judged.as_ref().is_some_and(|judged| judged.elements.iter().any(|one| one.drawn))
    }

    fn only_there(&self) -> bool {
        let intent = &self.command.intent;
        let aims_elsewhere = intent.aims.iter().any(|aimed| {
            matches!(
                aimed,
                CommandAim::Item { .. }
                    | CommandAim::Path { .. }
                    | CommandAim::Place { .. }
                    | CommandAim::Keys { .. }
            )
        });
        let judged = self.command.judged.as_ref();
        let in_parts = judged.is_some_and(|judged| judged.elements.iter().any(|one| is_in_parts(&one.role)));
        matches!(intent.does, Does::Press | Does::Set | Does::Drag) && !aims_elsewhere && !in_parts
    }

    fn admits_clear(&self, field: &Element) -> Result<(), LastLook> {
        let mut judged = self.command.judged.iter().flat_map(|judged| &judged.elements);
        if judged.any(|one| one.role == Role::PASSWORD_TEXT) {
            return Ok(());
        }
        let reason =
            "it is a field for passwords, which the text was not judged for; type it again with its id";
        Err(LastLook::Secret { element: field.into(), reason: reason.to_owned() })
    }

    fn pid(&self) -> Option<u32> {
        self.command.judged.as_ref().and_then(|judged| judged.pid)
    }

    fn secret(&self) -> Option<SecretUse<'_>> {
        self.secret
    }
}

#[cfg(test)]
mod tests {
    use deskhand_machine::intent::{Intent, JudgementBasis};
    use deskhand_ui::{
        States,
        keys::{ChordKey, KeyChord, NamedKey},
    };

    use super::*;

    /// Return in the address field e2 of a browser, which was judged and approved for one host.
    fn approved(host: &str) -> ToolCommand {
        let chord = KeyChord { modifiers: Vec::new(), key: ChordKey::Named(NamedKey::Return) };
        let judged = JudgementBasis {
            shows_page: true,
            hosts: vec![host.to_owned()],
            approved: true,
            ..JudgementBasis::default()
        };
        ToolCommand {
            tool: "press_keys".to_owned(),
            intent: Intent { does: Does::Press, aims: vec![CommandAim::Keys { chords: vec![chord] }] },
            judged: Some(Box::new(judged)),
            ..ToolCommand::default()
        }
    }

    #[test]
    fn an_approval_covers_no_host_that_stands_there_by_now() {
        let policy = Policy::default();
        let ruled = |text: &str| {
            let field = Element {
                text: Some(text.to_owned()),
                states: States::EMPTY,
                ..Element::new(ElementId(2), Role::ENTRY, "")
            };
            Warrant::new(&approved("shop.test"), &policy).ruled(&field, &[])
        };
        assert_eq!(ruled("shop.test/cart"), Ok(()));
        let refused = ruled("evil.test/cart");
        assert!(
            matches!(&refused, Err(LastLook::NeedsApproval { rule, .. }) if rule.contains("evil.test")),
            "{refused:?}"
        );
    }
}
