//! What a statement may leave behind in its session, and what it reads of what others left there: judged from its units
//! alone, by a list of forms that are known to be harmless. Everything else keeps its connection.
//!
//! A connection may be shared between sessions only while both this list and the server's own tracking agree. The list is
//! the authority, because the servers are silent on a dozen forms (MariaDB 10.11 and MySQL 9.7, tried):
//! `SELECT … INTO @a`, `GET_LOCK`, `HANDLER … OPEN`, `CREATE TEMPORARY TABLE … SELECT`, and more.

mod functions;
mod set;

use bitflags::bitflags;

use crate::digest::{Marks, Scan, Unit, UnitKind};
use crate::facts::{Purity, purity};
use crate::keyword::Keyword as K;
use crate::tree::TOUCHING;
use crate::verb::Verb;

pub use set::REPLAYED;

bitflags! {
    /// State that every statement sets anew or may set, and that a few statements read.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Soft: u8 {
        /// `LAST_INSERT_ID()`.
        const INSERT_ID = 1;
        /// The list of warnings and errors.
        const DIAGNOSTICS = 1 << 1;
        /// `ROW_COUNT()` and `FOUND_ROWS()`.
        const COUNTS = 1 << 2;
    }
}

bitflags! {
    /// State that the proxy can bring to another connection.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Changes: u8 {
        /// Variables of [`REPLAYED`], character sets among them.
        const VARIABLES = 1;
        /// The default schema.
        const SCHEMA = 1 << 1;
    }
}

/// Why a session must keep its connection from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pin {
    /// Its form is not on the list.
    NotUnderstood,
    /// Several statements in one text.
    SeveralStatements,
    /// `@a`, read or set.
    UserVariable,
    /// A variable whose value is not replayed.
    Variable,
    /// A temporary table.
    TemporaryTable,
    /// A function that is not a built-in.
    UnknownFunction,
    /// `GET_LOCK` and its like.
    UserLock,
    /// `NEXTVAL` and its like: `LASTVAL` would tell.
    Sequence,
    /// The server's own number of the connection.
    ConnectionId,
    /// LOCK TABLES, FLUSH TABLES … WITH READ LOCK.
    TableLock,
    /// HANDLER.
    Handler,
    /// PREPARE, EXECUTE, DEALLOCATE as text.
    TextPrepare,
    /// CALL.
    Call,
    /// XA.
    Xa,
    /// SET TRANSACTION, for the next transaction only.
    NextTransaction,
    /// SET ROLE, PASSWORD and the like.
    Account,
    /// The server reported a change that the statement's form does not explain.
    Reported,
    /// COM_SET_OPTION.
    Option,
    /// It was reset, and what the server's `init_connect` had set was not set again.
    Reset,
}

impl Pin {
    /// What is read where the text does not say so: bodies of routines ask for the last id.
    const fn reads(self) -> Soft {
        match self {
            Self::NotUnderstood | Self::UnknownFunction | Self::Call | Self::TextPrepare => Soft::INSERT_ID,
            _ => Soft::empty(),
        }
    }

    /// The reason in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::NotUnderstood => "a statement that is not known to be harmless",
            Self::SeveralStatements => "several statements in one text",
            Self::UserVariable => "a user variable",
            Self::Variable => "a variable that is not replayed",
            Self::TemporaryTable => "a temporary table",
            Self::UnknownFunction => "a function that is not a built-in",
            Self::UserLock => "a user lock",
            Self::Sequence => "a sequence",
            Self::ConnectionId => "the connection's number was read",
            Self::TableLock => "a table lock",
            Self::Handler => "HANDLER",
            Self::TextPrepare => "PREPARE as text",
            Self::Call => "CALL",
            Self::Xa => "XA",
            Self::NextTransaction => "SET TRANSACTION",
            Self::Account => "a role or password",
            Self::Option => "COM_SET_OPTION",
            Self::Reset => "a reset that is unlike a new login",
            Self::Reported => "a change that the server reported",
        }
    }
}

