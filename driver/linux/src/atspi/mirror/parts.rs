//! The parts of an object that are read and invalidated separately, and a moment for each.

/// A moment of a store; moments only increase.
pub(crate) type Moment = u64;

/// A set of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ObjectAspects(u8);

impl ObjectAspects {
    pub(crate) const NONE: Self = Self(0);
    /// The states.
    pub(crate) const STATES: Self = Self(1);
    /// Name, description, text, value, number of children, shape of a table.
    pub(crate) const BODY: Self = Self(2);
    /// The extents.
    pub(crate) const EXTENTS: Self = Self(4);
    /// The list of children.
    pub(crate) const CHILDREN: Self = Self(8);
    /// Role and patterns.
    pub(crate) const KIND: Self = Self(16);
    /// Kind and content of an element.
    pub(super) const KIND_AND_BODY: Self = Self::KIND.and(Self::BODY);
    pub(crate) const ALL: Self = Self(31);
    pub(super) const EACH: [Self; 5] = [Self::STATES, Self::BODY, Self::EXTENTS, Self::CHILDREN, Self::KIND];

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// A moment for each part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct AspectMoments {
    pub(super) states: Moment,
    pub(super) body: Moment,
    pub(super) extents: Moment,
    pub(super) children: Moment,
    pub(super) kind: Moment,
}

impl AspectMoments {
    pub(super) fn get(&self, part: ObjectAspects) -> Moment {
        match part {
            ObjectAspects::STATES => self.states,
            ObjectAspects::BODY => self.body,
            ObjectAspects::EXTENTS => self.extents,
            ObjectAspects::KIND => self.kind,
            _ => self.children,
        }
    }

    /// Advances the moments of `parts` to `moment`, never back.
    pub(super) fn raise(&mut self, parts: ObjectAspects, moment: Moment) {
        for part in ObjectAspects::EACH.into_iter().filter(|part| parts.has(*part)) {
            let place = match part {
                ObjectAspects::STATES => &mut self.states,
                ObjectAspects::BODY => &mut self.body,
                ObjectAspects::EXTENTS => &mut self.extents,
                ObjectAspects::KIND => &mut self.kind,
                _ => &mut self.children,
            };
            *place = moment.max(*place);
        }
    }

    /// The later moment of each part.
    pub(crate) fn later(&self, other: &Self) -> Self {
        Self {
            states: self.states.max(other.states),
            body: self.body.max(other.body),
            extents: self.extents.max(other.extents),
            children: self.children.max(other.children),
            kind: self.kind.max(other.kind),
        }
    }
}
