//! The accessibility bus: elements, tables, actions and events of applications.
//!
//! - [`Accessibility`] is the connection; what it remembers between calls is in `shared`. Its operations are in
//!   `mirror`, `details` (with `header`), `cells`, `view`, `act` and `find`; `pop_ups` lists pop-ups where the display does not.
//! - `bus` makes bounded calls, `wire` decodes their replies, `component` reads positions, `shift` and `placing` make
//!   them those of the screen, `quirks` tells the differences between toolkits,
//!   `recycled` that of lists whose rows keep the place where they were.
//! - `ids` assigns the ids that agents use. `applications` finds the `application` of a process and the frame of an X
//!   window. `events` receives what applications announce and parses each to an `event`.
//!
//! Every call has a timeout, and only the application in question is called, so that one that hangs never blocks
//! another. Proxies are not used: each object has its own bus name and path, and a property cache would crash some Qt
//! applications.

mod accessibility;
mod act;
mod application;
mod applications;
mod bus;
mod cells;
mod component;
mod details;
mod event;
mod events;
mod find;
mod header;
mod ids;
mod mirror;
mod placing;
mod pop_ups;
mod quirks;
mod recycled;
mod shared;
mod shift;
mod text;
mod told;
mod view;
mod wire;

pub(crate) use accessibility::Accessibility;
pub(crate) use application::{Application, AtspiFrameCriteria, CoordinateOrigin};
pub(crate) use event::Announcement;
pub use mirror::MirrorDiff;
pub(crate) use mirror::{WalkSource, lasting};
pub(crate) use pop_ups::PopUp;
pub(crate) use quirks::is_noise;
pub(crate) use view::WindowScreenshot;
pub(crate) use wire::ObjectRef;
