use super::{Changes, List, Pin, Soft, Traces};
use crate::{Flavor, Scanner};

fn traces(text: &str) -> Traces {
    Traces { list: List::default(), ..whole(text) }
}

fn whole(text: &str) -> Traces {
    let mut scanner = Scanner::new();
    let scan = scanner.scan(text.as_bytes(), Flavor::MARIADB);
    Traces::of(&scan, text.as_bytes())
}

#[test]
fn a_table_begins_a_new_list_of_warnings() {
    for text in ["SELECT a FROM t", "INSERT INTO t VALUES (1)", "SELECT (SELECT 1 FROM t)", "SHOW TABLES"] {
        assert_eq!(whole(text).list, List::New, "{text}");
    }
    for text in ["SELECT 1", "SELECT 1 FROM DUAL", "SET sql_mode = ''", "BEGIN", "USE db"] {
        assert_eq!(whole(text).list, List::Kept, "{text}");
    }
    assert_eq!(whole("SHOW COUNT(*) WARNINGS").list, List::Asked);
    assert_eq!(whole("ALTER TABLE t ADD a INT").list, List::Unsure);
}

#[test]
fn ordinary_statements_leave_nothing() {
    for text in [
        "SELECT 1",
        "SELECT c FROM t WHERE id = 5",
        "SELECT a, COUNT(*), MAX(b) AS m FROM t JOIN u USING (id) WHERE x IN (1, 2) AND y IN (SELECT z FROM v) GROUP BY a HAVING m > 2",
        "SELECT CAST(a AS DATETIME(6)), CONVERT(b USING utf8mb4), NOW(6), IF(a, LEFT(b, 2), REPLACE(c, 'x', 'y')) FROM t",
        "SELECT a FROM t WHERE b > ANY (SELECT c FROM u) AND MATCH (d) AGAINST ('x' IN BOOLEAN MODE)",
        "SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) FROM t FORCE INDEX (i)",
        "WITH x AS (SELECT 1 AS a) SELECT a FROM x",
        "SELECT * FROM (SELECT a FROM t) AS d (b) FOR UPDATE",
        "UPDATE t SET a = a + 1, b = CONCAT(b, 'x') WHERE id = 4 LIMIT 1",
        "DELETE FROM t WHERE id BETWEEN 3 AND 4",
        "BEGIN",
        "START TRANSACTION READ ONLY",
        "SAVEPOINT a",
        "SHOW TABLES",
        "SHOW CREATE TABLE t",
        "EXPLAIN SELECT 1",
        "ANALYZE TABLE t",
        "DO SLEEP(0)",
        "KILL 5",
        "",
    ] {
        assert_eq!(traces(text), Traces::default(), "{text}");
    }
    for text in ["COMMIT", "ROLLBACK", "COMMIT AND CHAIN"] {
        assert_eq!(traces(text), Traces { ends: true, ..Traces::default() }, "{text}");
    }
    assert!(!traces("ROLLBACK TO SAVEPOINT a").ends);
}

