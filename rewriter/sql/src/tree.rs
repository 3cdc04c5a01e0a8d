//! The only file that names `sqlparser`: a text becomes a tree with MySQL's own precedence, beside its units.

/// The tree's types. Spans in them are not lines and columns but units: see [`Statement::unit_range_of`].
pub mod ast {
    pub use sqlparser::ast::*;
}
