//! Tests of whole desktops.
#![cfg(test)]

#[cfg(target_os = "linux")]
mod act_libreoffice;
#[cfg(target_os = "linux")]
mod applications;
mod contract;
#[cfg(target_os = "linux")]
mod detection;
#[cfg(target_os = "linux")]
mod detection_parser;
mod dragging;
#[cfg(target_os = "linux")]
mod effects;
#[cfg(target_os = "linux")]
mod fixtures;
#[cfg(target_os = "linux")]
mod linux_atspi;
#[cfg(target_os = "linux")]
mod linux_calc;
#[cfg(target_os = "linux")]
mod linux_contract;
#[cfg(target_os = "linux")]
mod linux_mirror;
#[cfg(target_os = "linux")]
mod linux_x11;
#[cfg(target_os = "linux")]
mod office;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod typing;
#[cfg(target_os = "linux")]
mod x11_client;
