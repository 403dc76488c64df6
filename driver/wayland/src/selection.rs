//! The clipboard, as far as the compositor has told of it.

use std::{collections::HashMap, os::fd::OwnedFd};

use wayland_client::backend::ObjectId;
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_offer_v1::ZwlrDataControlOfferV1;

/// The clipboard as a connection sees it.
#[derive(Default)]
pub(crate) struct Selection {
    /// The formats of what is offered.
    pub(crate) offers: HashMap<ObjectId, Vec<String>>,
    pub(crate) current: Option<ZwlrDataControlOfferV1>,
    /// Descriptors to which our content was requested to be written.
    pub(crate) asked: Vec<OwnedFd>,
    /// Set once another program has taken it over.
    pub(crate) lost: bool,
}
