//! Deskhand: model.