/// What a statement does to its session and wants of it. All of it holds for every text of the statement's digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traces {
    /// The session keeps its connection from here on.
    pub pin: Option<Pin>,
    /// Read by the statement.
    pub reads: Soft,
    /// Set by it in a way that its answer does not tell.
    pub sets: Soft,
    /// It may set the id of the last insert or leave it, which its answer does not tell: an id that it gives itself is reported
    /// like one that was generated.
    pub inserts: bool,
    /// Changed by it.
    pub changes: Changes,
    /// What becomes of the list of warnings, where it adds none.
    pub list: List,
    /// It ends a transaction, whether or not `autocommit` is on.
    pub ends: bool,
}

/// What becomes of a session's list of warnings and errors. MySQL begins a new one for every statement that does not ask for
/// it; MariaDB where a table is used, and keeps the old one otherwise (10.11, tried).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum List {
    /// A new one begins.
    New,
    /// MariaDB keeps the old one.
    Kept,
    /// The statement asks for it: both keep it.
    Asked,
    /// A command that is no statement: neither looks at it.
    Quiet,
    /// Not known of MariaDB.
    #[default]
    Unsure,
}

impl Traces {
    /// Of a statement that nothing is known of.
    #[must_use]
    pub const fn unknown() -> Self {
        Self::pinned(Pin::NotUnderstood, Soft::all())
    }

    const fn pinned(pin: Pin, reads: Soft) -> Self {
        let (sets, changes) = (reads, Changes::empty());
        let inserts = reads.contains(Soft::INSERT_ID);
        Self { pin: Some(pin), reads, sets, inserts, changes, list: List::Unsure, ends: false }
    }

    /// Judges a scanned text.
    #[must_use]
    pub fn of(scan: &Scan<'_>, text: &[u8]) -> Self {
        let walk = Walk { units: scan.units, text, marks: scan.marks, verb: scan.verb };
        match walk.judge() {
            Ok(traces) => traces,
            Err(pin) => Self::pinned(pin, walk.mentions() | pin.reads()),
        }
    }
}

/// Marks under which nothing is known.
const DARK: Marks = Marks::OPAQUE.union(Marks::COMPOUND);

#[derive(Clone, Copy)]
struct Walk<'a> {
    units: &'a [Unit],
    text: &'a [u8],
    marks: Marks,
    verb: Verb,
}

impl<'a> Walk<'a> {
    fn judge(&self) -> Result<Traces, Pin> {
        if self.marks.intersects(DARK) {
            return Err(Pin::NotUnderstood);
        }
        if self.marks.contains(Marks::MULTI) {
            return Err(Pin::SeveralStatements);
        }
        let mut traces = Traces::default();
        match self.verb {
            // KILL takes an expression.
            Verb::Select | Verb::Values | Verb::Table | Verb::Explain | Verb::Do | Verb::Kill => {
                if self.marks.contains(Marks::INTO) && self.verb != Verb::Explain {
                    return Err(Pin::UserVariable);
                }
                self.expressions(&mut traces)?;
            }
            Verb::Insert | Verb::Replace | Verb::Update | Verb::Delete | Verb::Load | Verb::Show => {
                if self.verb == Verb::Show && self.words().take(6).any(is(&["WARNINGS", "ERRORS"])) {
                    traces.reads |= Soft::DIAGNOSTICS;
                }
                self.expressions(&mut traces)?;
            }
            Verb::Set => set::judge(self, &mut traces)?,
            Verb::Use => traces.changes |= Changes::SCHEMA,
            Verb::Ddl => self.ddl(&mut traces)?,
            Verb::Maintenance => match self.first() {
                Some(K::Analyze | K::Check | K::Checksum | K::Optimize | K::Repair) => {}
                _ => return Err(Pin::TableLock),
            },
            Verb::Empty
            | Verb::Begin
            | Verb::Savepoint
            | Verb::RollbackTo
            | Verb::Release
            | Verb::Unlock
            | Verb::Shuntyard => {}
            // COMMIT RELEASE: the server closes the connection, which must not be anybody else's by then.
            Verb::Commit | Verb::Rollback if self.units.iter().any(|unit| unit.is(K::Release)) => {
                return Err(Pin::NotUnderstood);
            }
            Verb::Commit | Verb::Rollback => traces.ends = true,
            Verb::Account if self.units.iter().any(|unit| unit.is(K::Temporary)) => {
                return Err(Pin::TemporaryTable);
            }
            Verb::Account => {}
            Verb::Lock => return Err(Pin::TableLock),
            Verb::Handler => return Err(Pin::Handler),
            Verb::Prepare | Verb::Execute | Verb::Deallocate => return Err(Pin::TextPrepare),
            Verb::Call => return Err(Pin::Call),
            Verb::Xa => return Err(Pin::Xa),
            Verb::SetStatement | Verb::Other => return Err(Pin::NotUnderstood),
        }
        if self.marks.contains(Marks::CALC_FOUND_ROWS) {
            traces.sets |= Soft::COUNTS;
        }
        let inserts = |unit: &Unit| unit.is(K::Insert) || unit.is(K::Replace);
        match self.verb {
            Verb::Insert | Verb::Replace | Verb::Load => {
                traces.inserts = true;
                // What ends rows carries no id.
                if self.units.iter().any(|unit| unit.is(K::Returning)) {
                    traces.sets |= Soft::INSERT_ID;
                }
            }
            // ANALYZE INSERT inserts.
            Verb::Explain if self.units.iter().any(inserts) => traces.sets |= Soft::INSERT_ID,
            _ => {}
        }
        traces.inserts |= traces.sets.contains(Soft::INSERT_ID);
        traces.list = self.list();
        Ok(traces)
    }

