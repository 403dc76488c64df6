//! Tests of whole desktops.
#![cfg(test)]

#[cfg(target_os = "linux")]
mod linux_x11;
