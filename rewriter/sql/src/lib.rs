//! MySQL text: lexer, digest, tree, facts, catalog types, edits, source positions.
