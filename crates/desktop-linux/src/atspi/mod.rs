//! The accessibility bus: elements, tables, actions and events of applications.
//!
//! - [`Accessibility`] is the connection and owns what is remembered between calls; its operations lie in
//!   `mirror`, `details`, `cells`, `view`, `act` and `find`.
//! - `bus` makes bounded calls; `wire` reads what comes back; `quirks` knows how toolkits differ.
//! - `ids` gives objects the ids that agents use, `applications` finds the application of a process and
//!   the frame of an X window, `events` passes on what applications announce, each an `event`.
//!
//! Every call has a bound, and no call is made to an application that is not asked about, so that one that
//! hangs never blocks another. Proxies are not used: each object has its own bus name and path, and a
//! property cache would crash some Qt applications.

mod accessibility;
mod act;
mod applications;
mod bus;
mod cells;
mod details;
mod event;
mod events;
mod find;
mod ids;
mod mirror;
mod quirks;
mod view;
mod wire;

pub(crate) use accessibility::Accessibility;
pub(crate) use applications::{Application, WindowFacts};
pub(crate) use events::Announcement;
pub use mirror::Difference;
pub(crate) use mirror::{Source, lasting};
pub(crate) use quirks::is_noise;
