//! Rules: loading, matching, guards, splicing, explaining.
