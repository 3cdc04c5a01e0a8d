//! What went wrong in other proxies, and what the servers' session tracking is silent or misleading about, with one shared
//! connection.

use super::world::{Act, Step, each};

/// `A: text`, `B: text`: who says what. `A reset`, `A init other`, `A again` are the other acts.
fn script(lines: &[&str]) -> Vec<Step> {
    lines
        .iter()
        .map(|line| {
            let (who, rest) = line.split_at(1);
            let at = usize::from(who.as_bytes()[0] - b'A');
            let act = match rest.trim() {
                "reset" => Act::Reset,
                "again" => Act::Reconnect,
                "init other" => Act::InitDb("other"),
                "init nosuch" => Act::InitDb("nosuch"),
                text => Act::Query(text.trim_start_matches(':').trim().to_owned()),
            };
            (at, act)
        })
        .collect()
}

const CASES: &[(&str, &[&str])] = &[
    (
        "what one session sets another does not see",
        &[
            "A: SET sql_mode = ''",
            "A: SET time_zone = '+05:00'",
            "A: SET SESSION group_concat_max_len = 7",
            "B: SELECT @@sql_mode, @@time_zone, @@group_concat_max_len",
            "A: SELECT @@sql_mode, @@time_zone, @@group_concat_max_len",
            "A again",
            "B: SELECT @@sql_mode, @@time_zone, @@group_concat_max_len",
            "B: SET timestamp = 1000000000",
            "A: SELECT @@sql_mode",
            "B: SELECT NOW()",
            "B: SELECT NOW() + 0",
        ],
    ),
    (
        "numbers read back as they were set",
        &[
            "A: SET @@innodb_lock_wait_timeout = 1",
            "B: SELECT 1",
            "A: SELECT @@innodb_lock_wait_timeout",
            "A: SET wait_timeout = 100",
            "B: SELECT @@wait_timeout",
            "A: SELECT @@wait_timeout",
            "B: SET sort_buffer_size = 300000",
            "A: SELECT @@sort_buffer_size",
            "B: SELECT @@sort_buffer_size",
            "A: SET max_join_size = 12345, sql_big_selects = 1",
            "B: SELECT @@max_join_size",
            "A: SELECT @@max_join_size, @@sql_big_selects",
            "A: SET long_query_time = 1.5",
            "B: SELECT @@long_query_time",
            "A: SELECT @@long_query_time",
            "A: SET max_join_size = DEFAULT",
            "B: SELECT @@max_join_size",
            "A: SELECT @@max_join_size",
        ],
    ),
    (
        "user variables stay with their session",
        &[
            "A: SET @a = 1",
            "B: SELECT @a",
            "A: SELECT @a",
            "B: SELECT @a := 5",
            "A: SELECT @a",
            "B: SELECT @a",
            "C: SELECT 1 INTO @a",
            "A: SELECT @a",
            "C: SELECT @a",
        ],
    ),
    (
        "a wrong value fails at once",
        &[
            "A: SET default_week_format = 'x'",
            "B: SELECT 1",
            "A: SELECT @@default_week_format",
            "A: SET sql_mode = 'NO_SUCH_MODE'",
            "B: SELECT 1",
            "A: SELECT @@sql_mode",
            "A: SET time_zone = '+01:00', sql_mode = 'NO_SUCH_MODE'",
            "B: SELECT @@time_zone",
            "A: SELECT @@time_zone",
        ],
    ),
    (
        "the id of the last insert",
        &[
            "A: INSERT INTO t0 (v) VALUES (1)",
            "B: SELECT LAST_INSERT_ID()",
            "A: SELECT LAST_INSERT_ID()",
            "B: INSERT INTO t1 (v) VALUES (1), (2), (3)",
            "B: INSERT INTO t1 (v) VALUES (4)",
            "A: SELECT LAST_INSERT_ID() AS id",
            "B: SELECT LAST_INSERT_ID() FROM DUAL",
            "A: SELECT @@identity",
            "A: INSERT INTO t0 (id, v) VALUES (50, 50)",
            "B: SELECT 1",
            "A: SELECT LAST_INSERT_ID()",
            "A: INSERT INTO t0 (v) VALUES (LAST_INSERT_ID() + 100)",
            "B: SELECT LAST_INSERT_ID()",
            "A: UPDATE t0 SET v = LAST_INSERT_ID(v + 7) WHERE id = 1",
            "B: SELECT LAST_INSERT_ID()",
            "A: SELECT LAST_INSERT_ID()",
            "A: SELECT LAST_INSERT_ID(77)",
            "B: SELECT LAST_INSERT_ID()",
            "A: SELECT LAST_INSERT_ID()",
            "C: SELECT LAST_INSERT_ID()",
            "A again",
            "A: SELECT LAST_INSERT_ID()",
        ],
    ),
    (
        "autocommit off: the first read belongs to the transaction",
        &[
            "A: SET autocommit = 0",
            "A: SELECT v FROM t0",
            "A: UPDATE t0 SET v = 9",
            "A: ROLLBACK",
            "A: SET autocommit = 1",
            "B: SELECT @@autocommit",
            "A: SELECT @@autocommit",
        ],
    ),
    (
        "default schemas",
        &[
            "A: USE other",
            "B: SELECT DATABASE()",
            "A: SELECT DATABASE()",
            "A: USE nosuch",
            "B: SELECT DATABASE()",
            "A: SELECT DATABASE()",
            "B init other",
            "A init nosuch",
            "B: SELECT DATABASE()",
            "A: SELECT DATABASE()",
            "B: SELECT COUNT(*) FROM t",
            "A: CREATE DATABASE gone",
            "A: USE gone",
            "B: SELECT DATABASE()",
            "A: DROP DATABASE gone",
            "B: SELECT DATABASE()",
            "A: SELECT DATABASE()",
            "A: USE leak",
            "A: SELECT DATABASE()",
        ],
    ),
    (
        "an error inside a transaction leaves it open",
        &[
            "A: INSERT INTO t0 (v) VALUES (1)",
            "A: BEGIN",
            "A: INSERT INTO t0 (v) VALUES (2)",
            "A: INSERT INTO t0 (v) VALUES (1)",
            "A: INSERT INTO t0 (v) VALUES (3)",
            "A: COMMIT",
            "B: SELECT 1",
            "A: SELECT v FROM t0 ORDER BY v",
        ],
    ),
    (
        "temporary tables, locks, handlers",
        &[
            "A: CREATE TEMPORARY TABLE x (n INT)",
            "B: SELECT * FROM x",
            "A: INSERT INTO x VALUES (1)",
            "A: SELECT * FROM x",
            "B: CREATE TEMPORARY TABLE x SELECT 5 AS n",
            "A: SELECT * FROM x",
            "B: SELECT * FROM x",
            "C: SELECT GET_LOCK('l', 0)",
            "B: SELECT IS_FREE_LOCK('l')",
            "C: SELECT RELEASE_LOCK('l')",
            "D: HANDLER t3 OPEN",
            "D: INSERT INTO t3 (v) VALUES (4)",
            "E: SELECT 1",
            "D: HANDLER t3 READ FIRST",
            "D: HANDLER t3 CLOSE",
            "E: LOCK TABLES t4 WRITE",
            "F: SELECT 1",
            "E: INSERT INTO t4 (v) VALUES (1)",
            "E: SELECT v FROM t5",
            "E: UNLOCK TABLES",
            "E: SELECT v FROM t5",
        ],
    ),
    (
        "the isolation level of one transaction",
        &[
            "A: SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "B: SELECT 1",
            "A: BEGIN",
            "A: SELECT v FROM t0",
            "A: COMMIT",
            "B: SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "A: SHOW VARIABLES LIKE '%_isolation'",
            "B: SHOW VARIABLES LIKE '%_isolation'",
            "C: SHOW VARIABLES LIKE '%_isolation'",
        ],
    ),
    (
        "character sets and collations",
        &[
            "A: SET NAMES latin1",
            "B: SELECT @@character_set_client, @@character_set_results, @@collation_connection",
            "A: SELECT @@character_set_client, @@character_set_results, @@collation_connection",
            "B: SET NAMES utf8mb4 COLLATE utf8mb4_bin",
            "A: SELECT @@collation_connection",
            "B: SELECT @@collation_connection",
            "C: SET character_set_results = NULL",
            "A: SELECT @@character_set_results",
            "C: SELECT @@character_set_results",
            "C: SELECT _latin1 x'E9'",
            "A: SELECT _latin1 x'E9'",
            "D: SELECT 'x' COLLATE latin1_bin",
        ],
    ),
    (
        "warnings and errors",
        &[
            "A: SELECT 1/0",
            "B: SHOW WARNINGS",
            "A: SHOW WARNINGS",
            "A: INSERT INTO t0 (v) VALUES (1)",
            "A: INSERT INTO t0 (v) VALUES (1)",
            "B: SELECT 1",
            "A: SHOW WARNINGS",
            "A: SELECT nosuch",
            "B: SHOW WARNINGS",
            "B: SELECT @@warning_count",
            "A: SHOW WARNINGS",
            "A: SELECT v FROM t0",
            "B: SELECT nosuch",
            "A: SHOW WARNINGS",
            "B: SHOW WARNINGS",
            "C: SET sql_mode = ''",
            "C: INSERT INTO t2 (v, s) VALUES (1, 'far too long')",
            "B: SELECT 1",
            "C: SHOW WARNINGS",
        ],
    ),
    (
        "counts",
        &[
            "A: INSERT INTO t0 (v) VALUES (1), (2), (3)",
            "B: SELECT 1",
            "A: SELECT ROW_COUNT()",
            "A: SELECT SQL_CALC_FOUND_ROWS v FROM t0 LIMIT 1",
            "B: SELECT 1",
            "A: SELECT FOUND_ROWS()",
            "A: UPDATE t0 SET v = v + 10",
            "B: SELECT 1",
            "A: SELECT ROW_COUNT()",
            "A: DELETE FROM t0",
            "A: SELECT ROW_COUNT()",
        ],
    ),
    (
        "routines and text PREPARE",
        &[
            "A: SELECT setter(5)",
            "B: SELECT @a",
            "A: SELECT @a",
            "B: CALL changer()",
            "A: SELECT @@group_concat_max_len",
            "B: SELECT @@group_concat_max_len",
            "C: CALL giver(@n)",
            "A: SELECT @n",
            "C: SELECT @n",
            "D: PREPARE s FROM 'SELECT 5'",
            "E: SELECT 1",
            "D: EXECUTE s",
            "D: DEALLOCATE PREPARE s",
        ],
    ),
    (
        "a reset connection is like new",
        &[
            "A: SET sql_mode = ''",
            "A: SET @a = 1",
            "A reset",
            "A: SELECT @@sql_mode, @a, DATABASE()",
            "B: SELECT @a",
            "A: SELECT LAST_INSERT_ID()",
            "A: SELECT @@character_set_client",
        ],
    ),
    (
        "an insert that answers with rows",
        &[
            "A: INSERT INTO t0 (v) VALUES (1) RETURNING id",
            "B: SELECT LAST_INSERT_ID()",
            "A: SELECT LAST_INSERT_ID()",
            "B: INSERT INTO t1 (v) VALUES (1), (2), (3)",
            "A: REPLACE INTO t0 (v) VALUES (1) RETURNING id, v",
            "B: SELECT LAST_INSERT_ID()",
            "A: SELECT LAST_INSERT_ID()",
        ],
    ),
    (
        "settings that stand in the way of asking for settings",
        &[
            "A: SET sql_select_limit = 1",
            "B: SHOW TABLES",
            "A: SHOW TABLES",
            "C: SET sql_select_limit = 0",
            "B: SELECT 1",
            "C: SELECT 1",
            "C: SELECT DATABASE()",
            "B: SELECT DATABASE()",
            "A: SET sql_select_limit = DEFAULT",
            "B: SELECT 1",
            "A: SHOW TABLES",
        ],
    ),
    (
        "system variables in odd spellings",
        &[
            "A: INSERT INTO t0 (v) VALUES (1)",
            "B: SELECT @@`last_insert_id`",
            "A: SELECT @@`last_insert_id`",
            "C: SELECT @@session.`identity`",
            "A: SELECT @@session.`identity`",
        ],
    ),
    (
        "odd texts",
        &[
            "A:",
            "B: SELECT 1",
            "A: /* only a comment */",
            "A: SELECT 1 /* unclosed",
            "B: SELECT 'x",
            "A: SELECT 2;",
            "B: ;",
            "A: SELECT 3 -- end",
            "A: KILL 0",
            "B: SELEC 1",
            "A: SELECT 1",
        ],
    ),
];

/// Every case, on both servers; all that fail are told.
#[test]
fn what_went_wrong_elsewhere() {
    let mut failed = Vec::new();
    for (server, world) in each(1) {
        for (name, lines) in CASES {
            if let Err(why) = world.run(&script(lines)) {
                failed.push(format!("{server}: {name}: {why}"));
            }
        }
    }
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n\n"));
}
