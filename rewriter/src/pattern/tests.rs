#![expect(clippy::unwrap_used, reason = "tests")]

use crate::load::RuleSet;
use crate::rule::Mode;
use crate::testing::Session;

const GIVEN: &[&str] = &[
    "CREATE TABLE ord (id INT NOT NULL PRIMARY KEY, cust INT, ts DATETIME NOT NULL, big BIGINT UNSIGNED, note TEXT, KEY (ts), KEY (cust))",
    "CREATE TABLE cust (id INT NOT NULL PRIMARY KEY, name VARCHAR(40) COLLATE utf8mb4_bin)",
];

fn rule(body: &str) -> Result<RuleSet, String> {
    let text = format!("- {{id: r, mode: explain, effect: same_rows, {body}}}");
    let loaded = RuleSet::load(&[("r.yaml".to_owned(), text)]).map_err(|faults| faults[0].to_string())?;
    let mut rule = loaded.rules()[0].as_ref().clone();
    rule.mode = Mode::Enabled;
    Ok(RuleSet::of(&rule))
}

fn run(body: &str, text: &str) -> Result<String, String> {
    Session::new(GIVEN).run(&rule(body).unwrap(), text)
}

const YEAR: &str = r#"match: "YEAR($c) = $y", when: ["type($c) in (date, datetime)", "literal($y) between 1000 and 9998"],
    rewrite: "$c >= MAKEDATE($y, 1) AND $c < MAKEDATE($y + 1, 1)""#;

#[test]
fn a_condition_is_found_wherever_it_stands() {
    for (text, wanted) in [
        (
            "SELECT id FROM ord WHERE YEAR(ts) = 2023",
            "SELECT id FROM ord WHERE ts >= MAKEDATE(2023, 1) AND ts < MAKEDATE(2023 + 1, 1)",
        ),
        (
            "SELECT id FROM ord o WHERE id > 5 AND (2023 = YEAR(o.ts) OR id = 7) /* kept */ ORDER BY id",
            "SELECT id FROM ord o WHERE id > 5 AND (o.ts >= MAKEDATE(2023, 1) AND o.ts < MAKEDATE(2023 + 1, 1) OR id = 7) /* kept */ ORDER BY id",
        ),
        (
            "SELECT c.id FROM cust c JOIN ord o ON o.cust = c.id AND year(o.ts) = 2020 WHERE YEAR(ts) = 2021",
            "SELECT c.id FROM cust c JOIN ord o ON o.cust = c.id AND o.ts >= MAKEDATE(2020, 1) AND o.ts < MAKEDATE(2020 + 1, 1) WHERE ts >= MAKEDATE(2021, 1) AND ts < MAKEDATE(2021 + 1, 1)",
        ),
        (
            "SELECT id FROM cust WHERE EXISTS (SELECT 1 FROM ord WHERE cust = cust.id AND YEAR(ord.ts) = 2020)",
            "SELECT id FROM cust WHERE EXISTS (SELECT 1 FROM ord WHERE cust = cust.id AND ord.ts >= MAKEDATE(2020, 1) AND ord.ts < MAKEDATE(2020 + 1, 1))",
        ),
    ] {
        assert_eq!(run(YEAR, text).as_deref(), Ok(wanted), "{text}");
    }
}

#[test]
fn what_is_not_proven_stays() {
    for (text, wanted) in [
        ("SELECT id FROM ord WHERE YEAR(cust) = 2023", "when: type($c) in (date, datetime): cust is INT"),
        ("SELECT id FROM ord WHERE YEAR(nosuch) = 2023", "does not know the column nosuch"),
        ("SELECT id FROM ord WHERE YEAR(ts) = 99999", "99999 is more than 9998"),
        ("SELECT id FROM ord WHERE YEAR(ts) = '2023'", "'2023' is not such a literal"),
        ("SELECT id FROM ord WHERE YEAR(ts) > 2023", "nothing in the statement is of the pattern"),
        ("SELECT YEAR(ts) = 2023 FROM ord", "nothing in the statement is of the pattern"),
        ("SELECT id FROM ord WHERE NOT YEAR(ts) = 2023", "nothing in the statement is of the pattern"),
        ("SELECT id FROM ord WHERE YEAR(ts) = 2023 FOR UPDATE", "odd"),
    ] {
        let refused = run(YEAR, text).unwrap_err();
        assert!(refused.contains(wanted) || wanted == "odd", "{text}: {refused}");
    }
}

