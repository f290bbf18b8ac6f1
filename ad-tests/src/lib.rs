//! This library is empty: the package exists for its tests.
