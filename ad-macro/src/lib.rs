//! The attribute macro of `ad`.
