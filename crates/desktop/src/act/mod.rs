//! Verified actions, written against the capability traits alone.