#[test]
fn what_the_servers_are_silent_about_keeps_the_connection() {
    for (text, pin) in [
        ("SELECT @a := 1", Pin::UserVariable),
        ("SELECT 1 INTO @a", Pin::UserVariable),
        ("SELECT a FROM t INTO OUTFILE 'x'", Pin::UserVariable),
        ("SELECT @a", Pin::UserVariable),
        ("SET @a = 1", Pin::UserVariable),
        ("SET sql_mode = '', @a = 1", Pin::UserVariable),
        ("LOAD DATA INFILE 'x' INTO TABLE t (a, @v)", Pin::UserVariable),
        ("CREATE TEMPORARY TABLE t SELECT 1", Pin::TemporaryTable),
        ("DROP TEMPORARY TABLE IF EXISTS t", Pin::TemporaryTable),
        ("SELECT GET_LOCK('a', 1)", Pin::UserLock),
        ("DO RELEASE_LOCK('a')", Pin::UserLock),
        ("SELECT f(1)", Pin::UnknownFunction),
        ("SELECT db.f(1)", Pin::UnknownFunction),
        ("SELECT `abs`(1)", Pin::UnknownFunction),
        ("SELECT db.abs(1)", Pin::UnknownFunction),
        ("INSERT INTO t (a) VALUES (f(1))", Pin::UnknownFunction),
        ("UPDATE t SET a = next(1)", Pin::UnknownFunction),
        ("SELECT NEXTVAL(s)", Pin::Sequence),
        ("SELECT NEXT VALUE FOR s", Pin::Sequence),
        ("SELECT s.nextval", Pin::Sequence),
        ("SELECT CONNECTION_ID()", Pin::ConnectionId),
        ("SELECT @@pseudo_thread_id", Pin::ConnectionId),
        ("SET timestamp = 5", Pin::Variable),
        ("SET @@session.insert_id = 5", Pin::Variable),
        ("SET SESSION rand_seed1 = 5", Pin::Variable),
        ("SET profiling = 1", Pin::Variable),
        ("SET SQL_AUTO_IS_NULL = 1", Pin::Variable),
        ("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", Pin::NextTransaction),
        ("SET @@transaction_isolation = 'SERIALIZABLE'", Pin::NextTransaction),
        ("SET ROLE r", Pin::Account),
        ("SET PASSWORD = '*x'", Pin::Account),
        ("SET DEFAULT ROLE r", Pin::Account),
        ("LOCK TABLES t READ", Pin::TableLock),
        ("FLUSH TABLES t WITH READ LOCK", Pin::TableLock),
        ("HANDLER t OPEN", Pin::Handler),
        ("PREPARE s FROM 'SELECT 1'", Pin::TextPrepare),
        ("CALL p(@out)", Pin::Call),
        ("XA START 'a'", Pin::Xa),
        ("SELECT 1; SELECT 2", Pin::SeveralStatements),
        ("SELECT /*! 1 */", Pin::NotUnderstood),
        ("SET STATEMENT sort_buffer_size = 1 FOR SELECT 1", Pin::NotUnderstood),
        ("GET DIAGNOSTICS @a = NUMBER", Pin::NotUnderstood),
        ("KILL QUERY GET_LOCK('x', 0)", Pin::UserLock),
        ("KILL (@a := 5)", Pin::UserVariable),
        ("CREATE TABLE t VALUES ROW(GET_LOCK('x', 0))", Pin::UserLock),
        ("CREATE TABLE schema VALUES ROW(@a := 1)", Pin::UserVariable),
        ("SELECT @@`last_insert_id`", Pin::Variable),
        ("SELECT @@session.`identity`", Pin::Variable),
        ("SELECT @@session .last_insert_id", Pin::Variable),
        ("SELECT st_anything(1)", Pin::UnknownFunction),
        ("SELECT NVL(1, 2)", Pin::UnknownFunction),
        ("SELECT COUNT (1)", Pin::UnknownFunction),
        ("COMMIT RELEASE", Pin::NotUnderstood),
        ("ROLLBACK AND NO CHAIN RELEASE", Pin::NotUnderstood),
        ("CREATE TEMPORARY SEQUENCE user", Pin::TemporaryTable),
        ("SELECT /*+ SET_VAR(timestamp=1) */ 1", Pin::Variable),
        ("SELECT 'unclosed", Pin::NotUnderstood),
    ] {
        assert_eq!(traces(text).pin, Some(pin), "{text}");
    }
    assert_eq!(traces("GET DIAGNOSTICS @a = NUMBER").reads, Soft::all());
    assert_eq!(traces("SELECT @a := ROW_COUNT()").reads, Soft::COUNTS);
    assert_eq!(traces("CALL p()").reads, Soft::INSERT_ID);
}

#[test]
fn settings_that_can_be_replayed_are_told_from_others() {
    for text in [
        "SET NAMES latin1",
        "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
        "SET CHARACTER SET utf8",
        "SET CHARSET utf8",
        "SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')",
        "SET SESSION group_concat_max_len = 5, @@session.time_zone = '+00:00', @@sort_buffer_size := 5",
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        "SET SESSION transaction_isolation = 'SERIALIZABLE'",
    ] {
        assert_eq!(traces(text), Traces { changes: Changes::VARIABLES, ..Traces::default() }, "{text}");
    }
    for text in [
        "SET GLOBAL sort_buffer_size = 5",
        "SET @@global.sort_buffer_size = 5",
        "SET PERSIST sort_buffer_size = 5",
    ] {
        assert_eq!(traces(text), Traces::default(), "{text}");
    }
    assert_eq!(traces("SET autocommit = 0").changes, Changes::VARIABLES);
    assert_eq!(traces("USE db").changes, Changes::SCHEMA);
    assert_eq!(traces("DROP DATABASE IF EXISTS db").changes, Changes::SCHEMA);
    assert_eq!(traces("DROP TABLE IF EXISTS t").changes, Changes::empty());
}

#[test]
fn soft_state_is_known_by_who_reads_it() {
    for (text, reads) in [
        ("SELECT LAST_INSERT_ID()", Soft::INSERT_ID),
        ("SELECT @@identity, @@session.last_insert_id", Soft::INSERT_ID),
        ("INSERT INTO t (a) VALUES (LAST_INSERT_ID())", Soft::INSERT_ID),
        ("SELECT ROW_COUNT()", Soft::COUNTS),
        ("SELECT FOUND_ROWS(), 1", Soft::COUNTS),
        ("SHOW WARNINGS", Soft::DIAGNOSTICS),
        ("SHOW COUNT(*) ERRORS", Soft::DIAGNOSTICS),
        ("SELECT @@warning_count", Soft::DIAGNOSTICS),
    ] {
        assert_eq!(
            Traces { inserts: false, ..traces(text) },
            Traces { reads, ..Traces::default() },
            "{text}"
        );
    }
    for text in [
        "INSERT INTO t (a, b) VALUES (1, 'x'), (2, NOW())",
        "INSERT IGNORE INTO db.t (a) SELECT a FROM u ON DUPLICATE KEY UPDATE a = VALUES(a)",
        "REPLACE t (a) VALUES (1)",
    ] {
        assert_eq!(traces(text), Traces { inserts: true, ..Traces::default() }, "{text}");
    }
    let sets = Soft::INSERT_ID;
    let text = "UPDATE s SET id = LAST_INSERT_ID(id + 1)";
    assert_eq!(traces(text), Traces { sets, inserts: true, ..Traces::default() });
    for text in ["INSERT INTO t (a) VALUES (1) RETURNING id", "ANALYZE INSERT INTO t VALUES (1)"] {
        assert_eq!(traces(text), Traces { sets, inserts: true, ..Traces::default() }, "{text}");
    }
    let sets = Soft::COUNTS;
    assert_eq!(traces("SELECT SQL_CALC_FOUND_ROWS a FROM t LIMIT 1"), Traces { sets, ..Traces::default() });
}

