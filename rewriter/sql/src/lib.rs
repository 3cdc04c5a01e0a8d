//! MySQL text: lexer, digest, tree, facts, catalog types, edits, source positions.

pub mod catalog;
pub mod digest;
pub mod edit;
pub mod facts;
pub mod flavor;
pub mod keyword;
pub mod lexer;
pub mod source;
pub mod traces;
pub mod tree;
pub mod verb;
pub mod yaml;

pub use digest::{Digest, Marks, Scan, Scanner, Slot, Unit, UnitKind};
pub use edit::{Piece, Precondition, Shape, Template};
pub use facts::{Facts, Truth};
pub use flavor::{CharsetClass, Flavor, Product, SqlMode, Version};
pub use keyword::Keyword;
pub use lexer::{Lexer, Op, Token, TokenKind};
pub use traces::Traces;
pub use verb::Verb;
