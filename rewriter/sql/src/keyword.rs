//! Words that mean something to the lexer's users, found without allocation and without regard to case.

macro_rules! keywords {
    (folded { $($folded:ident = $ftext:literal,)* } context { $($context:ident = $ctext:literal,)* }) => {
        /// A word of MySQL's grammar that the digest, the plan or a rewrite pass asks about.
        ///
        /// A token is a keyword by its spelling and position alone (never beside a dot, never quoted); whether a
        /// word that is not reserved stands for an identifier is the tree's business.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        #[expect(missing_docs, reason = "each variant is the word it names")]
        pub enum Keyword { $($folded,)* $($context,)* }

        const TEXTS: &[&str] = &[$($ftext,)* $($ctext,)*];
        const ALL: &[Keyword] = &[$(Keyword::$folded,)* $(Keyword::$context,)*];
        /// Reserved on MariaDB 10.11 and on MySQL 9.7: these can only be names where they are quoted or follow a
        /// dot, so the digest may fold their case.
        const FOLDED: usize = [$($ftext,)*].len();
    };
}

keywords! {
    folded {
        Add = "ADD",
        All = "ALL",
        Alter = "ALTER",
        Analyze = "ANALYZE",
        And = "AND",
        As = "AS",
        Asc = "ASC",
        Before = "BEFORE",
        Between = "BETWEEN",
        Bigint = "BIGINT",
        Binary = "BINARY",
        Blob = "BLOB",
        Both = "BOTH",
        By = "BY",
        Call = "CALL",
        Cascade = "CASCADE",
        Case = "CASE",
        Change = "CHANGE",
        Char = "CHAR",
        Character = "CHARACTER",
        Check = "CHECK",
        Collate = "COLLATE",
        Column = "COLUMN",
        Constraint = "CONSTRAINT",
        Convert = "CONVERT",
        Create = "CREATE",
        Cross = "CROSS",
        CurrentDate = "CURRENT_DATE",
        CurrentTime = "CURRENT_TIME",
        CurrentTimestamp = "CURRENT_TIMESTAMP",
        CurrentUser = "CURRENT_USER",
        Cursor = "CURSOR",
        Databases = "DATABASES",
        DayHour = "DAY_HOUR",
        DayMicrosecond = "DAY_MICROSECOND",
        DayMinute = "DAY_MINUTE",
        DaySecond = "DAY_SECOND",
        Dec = "DEC",
        Decimal = "DECIMAL",
        Declare = "DECLARE",
        Default = "DEFAULT",
        Delayed = "DELAYED",
        Delete = "DELETE",
        Desc = "DESC",
        Describe = "DESCRIBE",
        Distinct = "DISTINCT",
        Distinctrow = "DISTINCTROW",
        Div = "DIV",
        Double = "DOUBLE",
        Drop = "DROP",
        Dual = "DUAL",
        Else = "ELSE",
        Except = "EXCEPT",
        Exists = "EXISTS",
        Explain = "EXPLAIN",
        False = "FALSE",
        Fetch = "FETCH",
        Float = "FLOAT",
        For = "FOR",
        Force = "FORCE",
        Foreign = "FOREIGN",
        From = "FROM",
        Fulltext = "FULLTEXT",
        Grant = "GRANT",
        Group = "GROUP",
        Having = "HAVING",
        HighPriority = "HIGH_PRIORITY",
        HourMicrosecond = "HOUR_MICROSECOND",
        HourMinute = "HOUR_MINUTE",
        HourSecond = "HOUR_SECOND",
        If = "IF",
        Ignore = "IGNORE",
        In = "IN",
        Index = "INDEX",
        Infile = "INFILE",
        Inner = "INNER",
        Insert = "INSERT",
        Int = "INT",
        Integer = "INTEGER",
        Intersect = "INTERSECT",
        Interval = "INTERVAL",
        Into = "INTO",
        Is = "IS",
        Join = "JOIN",
        Key = "KEY",
        Keys = "KEYS",
        Kill = "KILL",
        Leading = "LEADING",
        Left = "LEFT",
        Like = "LIKE",
        Limit = "LIMIT",
        Lines = "LINES",
        Load = "LOAD",
        Localtime = "LOCALTIME",
        Localtimestamp = "LOCALTIMESTAMP",
        Lock = "LOCK",
        Long = "LONG",
        Longblob = "LONGBLOB",
        Longtext = "LONGTEXT",
        LowPriority = "LOW_PRIORITY",
        Match = "MATCH",
        Mediumblob = "MEDIUMBLOB",
        Mediumint = "MEDIUMINT",
        Mediumtext = "MEDIUMTEXT",
        MinuteMicrosecond = "MINUTE_MICROSECOND",
        MinuteSecond = "MINUTE_SECOND",
        Mod = "MOD",
        Natural = "NATURAL",
        Not = "NOT",
        Null = "NULL",
        Numeric = "NUMERIC",
        On = "ON",
        Optimize = "OPTIMIZE",
        Or = "OR",
        Order = "ORDER",
        Outer = "OUTER",
        Outfile = "OUTFILE",
        Over = "OVER",
        Partition = "PARTITION",
        Precision = "PRECISION",
        Primary = "PRIMARY",
        Procedure = "PROCEDURE",
        Purge = "PURGE",
        Range = "RANGE",
        Read = "READ",
        Real = "REAL",
        Recursive = "RECURSIVE",
        References = "REFERENCES",
        Regexp = "REGEXP",
        Release = "RELEASE",
        Rename = "RENAME",
        Repeat = "REPEAT",
        Replace = "REPLACE",
        Revoke = "REVOKE",
        Right = "RIGHT",
        Rlike = "RLIKE",
        Rows = "ROWS",
        Schemas = "SCHEMAS",
        SecondMicrosecond = "SECOND_MICROSECOND",
        Select = "SELECT",
        Separator = "SEPARATOR",
        Set = "SET",
        Show = "SHOW",
        Signal = "SIGNAL",
        Smallint = "SMALLINT",
        SqlBigResult = "SQL_BIG_RESULT",
        SqlCalcFoundRows = "SQL_CALC_FOUND_ROWS",
        SqlSmallResult = "SQL_SMALL_RESULT",
        StraightJoin = "STRAIGHT_JOIN",
        Table = "TABLE",
        Terminated = "TERMINATED",
        Then = "THEN",
        Tinyblob = "TINYBLOB",
        Tinyint = "TINYINT",
        Tinytext = "TINYTEXT",
        To = "TO",
        Trailing = "TRAILING",
        Trigger = "TRIGGER",
        True = "TRUE",
        Union = "UNION",
        Unique = "UNIQUE",
        Unlock = "UNLOCK",
        Unsigned = "UNSIGNED",
        Update = "UPDATE",
        Use = "USE",
        Using = "USING",
        UtcDate = "UTC_DATE",
        UtcTime = "UTC_TIME",
        UtcTimestamp = "UTC_TIMESTAMP",
        Values = "VALUES",
        Varbinary = "VARBINARY",
        Varchar = "VARCHAR",
        When = "WHEN",
        Where = "WHERE",
        While = "WHILE",
        With = "WITH",
        Write = "WRITE",
        Xor = "XOR",
        YearMonth = "YEAR_MONTH",
        Zerofill = "ZEROFILL",
    }
    context {
        Database = "DATABASE",
        Option = "OPTION",
        Schema = "SCHEMA",
        Against = "AGAINST",
        Any = "ANY",
        Begin = "BEGIN",
        Binlog = "BINLOG",
        Boolean = "BOOLEAN",
        Cache = "CACHE",
        Checksum = "CHECKSUM",
        Clone = "CLONE",
        Close = "CLOSE",
        Columns = "COLUMNS",
        Commit = "COMMIT",
        Consistent = "CONSISTENT",
        Date = "DATE",
        Datetime = "DATETIME",
        Deallocate = "DEALLOCATE",
        Do = "DO",
        Dumpfile = "DUMPFILE",
        Duplicate = "DUPLICATE",
        End = "END",
        Escape = "ESCAPE",
        Event = "EVENT",
        Execute = "EXECUTE",
        Expansion = "EXPANSION",
        Fields = "FIELDS",
        First = "FIRST",
        Flush = "FLUSH",
        Full = "FULL",
        Function = "FUNCTION",
        Get = "GET",
        Global = "GLOBAL",
        Handler = "HANDLER",
        Help = "HELP",
        Import = "IMPORT",
        Install = "INSTALL",
        Isolation = "ISOLATION",
        Language = "LANGUAGE",
        Last = "LAST",
        Lateral = "LATERAL",
        Level = "LEVEL",
        Local = "LOCAL",
        Locked = "LOCKED",
        Member = "MEMBER",
        Mode = "MODE",
        Names = "NAMES",
        Next = "NEXT",
        Nowait = "NOWAIT",
        Of = "OF",
        Offset = "OFFSET",
        Only = "ONLY",
        Open = "OPEN",
        Package = "PACKAGE",
        Password = "PASSWORD",
        Prepare = "PREPARE",
        Prev = "PREV",
        Query = "QUERY",
        Quick = "QUICK",
        Repair = "REPAIR",
        Reset = "RESET",
        Resignal = "RESIGNAL",
        Restart = "RESTART",
        Returning = "RETURNING",
        Role = "ROLE",
        Rollback = "ROLLBACK",
        Rollup = "ROLLUP",
        Row = "ROW",
        Savepoint = "SAVEPOINT",
        Session = "SESSION",
        Share = "SHARE",
        Shuntyard = "SHUNTYARD",
        Shutdown = "SHUTDOWN",
        Skip = "SKIP",
        Slave = "SLAVE",
        Snapshot = "SNAPSHOT",
        Some = "SOME",
        Sounds = "SOUNDS",
        SqlBufferResult = "SQL_BUFFER_RESULT",
        SqlCache = "SQL_CACHE",
        SqlNoCache = "SQL_NO_CACHE",
        Start = "START",
        Statement = "STATEMENT",
        Stop = "STOP",
        Tables = "TABLES",
        Temporary = "TEMPORARY",
        Ties = "TIES",
        Time = "TIME",
        Timestamp = "TIMESTAMP",
        Transaction = "TRANSACTION",
        Truncate = "TRUNCATE",
        Uncommitted = "UNCOMMITTED",
        Uninstall = "UNINSTALL",
        Unknown = "UNKNOWN",
        Value = "VALUE",
        View = "VIEW",
        Wait = "WAIT",
        Window = "WINDOW",
        Work = "WORK",
        Xa = "XA",
    }
}

