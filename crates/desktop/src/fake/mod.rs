//! A desktop in memory.
