//! Linux: X11, AT-SPI, and private virtual desktops.