#[test]
fn operands_keep_their_parentheses() {
    let shift = r#"match: "$c + $k = $v", when: ["type($c) = integer", "constant($k)", "constant($v)"], rewrite: "$c = $v - $k""#;
    assert_eq!(
        run(shift, "SELECT id FROM ord WHERE 1 + 2 + id = 5 - 3").as_deref(),
        Ok("SELECT id FROM ord WHERE id = (5 - 3) - (1 + 2)")
    );
    assert_eq!(
        run(shift, "SELECT id FROM ord WHERE 500 = id + 10 OR id = 3").as_deref(),
        Ok("SELECT id FROM ord WHERE id = 500 - 10 OR id = 3")
    );
    let loose = r#"match: "IFNULL($c, $k) = $v", when: ["column($c)"], rewrite: "$c = $v OR $c IS NULL""#;
    assert_eq!(
        run(loose, "SELECT id FROM ord WHERE id = 1 AND IFNULL(cust, 0) = 0").as_deref(),
        Ok("SELECT id FROM ord WHERE id = 1 AND (cust = 0 OR cust IS NULL)")
    );
}

#[test]
fn whole_statements_with_optional_parts_and_lists() {
    let having = r#"match: "SELECT $$cols FROM $$f [WHERE $w] GROUP BY $$g HAVING $c = $v [AND $$rest] [ORDER BY $$o]",
        when: ["column($c)", "constant($v)"],
        rewrite: "SELECT $$cols FROM $$f WHERE $c = $v [AND $w] GROUP BY $$g [HAVING $$rest] [ORDER BY $$o]""#;
    assert_eq!(
        run(having, "SELECT cust, COUNT(*) AS n FROM ord GROUP BY cust HAVING cust = 5").as_deref(),
        Ok("SELECT cust, COUNT(*) AS n FROM ord WHERE cust = 5 GROUP BY cust")
    );
    assert_eq!(
        run(having, "SELECT cust, COUNT(*) FROM ord WHERE id < 9 OR id = 20 GROUP BY cust, id HAVING COUNT(*) > 1 AND cust = 5 ORDER BY cust DESC, id").as_deref(),
        Ok("SELECT cust, COUNT(*) FROM ord WHERE cust = 5 AND (id < 9 OR id = 20) GROUP BY cust, id HAVING COUNT(*) > 1 ORDER BY cust DESC, id")
    );
}

#[test]
fn faults_of_patterns_are_named() {
    for (body, wanted) in [
        (r#"match: "YEAR($c) =", rewrite: "$c""#, "is not understood"),
        (r#"match: "YEAR($c) = $y", rewrite: "$c = $z""#, "`rewrite` uses $z"),
        (r#"match: "YEAR($c) = $y", when: ["column($d)"], rewrite: "$c = $y""#, "`when` asks for $d"),
        (
            r#"match: "YEAR($c) = $y", when: ["colum($c)"], rewrite: "$c = $y""#,
            "the guard `colum` is not known",
        ),
        (r#"match: "SELECT $$c FROM $t", rewrite: "$c = 1""#, "both be a SELECT"),
        (r#"match: "SELECT $$c FROM $t [WHERE $p", rewrite: "SELECT 1""#, "do not match"),
        (r#"match: "YEAR($c) = $y", pass: derived_merge, rewrite: "$c = $y""#, "either `pass`"),
        (r#"match: "CASE $c WHEN 1 THEN 2 END = $y", rewrite: "$c = $y""#, "cannot stand in a pattern"),
        (r#"match: ["$a = $b", "$a < $b", "$a > $b"], rewrite: ["$a = $b", "$a < $b"]"#, "one for each"),
    ] {
        let fault = rule(body).unwrap_err();
        assert!(fault.contains(wanted), "{body}: {fault}");
    }
}
