//! Follows a server's reply by packet headers alone.

/// The shape of the reply that a command has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// `COM_QUERY`: results, each an OK, an ERR, a request for a local file, or columns and rows.
    Query,
    /// `COM_STMT_EXECUTE`: as a query, with binary rows, and without rows where a cursor was opened.
    Execute,
    /// `COM_STMT_PREPARE`: a statement id, then definitions of parameters and columns.
    Prepare,
    /// `COM_STMT_FETCH`: rows without columns before them.
    Fetch,
    /// `COM_FIELD_LIST`: column definitions without a count.
    FieldList,
    /// One OK, ERR or EOF.
    Simple,
    /// `COM_STATISTICS`: one packet of text.
    Statistics,
    /// `COM_BINLOG_DUMP`: events until an EOF or ERR, or without end.
    Binlog,
    /// No reply.
    None,
}
#[cfg(test)]
mod tests;