/// What is not understood is taken to ask for what any word of it names, and for nothing else: dumps begin with such texts.
#[test]
fn what_is_not_understood_reads_what_it_names() {
    for (text, more) in [
        ("/*!40101 SET NAMES utf8mb4 */", Soft::empty()),
        ("/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */", Soft::empty()),
        ("SELECT 'open", Soft::empty()),
        ("SELECT @@sql_mode, @a", Soft::empty()),
        ("SET @a = @@max_password_errors, @b = @@global.max_error_count", Soft::empty()),
        ("SET @a = @@session.`error_count`", Soft::all()),
        ("/*! SELECT Row_Count() */", Soft::COUNTS),
        ("SELECT 1 /*! , FOUND_ROWS() */", Soft::COUNTS),
        ("/*! SHOW WARNINGS */", Soft::all()),
        ("SHOW /*! COUNT(*) ERRORS */", Soft::all()),
        ("SELECT @a, @@warning_count", Soft::all()),
        ("SELECT @a, @@`Error_Count`", Soft::all()),
        ("GET /*! DIAGNOSTICS @n = NUMBER */", Soft::all()),
        ("SELECT 'open ROW_COUNT()", Soft::COUNTS),
    ] {
        let found = whole(text);
        assert!(found.pin.is_some(), "{text}");
        assert_eq!(found.reads - Soft::INSERT_ID, more - Soft::INSERT_ID, "{text}");
    }
}

#[test]
fn the_list_of_variables_is_in_order() {
    assert!(super::REPLAYED.is_sorted());
}

/// Words of statements in any order: what they leave behind is judged, whatever they say.
#[test]
fn fuzz_traces() {
    const WORDS: [&str; 48] = [
        "SELECT",
        "SET",
        "CALL",
        "INSERT",
        "INTO",
        "@a",
        "@@",
        "@@session.",
        "x",
        "=",
        ":=",
        ",",
        "(",
        ")",
        "1",
        "'s'",
        "`q`",
        ".",
        ";",
        "/*! ",
        "*/",
        "/* c */",
        "-- \n",
        "NEXT",
        "VALUE",
        "FOR",
        "TEMPORARY",
        "TABLE",
        "LOCK",
        "HANDLER",
        "OPEN",
        "GET_LOCK(",
        "NAMES",
        "CHARACTER SET",
        "GLOBAL",
        "TRANSACTION",
        "ISOLATION",
        "autocommit",
        "BEGIN",
        "WARNINGS",
        "SHOW",
        "COUNT(*)",
        "KILL",
        "USE",
        "PREPARE",
        "FROM",
        "\\",
        "?",
    ];
    bolero::check!().with_type::<(Vec<u8>, Vec<u8>)>().for_each(|(picks, bytes)| {
        let words: Vec<&str> = picks.iter().map(|pick| WORDS[usize::from(*pick) % WORDS.len()]).collect();
        for text in [words.join(" ").into_bytes(), words.concat().into_bytes(), bytes.clone()] {
            let mut scanner = Scanner::new();
            for flavor in [Flavor::MARIADB, Flavor::MYSQL.with_mode(crate::SqlMode::ANSI_QUOTES)] {
                let scan = scanner.scan(&text, flavor);
                let once = Traces::of(&scan, &text);
                assert_eq!(once, Traces::of(&scan, &text));
            }
        }
    });
}

/// What makes a routine does not run it.
#[test]
fn bodies_of_routines_are_not_read() {
    let reads = |text| traces(text).reads;
    assert_eq!(reads("CREATE PROCEDURE p() BEGIN SELECT ROW_COUNT(); SHOW WARNINGS; END"), Soft::INSERT_ID);
    let followed = "CREATE PROCEDURE p() SELECT 1; SELECT FOUND_ROWS()";
    assert_eq!(reads(followed), Soft::INSERT_ID | Soft::COUNTS);
    assert_eq!(reads("BEGIN NOT ATOMIC SHOW WARNINGS; END"), Soft::all());
}
