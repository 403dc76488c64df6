//! Small-model mode: short questions, whose answers name things by their titles.
//!
//! A model of a billion parameters follows a page of rules badly, and confuses numbers. It does better with a short question, a field for
//! what is needed before the choice, titles in place of ids, a few worked examples, and few things to choose from. So a step is:
//!
//! 1. An [`SmallModelOffer`] lists what could be chosen: windows, programs and workflows for the HostAgent; actions and elements for an AppAgent.
//! 2. It is [narrowed](Offer::narrowed) to what fits best, by the nearness of embeddings ([`Effect::Rank`](crate::session::Effect::Rank))
//!    or by shared words.
//! 3. The reply ([`SmallHostReply`], [`SmallAppReply`]) is looked up in the offer, and becomes the usual decision: state machines, gate,
//!    verdicts and journal are those of any other model. A workflow that was chosen is asked for its values first ([`SmallValuesReply`]).

mod decide;
mod offer;
mod tool_form;
mod values;

pub(crate) use decide::{
    SmallAppReply, SmallHostReply, SmallModelDecision, small_app_schema, small_host_schema,
};
pub(crate) use offer::{OfferTarget, SmallModelOffer, Thing};
pub(crate) use tool_form::ToolForm;
pub(crate) use values::{SmallValuesReply, parameter_lines, small_values_schema};

/// The titles for ends of a HostAgent's work.
pub(crate) const ALL_DONE: &str = "nothing: all is done";
pub(crate) const NOTHING_FITS: &str = "nothing: it cannot be done";
/// The words for ends of an AppAgent's work, and for no element.
pub(crate) const DONE: &str = "done";
pub(crate) const FAIL: &str = "fail";
pub(crate) const NONE: &str = "none";