    fn list(&self) -> List {
        let from_table = |pair: &[Unit]| match pair {
            [from, table] => from.is(K::From) && !table.is(K::Dual),
            _ => false,
        };
        match self.verb {
            Verb::Insert | Verb::Replace | Verb::Update | Verb::Delete | Verb::Load => List::New,
            Verb::Select if self.units.windows(2).any(from_table) => List::New,
            Verb::Select | Verb::Do | Verb::Set | Verb::Use | Verb::Begin | Verb::Commit | Verb::Rollback => {
                List::Kept
            }
            Verb::Show if self.words().take(6).any(is(&["WARNINGS", "ERRORS"])) => List::Asked,
            Verb::Show
                if self.words().nth(1).is_some_and(is(&["TABLES", "DATABASES", "VARIABLES", "STATUS"])) =>
            {
                List::New
            }
            _ => List::Unsure,
        }
    }

    /// What a statement that is not understood may read: what any word of it hints at, and where words cannot be told apart,
    /// any part of the text.
    fn mentions(&self) -> Soft {
        // The body of a routine is not run by what makes it; and what may follow has that statement's warnings and counts before
        // it, but for FOUND_ROWS().
        if self.marks.contains(Marks::COMPOUND) && self.first() == Some(K::Create) {
            let found = contains(self.text, b"found_rows");
            return if found { Soft::COUNTS } else { Soft::empty() };
        }
        if self.marks.intersects(DARK) {
            return hints(self.text);
        }
        let mut reads = Soft::empty();
        for unit in self.units {
            let bytes = self.bytes(unit);
            match unit.kind {
                UnitKind::SysVar => reads |= variable_hints(bytes),
                UnitKind::Word | UnitKind::Keyword(_) => {
                    if is(&["ROW_COUNT", "FOUND_ROWS"])(bytes) {
                        reads |= Soft::COUNTS;
                    } else if is(&["LAST_INSERT_ID", "INSERT", "REPLACE", "LOAD"])(bytes) {
                        reads |= Soft::INSERT_ID;
                    } else if is(&["WARNINGS", "ERRORS", "DIAGNOSTICS", "RESIGNAL"])(bytes) {
                        reads |= Soft::all();
                    }
                }
                _ => {}
            }
        }
        reads
    }

    fn first(&self) -> Option<K> {
        match self.units.first()?.kind {
            UnitKind::Keyword(keyword) => Some(keyword),
            _ => None,
        }
    }

