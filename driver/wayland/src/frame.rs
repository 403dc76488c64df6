//! A picture that is being taken, as far as the compositor has told of it.

use wayland_client::protocol::wl_shm::Format;

/// The number of a picture that is being taken, unique on its connection.
pub(crate) type FrameKey = u32;

/// Memory layout that the compositor requires for a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CaptureBufferLayout {
    pub(crate) format: Format,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) stride: u32,
}

/// A picture that is being taken.
#[derive(Debug, Default, Clone)]
pub(crate) struct ScreencopyFrame {
    pub(crate) layout: Option<CaptureBufferLayout>,
    /// `true` if its rows run from bottom to top.
    pub(crate) inverted: bool,
    /// Areas drawn since the last picture of this monitor, in pixels.
    pub(crate) damage: Vec<[u32; 4]>,
    /// Outcome of the capture: `true` if the picture was taken; `None` until then.
    pub(crate) taken: Option<bool>,
}
