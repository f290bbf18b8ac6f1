//! The compiler of `ad`.