/// The longest keyword is `SQL_CALC_FOUND_ROWS`.
const LONGEST: usize = 19;
const SLOTS: usize = 2048;
const EMPTY: u16 = u16::MAX;

const fn fold(byte: u8) -> u8 {
    byte.to_ascii_uppercase()
}

/// Mixes the length with the first two and the last two bytes, in upper case. Words are of two bytes or more.
#[inline]
const fn hash(word: &[u8]) -> usize {
    let len = word.len();
    let key = (fold(word[0]) as u32)
        | (fold(word[1]) as u32) << 8
        | (fold(word[len - 1]) as u32) << 16
        | (fold(word[len - 2]) as u32) << 24;
    let mixed = (key ^ (len as u32).wrapping_mul(0x85eb_ca6b)).wrapping_mul(0x9e37_79b1);
    (mixed >> 21) as usize % SLOTS
}

/// Open addressing, built at compile time.
static TABLE: [u16; SLOTS] = {
    let mut table = [EMPTY; SLOTS];
    let mut i = 0;
    while i < TEXTS.len() {
        let mut slot = hash(TEXTS[i].as_bytes());
        while table[slot] != EMPTY {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = i as u16;
        i += 1;
    }
    table
};

impl Keyword {
    /// The keyword that a word spells, in any case.
    #[inline]
    pub fn of(word: &[u8]) -> Option<Keyword> {
        if word.len() < 2 || word.len() > LONGEST {
            return None;
        }
        let mut slot = hash(word);
        loop {
            let index = usize::from(*TABLE.get(slot)?);
            let text = TEXTS.get(index)?;
            if text.as_bytes().eq_ignore_ascii_case(word) {
                return ALL.get(index).copied();
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// The word in upper case.
    pub fn text(self) -> &'static str {
        TEXTS.get(self as usize).copied().unwrap_or_default()
    }

    /// Whether the word is reserved on both products, so that its case cannot matter.
    pub fn reserved(self) -> bool {
        (self as usize) < FOLDED
    }
}

#[cfg(test)]
mod tests;
