//! The module that `file_module.rs` names.
