//! What kind of statement a text is, judged by its first words.

/// The kind of a statement. A text with several statements has the verb of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    /// Nothing but space, comments and `;`.
    Empty,
    /// SELECT, also in parentheses, behind WITH or as the head of a UNION.
    Select,
    /// `VALUES ROW(1), ROW(2)` or MariaDB's `VALUES (1), (2)`.
    Values,
    /// `TABLE t` (MySQL 8).
    Table,
    /// INSERT.
    Insert,
    /// REPLACE.
    Replace,
    /// UPDATE, also behind WITH.
    Update,
    /// DELETE, also behind WITH.
    Delete,
    /// SET of variables, names, charset, transaction, role, password.
    Set,
    /// MariaDB's `SET STATEMENT … FOR …`.
    SetStatement,
    /// USE.
    Use,
    /// SHOW.
    Show,
    /// EXPLAIN, DESCRIBE, DESC, and ANALYZE of a statement (MariaDB).
    Explain,
    /// BEGIN [WORK] or START TRANSACTION.
    Begin,
    /// COMMIT.
    Commit,
    /// ROLLBACK without TO.
    Rollback,
    /// SAVEPOINT.
    Savepoint,
    /// ROLLBACK … TO.
    RollbackTo,
    /// RELEASE SAVEPOINT.
    Release,
    /// CALL.
    Call,
    /// DO.
    Do,
    /// KILL.
    Kill,
    /// PREPARE.
    Prepare,
    /// EXECUTE.
    Execute,
    /// DEALLOCATE PREPARE and DROP PREPARE.
    Deallocate,
    /// HANDLER.
    Handler,
    /// LOCK TABLES and the like.
    Lock,
    /// UNLOCK.
    Unlock,
    /// LOAD DATA, LOAD XML.
    Load,
    /// XA.
    Xa,
    /// CREATE, ALTER, DROP, TRUNCATE, RENAME of anything but accounts.
    Ddl,
    /// GRANT, REVOKE and the DDL of users and roles.
    Account,
    /// ANALYZE, CHECK, CHECKSUM, OPTIMIZE, REPAIR of tables; FLUSH, RESET, PURGE, CHANGE, START/STOP of replication.
    Maintenance,
    /// `SHUNTYARD …`: the proxy's own.
    Shuntyard,
    /// Everything else.
    Other,
}

impl Verb {
    /// Whether the statement's purpose is to return rows it reads (it may still lock or write by a function).
    pub fn is_query(self) -> bool {
        matches!(self, Verb::Select | Verb::Values | Verb::Table)
    }

    /// Whether the statement's purpose is to change rows.
    pub fn is_write(self) -> bool {
        matches!(self, Verb::Insert | Verb::Replace | Verb::Update | Verb::Delete | Verb::Load)
    }
}
