//! Prints terms in the papers' notation. Numbers of shared terms are per print, so equal programs print alike.
