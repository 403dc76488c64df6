//! The clipboard, by `wlr-data-control`: reading asks its current owner, writing makes a thread of this process the owner.

use std::{
    fs::File,
    io::{self, PipeReader, Read as _, Write as _},
    os::fd::AsFd as _,
    time::{Duration, Instant},
};

use deskhand_desktop::{DesktopError, DesktopResult};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::watch;
use wayland_client::{
    Connection, Dispatch, Proxy as _, QueueHandle, delegate_noop, event_created_child,
    protocol::wl_seat::WlSeat,
};
use wayland_protocols_wlr::data_control::v1::client::{
    zwlr_data_control_device_v1::{self, ZwlrDataControlDeviceV1},
    zwlr_data_control_manager_v1::ZwlrDataControlManagerV1,
    zwlr_data_control_offer_v1::{self, ZwlrDataControlOfferV1},
    zwlr_data_control_source_v1::{self, ZwlrDataControlSourceV1},
};

use crate::{address::CompositorAddress, client::WaylandClient, state::WaylandState};

/// Maximum time for the owner of the clipboard to send its content.
const OWNER_BOUND: Duration = Duration::from_secs(3);
/// The longest text that is read, in bytes.
const LENGTH_MAX: usize = 16 << 20;
/// Maximum time of one wait of the owner for a request.
const SERVE_BOUND: Duration = Duration::from_secs(3_600);
/// The formats of text, best first.
const TEXTS: [&str; 5] = ["text/plain;charset=utf-8", "UTF8_STRING", "text/plain", "TEXT", "STRING"];
const READ: &str = "read the clipboard";
const WRITE: &str = "write the clipboard";

impl Dispatch<ZwlrDataControlDeviceV1, ()> for WaylandState {
    fn event(
        state: &mut Self,
        _: &ZwlrDataControlDeviceV1,
        event: zwlr_data_control_device_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let zwlr_data_control_device_v1::Event::Selection { id } = event {
            state.selection.current = id;
        }
    }

    event_created_child!(WaylandState, ZwlrDataControlDeviceV1, [
        zwlr_data_control_device_v1::EVT_DATA_OFFER_OPCODE => (ZwlrDataControlOfferV1, ()),
    ]);
}

impl Dispatch<ZwlrDataControlOfferV1, ()> for WaylandState {
    fn event(
        state: &mut Self,
        offer: &ZwlrDataControlOfferV1,
        event: zwlr_data_control_offer_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let zwlr_data_control_offer_v1::Event::Offer { mime_type } = event {
            state.selection.offers.entry(offer.id()).or_default().push(mime_type);
        }
    }
}

impl Dispatch<ZwlrDataControlSourceV1, ()> for WaylandState {
    fn event(
        state: &mut Self,
        _: &ZwlrDataControlSourceV1,
        event: zwlr_data_control_source_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let zwlr_data_control_source_v1::Event::Send { fd, .. } = event {
            state.selection.asked.push(fd);
        } else if let zwlr_data_control_source_v1::Event::Cancelled = event {
            state.selection.lost = true;
        }
    }
}

delegate_noop!(WaylandState: ZwlrDataControlManagerV1);

/// A connection of its own, with the clipboard as it is.
fn open(
    address: &CompositorAddress,
    operation: &str,
) -> DesktopResult<(WaylandClient, ZwlrDataControlManagerV1, ZwlrDataControlDeviceV1)> {
    let mut client = WaylandClient::open(address)?;
    let manager: ZwlrDataControlManagerV1 = client.bind(operation, 1..=2)?;
    let seat: WlSeat = client.bind(operation, 1..=5)?;
    let device = manager.get_data_device(&seat, &client.queue.handle(), ());
    client.round_trip()?;
    Ok((client, manager, device))
}

/// The text of the clipboard; `None` if it is empty or holds something else. Blocking.
pub(crate) fn text(address: &CompositorAddress) -> DesktopResult<Option<String>> {
    let failed = |error: io::Error| DesktopError::failed(READ, error);
    let (client, _manager, _device) = open(address, READ)?;
    let Some(offer) = client.state.selection.current.clone() else { return Ok(None) };
    let formats = client.state.selection.offers.get(&offer.id()).cloned().unwrap_or_default();
    let Some(format) = TEXTS.iter().find(|text| formats.iter().any(|format| format == **text)) else {
        return Ok(None);
    };
    let (reader, writer) = io::pipe().map_err(failed)?;
    offer.receive((*format).to_owned(), writer.as_fd());
    client.queue.flush().map_err(|_| client.gone())?;
    drop(writer);
    let bytes = read_all(reader).map_err(failed)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

fn read_all(mut reader: PipeReader) -> io::Result<Vec<u8>> {
    let until = Instant::now() + OWNER_BOUND;
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).ok();
        let ready = poll(&mut [PollFd::new(&reader, PollFlags::IN)], timeout.as_ref())?;
        if ready == 0 {
            return Err(io::Error::other("the application that owns it does not answer"));
        }
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            return Ok(bytes);
        }
        bytes.extend(buffer.get(..count).unwrap_or_default());
        if bytes.len() > LENGTH_MAX {
            return Err(io::Error::other("its text is too long"));
        }
    }
}

/// Takes the clipboard over, with a text in one format or in all those of text, or empties it. A thread serves it until another program
/// takes it over. Returns how often it was fetched. Blocking.
pub(crate) fn own(
    address: &CompositorAddress,
    text: Option<&str>,
    format: Option<&str>,
) -> DesktopResult<Option<watch::Receiver<u32>>> {
    let (mut client, manager, device) = open(address, WRITE)?;
    let Some(text) = text else {
        device.set_selection(None);
        client.round_trip()?;
        return Ok(None);
    };
    let source = manager.create_data_source(&client.queue.handle(), ());
    match format {
        Some(format) => source.offer(format.to_owned()),
        None => TEXTS.iter().for_each(|format| source.offer((*format).to_owned())),
    }
    device.set_selection(Some(&source));
    client.round_trip()?;
    if client.state.selection.lost {
        return Err(DesktopError::failed(WRITE, "another program took it over"));
    }
    let (sender, taken) = watch::channel(0);
    let text = text.to_owned();
    std::thread::Builder::new()
        .name("wayland-clipboard".to_owned())
        .spawn(move || serve(&mut client, &text, &sender))
        .map_err(|error| DesktopError::failed("start a thread for the clipboard", error))?;
    Ok(Some(taken))
}

fn serve(client: &mut WaylandClient, text: &str, taken: &watch::Sender<u32>) {
    while !client.state.selection.lost {
        let comes =
            client.wait(SERVE_BOUND, |state| state.selection.lost || !state.selection.asked.is_empty());
        if let Err(error) = comes {
            return tracing::debug!(error = error.chain(), "stopped serving the clipboard");
        }
        for asked in std::mem::take(&mut client.state.selection.asked) {
            match File::from(asked).write_all(text.as_bytes()) {
                Ok(()) => taken.send_modify(|count| *count += 1),
                Err(error) => tracing::debug!(%error, "the clipboard was not fetched"),
            }
        }
    }
}
