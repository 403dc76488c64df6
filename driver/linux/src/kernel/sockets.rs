//! Detection of network requests that were sent and not answered yet: the kernel reports when each TCP
//! connection last sent and last received data (`sock_diag(7)`; `struct tcp_info` of `linux/tcp.h`).

use std::{collections::HashSet, os::fd::AsFd, time::Duration};

use deskhand_ui::duration::milliseconds;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
    sockopt::socket_peercred,
};

/// `SOCK_DIAG_BY_FAMILY` of `linux/sock_diag.h`.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST | NLM_F_DUMP` of `linux/netlink.h`.
const REQUEST_DUMP: u16 = 0x301;
/// Types of messages of `linux/netlink.h`.
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// The attribute with `struct tcp_info` (`INET_DIAG_INFO` of `linux/inet_diag.h`).
const INFO: u16 = 2;
/// States of a socket, as bits: established, and about to be.
const STATES: u32 = 1 << 1 | 1 << 2;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// The lengths of `struct nlmsghdr` and `struct inet_diag_msg`; the attributes follow.
const HEAD: usize = 16;
const SOCKET: usize = 72;

/// One connection in the answer of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TcpConnectionInfo {
    inode: u64,
    /// Traffic in both directions; `None` if the protocol does not count it.
    traffic: Option<Traffic>,
}

/// Data that a TCP connection sent and received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Traffic {
    /// Time since it last sent data, in milliseconds.
    sent_ms: u32,
    /// The same of data that it received; since it exists, if it has received nothing.
    received_ms: u32,
    has_received: bool,
}

impl TcpConnectionInfo {
    /// Returns `true` if it sent something within this time and has received nothing after it.
    fn awaits_answer(&self, since_ms: u64) -> bool {
        self.traffic.is_none_or(|one| {
            u64::from(one.sent_ms) <= since_ms && (one.received_ms > one.sent_ms || !one.has_received)
        })
    }
}

/// The process at the other end of a local socket: the one that listens, for a client.
pub(crate) fn peer_process(socket: impl AsFd) -> Option<u32> {
    u32::try_from(socket_peercred(socket).ok()?.pid.as_raw_nonzero().get()).ok()
}

/// Returns `true` if one of these sockets sent something over a network within the last `since` and awaits an
/// answer, as far as can be determined: a connection that does not count what it sends does. `None` if the
/// kernel does not answer.
pub(super) fn await_answer(inodes: &HashSet<u64>, since: Duration) -> Option<bool> {
    if inodes.is_empty() {
        return Some(false);
    }
    let since_ms = milliseconds(since);
    for family in [AddressFamily::INET, AddressFamily::INET6] {
        for protocol in [TCP, UDP] {
            let mut open =
                connections(family, protocol)?.into_iter().filter(|one| inodes.contains(&one.inode));
            if open.any(|one| one.awaits_answer(since_ms)) {
                return Some(true);
            }
        }
    }
    Some(false)
}

/// The connections of this machine.
fn connections(family: AddressFamily, protocol: u8) -> Option<Vec<TcpConnectionInfo>> {
    let kernel = socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(netlink::SOCK_DIAG),
    )
    .ok()?;
    send(&kernel, &request(family, protocol), SendFlags::empty()).ok()?;
    let mut found = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let (_, length) = recv(&kernel, &mut buffer[..], RecvFlags::empty()).ok()?;
        let mut messages = buffer.get(..length)?;
        if messages.is_empty() {
            return None;
        }
        while messages.len() >= HEAD {
            let length = usize::try_from(u32_at(messages, 0)?).ok()?;
            let message = messages.get(..length).filter(|_| length >= HEAD)?;
            match u16_at(message, 4)? {
                DONE => return Some(found),
                ERROR => return None,
                _ => found.extend(connection(message)),
            }
            messages = messages.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
    }
}

/// `struct nlmsghdr` with `struct inet_diag_req_v2`.
fn request(family: AddressFamily, protocol: u8) -> Vec<u8> {
    const LENGTH: u32 = 72;
    let mut bytes = Vec::with_capacity(72);
    bytes.extend(LENGTH.to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST_DUMP.to_ne_bytes());
    bytes.extend([0; 8]);
    let family = u8::try_from(family.as_raw()).unwrap_or_default();
    bytes.extend([family, protocol, 1 << (INFO - 1), 0]);
    bytes.extend(STATES.to_ne_bytes());
    bytes.resize(72, 0);
    bytes
}

/// A message with `struct inet_diag_msg` and its attributes.
fn connection(message: &[u8]) -> Option<TcpConnectionInfo> {
    let inode = u64::from(u32_at(message, HEAD + SOCKET - 4)?);
    let mut attributes = message.get(HEAD + SOCKET..)?;
    let mut traffic = None;
    while let (Some(length), Some(kind)) = (u16_at(attributes, 0), u16_at(attributes, 2)) {
        let length = usize::from(length);
        if kind == INFO {
            traffic = traffic_of(attributes.get(4..length).unwrap_or_default());
        }
        attributes = attributes.get(length.max(4).next_multiple_of(4)..).unwrap_or_default();
    }
    Some(TcpConnectionInfo { inode, traffic })
}

/// `tcpi_last_data_sent`, `tcpi_last_data_recv` and `tcpi_bytes_received` of `struct tcp_info`.
fn traffic_of(info: &[u8]) -> Option<Traffic> {
    let has_received = info.get(128..136)?.iter().any(|byte| *byte != 0);
    Some(Traffic { sent_ms: u32_at(info, 44)?, received_ms: u32_at(info, 52)?, has_received })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
