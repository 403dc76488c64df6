//! Every action on the desktop in memory, with all its faults.

mod click;
mod truth;
mod typing;
