//! Servers: connecting, pooling, bundled servers, catalogs and accounts.