    fn bytes(&self, unit: &Unit) -> &'a [u8] {
        unit.of(self.text)
    }

    /// The texts of words and keywords, in order.
    fn words(&self) -> impl Iterator<Item = &'a [u8]> {
        let text = self.text;
        self.units.iter().filter_map(move |unit| match unit.kind {
            UnitKind::Word | UnitKind::Keyword(_) => Some(unit.of(text)),
            _ => None,
        })
    }

    /// DDL leaves nothing behind but temporary tables, the loss of the default schema with its schema, and what its SELECT
    /// does.
    fn ddl(&self, traces: &mut Traces) -> Result<(), Pin> {
        if self.units.iter().any(|unit| unit.is(K::Temporary)) {
            return Err(Pin::TemporaryTable);
        }
        if self.units.iter().take(4).any(|unit| unit.is(K::Database) || unit.is(K::Schema)) {
            traces.changes |= Changes::SCHEMA;
        }
        // Values also stand in the bounds of partitions, where names of keys look like functions: the safe side.
        let evaluates = |unit: &Unit| unit.is(K::Select) || unit.is(K::Values);
        if self.units.iter().any(evaluates) { self.expressions(traces) } else { Ok(()) }
    }

    /// User variables, functions, and system variables, anywhere in the text.
    fn expressions(&self, traces: &mut Traces) -> Result<(), Pin> {
        if self.marks.intersects(Marks::USER_VAR | Marks::ASSIGN) {
            return Err(Pin::UserVariable);
        }
        self.functions(self.units, traces)
    }

    fn functions(&self, units: &[Unit], traces: &mut Traces) -> Result<(), Pin> {
        let target = self.insert_target();
        for (at, unit) in units.iter().enumerate() {
            match unit.kind {
                UnitKind::SysVar => read_variable(self.bytes(unit), traces)?,
                // The optimizer sets the variable, and sets it back, which is not the same for all of them.
                UnitKind::Hint if contains(self.bytes(unit), b"set_var") => return Err(Pin::Variable),
                UnitKind::Word | UnitKind::QuotedIdent | UnitKind::Keyword(_) => {
                    let sequence = !matches!(unit.kind, UnitKind::QuotedIdent)
                        && is(&["NEXTVAL", "CURRVAL", "LASTVAL", "SETVAL"])(self.bytes(unit));
                    let next_value = matches!(units.get(at + 1), Some(next) if next.is(K::Value))
                        && matches!(units.get(at + 2), Some(next) if next.is(K::For));
                    if sequence || next_value {
                        return Err(Pin::Sequence);
                    }
                    let called = units.get(at + 1).is_some_and(|next| next.is_punct(b'('));
                    let before = at.checked_sub(1).and_then(|before| units.get(before));
                    let first = units.get(at + 2);
                    if called && Some(unit.start) != target && !self.is_syntax(unit, before, first) {
                        let qualified = before.is_some_and(|before| before.is_punct(b'.'));
                        let empty = first.is_some_and(|first| first.is_punct(b')'));
                        let gap = units.get(at + 1).is_some_and(|next| next.start != unit.end);
                        if gap && is(TOUCHING)(self.bytes(unit)) {
                            return Err(Pin::UnknownFunction);
                        }
                        self.call(unit, qualified, empty, traces)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a name in front of a parenthesis cannot be a function's: `AS d (a, b)`, `CAST(x AS DATETIME(6))`,
    /// `TABLE t (a)`, `ANY (SELECT …)`, `MATCH (a) AGAINST (…)`, `MEMBER OF (…)`.
    fn is_syntax(&self, unit: &Unit, before: Option<&Unit>, first: Option<&Unit>) -> bool {
        let behind = before.is_some_and(|before| {
            before.is(K::As)
                || before.is(K::Table)
                || before.is(K::Member)
                || before.is_punct(b')') && unit.is(K::Against)
        });
        // An argument that is a query has parentheses of its own.
        behind
            || first.is_some_and(|first| first.is(K::Select) || first.is(K::With))
            || unit.kind == UnitKind::Word && is(&["JSON_TABLE"])(self.bytes(unit))
    }

    /// A name in front of a parenthesis.
    fn call(&self, unit: &Unit, qualified: bool, empty: bool, traces: &mut Traces) -> Result<(), Pin> {
        match unit.kind {
            UnitKind::Keyword(keyword) if keyword.reserved() && !qualified => return Ok(()),
            UnitKind::QuotedIdent => return Err(Pin::UnknownFunction),
            _ if qualified => return Err(Pin::UnknownFunction),
            _ => {}
        }
        let name = String::from_utf8_lossy(self.bytes(unit)).to_ascii_uppercase();
        match name.as_str() {
            "LAST_INSERT_ID" if empty => traces.reads |= Soft::INSERT_ID,
            "LAST_INSERT_ID" => traces.sets |= Soft::INSERT_ID,
            "ROW_COUNT" | "FOUND_ROWS" => traces.reads |= Soft::COUNTS,
            "CONNECTION_ID" | "PS_CURRENT_THREAD_ID" | "PS_THREAD_ID" => return Err(Pin::ConnectionId),
            "GET_LOCK" | "RELEASE_LOCK" | "RELEASE_ALL_LOCKS" | "IS_USED_LOCK" => return Err(Pin::UserLock),
            name => {
                if functions::may_be_stored(name) || purity(name, usize::from(!empty)) == Purity::Unknown {
                    return Err(Pin::UnknownFunction);
                }
            }
        }
        Ok(())
    }

    /// Where the table's name of an INSERT or REPLACE starts: a list of columns may follow it.
    fn insert_target(&self) -> Option<u32> {
        if !matches!(self.verb, Verb::Insert | Verb::Replace) {
            return None;
        }
        let mut rest = self
            .units
            .iter()
            .skip_while(|unit| !matches!(unit.kind, UnitKind::Keyword(K::Insert | K::Replace)));
        rest.next()?;
        let mut name = rest.find(|unit| !modifier(unit))?;
        let mut units = self.units.iter().skip_while(|unit| unit.start <= name.start);
        while units.next()?.is_punct(b'.') {
            name = units.next()?;
        }
        Some(name.start)
    }
}

/// A word between INSERT and the table's name.
fn modifier(unit: &Unit) -> bool {
    matches!(
        unit.kind,
        UnitKind::Keyword(K::LowPriority | K::Delayed | K::HighPriority | K::Ignore | K::Into)
    ) || unit.kind == UnitKind::Hint
}

/// `@@name` where an expression reads it.
fn read_variable(bytes: &[u8], traces: &mut Traces) -> Result<(), Pin> {
    let (_, name) = set::scoped(bytes);
    match name.to_ascii_lowercase().as_slice() {
        // The name is quoted, or stands behind a gap.
        name if name.contains(&b'`')
            || matches!(name, b"session" | b"local" | b"global" | b"persist" | b"persist_only") =>
        {
            return Err(Pin::Variable);
        }
        b"last_insert_id" | b"identity" => traces.reads |= Soft::INSERT_ID,
        b"warning_count" | b"error_count" => traces.reads |= Soft::DIAGNOSTICS,
        b"pseudo_thread_id" => return Err(Pin::ConnectionId),
        b"insert_id" | b"rand_seed1" | b"rand_seed2" | b"last_gtid" => return Err(Pin::Variable),
        _ => {}
    }
    Ok(())
}

/// What a text may ask for, by the words that are anywhere in it: too much rather than too little.
fn hints(text: &[u8]) -> Soft {
    const HINTS: [(&[u8], Soft); 12] = [
        (b"row_count", Soft::COUNTS),
        (b"found_rows", Soft::COUNTS),
        (b"last_insert_id", Soft::INSERT_ID),
        (b"identity", Soft::INSERT_ID),
        (b"insert", Soft::INSERT_ID),
        (b"replace", Soft::INSERT_ID),
        (b"load", Soft::INSERT_ID),
        (b"warning", Soft::all()),
        (b"errors", Soft::all()),
        (b"error_count", Soft::all()),
        (b"diagnostics", Soft::all()),
        (b"resignal", Soft::all()),
    ];
    let found = HINTS.iter().filter(|(word, _)| contains(text, word));
    found.fold(Soft::empty(), |reads, (_, kind)| reads | *kind)
}

/// What a variable may ask for, by its last name, quoted or not: `@@max_error_count` asks for nothing.
fn variable_hints(variable: &[u8]) -> Soft {
    let last = variable.rsplit(|byte| matches!(byte, b'@' | b'.')).next().unwrap_or_default();
    let name: Vec<u8> = last.iter().copied().filter(|byte| !matches!(byte, b'`' | b' ')).collect();
    match name.to_ascii_lowercase().as_slice() {
        b"warning_count" | b"error_count" => Soft::all(),
        b"last_insert_id" | b"identity" => Soft::INSERT_ID,
        _ => Soft::empty(),
    }
}

/// Whether a text holds a word anywhere, in any case.
#[must_use]
pub fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}

/// Whether a word is one of these, in any case.
fn is<'w>(words: &'w [&'w str]) -> impl Fn(&[u8]) -> bool + 'w {
    move |word| words.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests;
