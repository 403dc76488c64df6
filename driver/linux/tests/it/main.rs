//! Tests of whole desktops.
#![cfg(test)]
#![cfg(target_os = "linux")]

mod act_libreoffice;
mod addresses;
mod applications;
mod calc_format;
mod cell_ranges;
mod confined;
mod content;
mod context_menus;
mod contract;
mod detection;
mod detection_model;
mod detection_parser;
mod dragging;
mod drawn_content;
mod effects;
mod evidence;
mod fixtures;
mod linux_atspi;
mod linux_calc;
mod linux_contract;
mod linux_mirror;
mod linux_x11;
mod live;
mod live_desktops;
mod live_input;
mod native;
mod navigating;
mod notices;
mod office;
mod office_listing;
mod opening;
mod picks;
mod portals;
mod programs;
mod reaching;
mod scaled;
mod secrets;
mod several;
mod teeth;
mod typing;
mod virtual_lists;
mod wayland;
mod writing;
mod x11_client;
