#!/usr/bin/env python3
"""Asks a server how it reads every pair of operators, and writes the answers as a fixture.

    precedence.py HOST PORT > fixtures/precedence-PRODUCT.txt

Each expression is stored as a view, and so is every way to put parentheses into it; the server's own text of the view
says which of these it took the bare expression for. Needs the `mariadb` client, a server whose user root has no
password, and nothing else. Lines: sql_mode, expression, the same with all parentheses (or `error` where the server
refuses it, `unclear` where its text does not tell), separated by tabs.
"""
import itertools
import subprocess
import sys

BINARY = ["OR", "||", "XOR", "AND", "&&", "=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "LIKE", "NOT LIKE", "REGEXP",
          "NOT RLIKE", "SOUNDS LIKE", "|", "&", "<<", ">>", "+", "-", "*", "/", "%", "DIV", "MOD", "^"]
POSTFIX = ["IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT FALSE", "IS UNKNOWN", "IN (1, 2)", "NOT IN (1, 2)",
           "COLLATE utf8mb4_bin"]
PREFIX = ["NOT", "!", "-", "+", "~", "BINARY"]
PLUS_INTERVAL = ["+ INTERVAL 1 DAY", "- INTERVAL 1 HOUR_MINUTE"]
COLUMNS = ["a", "b", "c", "d", "e"]


def cases():
    """Yields (mode, expression, [readings])."""
    for x, y in itertools.product(BINARY, BINARY):
        yield f"a {x} b {y} c", [f"((a {x} b) {y} c)", f"(a {x} (b {y} c))"]
    for x, p in itertools.product(BINARY, POSTFIX + PLUS_INTERVAL):
        yield f"a {x} b {p}", [f"((a {x} b) {p})", f"(a {x} (b {p}))"]
        yield f"a {p} {x} b", [f"((a {p}) {x} b)"]
    for p, q in itertools.product(POSTFIX + PLUS_INTERVAL, POSTFIX + PLUS_INTERVAL):
        yield f"a {p} {q}", [f"((a {p}) {q})"]
    for u, x in itertools.product(PREFIX, BINARY):
        yield f"{u} a {x} b", [f"(({u} a) {x} b)", f"({u} (a {x} b))"]
        yield f"a {x} {u} b {x} c", [f"((a {x} ({u} b)) {x} c)", f"(a {x} (({u} b) {x} c))", f"(a {x} ({u} (b {x} c)))"]
    for u, x, y in itertools.product(PREFIX, ["OR", "AND", "=", "+", "*", "^", "||"], ["OR", "AND", "=", "+", "*", "^", "||"]):
        yield f"a {x} {u} b {y} c", [f"((a {x} ({u} b)) {y} c)", f"(a {x} (({u} b) {y} c))", f"(a {x} ({u} (b {y} c)))"]
    for u, p in itertools.product(PREFIX, POSTFIX + PLUS_INTERVAL):
        yield f"{u} a {p}", [f"(({u} a) {p})", f"({u} (a {p}))"]
    for u, v in itertools.product(PREFIX, PREFIX):
        yield f"{u} {v} a", [f"({u} ({v} a))"]
    for x in BINARY:
        for n in ["", "NOT "]:
            between = f"{n}BETWEEN"
            yield f"a {x} b {between} c AND d", [f"((a {x} b) {between} c AND d)", f"(a {x} (b {between} c AND d))"]
            yield f"a {between} b AND c {x} d", [f"((a {between} b AND c) {x} d)", f"(a {between} b AND (c {x} d))"]
            if x not in ("AND", "&&"):
                yield f"a {between} b {x} c AND d", [f"(a {between} (b {x} c) AND d)"]
    for p in POSTFIX + PLUS_INTERVAL:
        yield f"a BETWEEN b AND c {p}", [f"((a BETWEEN b AND c) {p})", f"(a BETWEEN b AND (c {p}))"]
        yield f"a {p} BETWEEN b AND c", [f"((a {p}) BETWEEN b AND c)"]
    for u in PREFIX:
        yield f"{u} a BETWEEN b AND c", [f"(({u} a) BETWEEN b AND c)", f"({u} (a BETWEEN b AND c))"]
        yield f"a BETWEEN b AND {u} c AND d", [f"((a BETWEEN b AND ({u} c)) AND d)", f"(a BETWEEN b AND ({u} (c AND d)))"]
    yield "a BETWEEN b AND c BETWEEN d AND e", ["((a BETWEEN b AND c) BETWEEN d AND e)", "(a BETWEEN b AND (c BETWEEN d AND e))"]
    yield "NOT EXISTS (SELECT 1) = a", ["((NOT (EXISTS (SELECT 1))) = a)", "(NOT ((EXISTS (SELECT 1)) = a))"]
    for x in BINARY:
        yield f"INTERVAL 1 DAY + a {x} b", [f"((INTERVAL 1 DAY + a) {x} b)", f"(INTERVAL 1 DAY + (a {x} b))"]
        yield f"CASE WHEN a THEN b ELSE c END {x} d", [f"((CASE WHEN a THEN b ELSE c END) {x} d)"]
        yield f"d {x} CASE a WHEN b THEN c END", [f"(d {x} (CASE a WHEN b THEN c END))"]
    yield "a LIKE b ESCAPE '|' AND c", ["((a LIKE b ESCAPE '|') AND c)"]


def ask(host, port, mode, all_cases):
    script = ["CREATE DATABASE IF NOT EXISTS precedence_probe; USE precedence_probe;",
              "CREATE TABLE IF NOT EXISTS t (" + ", ".join(f"{c} VARCHAR(20) CHARACTER SET utf8mb4" for c in COLUMNS) + ");",
              f"SET sql_mode = '{mode}';"]
    for number, (bare, readings) in enumerate(all_cases):
        for index, text in enumerate([bare] + readings):
            name = f"v{number}_{index}"
            # No view is created where the server refuses the text; the client goes on.
            script.append(f"CREATE OR REPLACE VIEW v AS SELECT {text} AS x FROM t;")
            script.append(f"SELECT '{name}', VIEW_DEFINITION FROM information_schema.VIEWS "
                          "WHERE TABLE_SCHEMA = 'precedence_probe' AND TABLE_NAME = 'v';")
            script.append("DROP VIEW IF EXISTS v;")
    script.append("DROP DATABASE precedence_probe;")
    client = ["mariadb", "--no-defaults", "-uroot", "-h", host, "-P", port, "-f", "-N", "-B", "--skip-comments"]
    done = subprocess.run(client, input="\n".join(script), capture_output=True, text=True, check=False)
    return dict(line.split("\t", 1) for line in done.stdout.splitlines() if line.startswith("v"))


def main():
    host, port = sys.argv[1], sys.argv[2]
    version = subprocess.run(["mariadb", "--no-defaults", "-uroot", "-h", host, "-P", port, "-NBe", "SELECT VERSION()"],
                             capture_output=True, text=True, check=True).stdout.strip()
    print(f"# {version}")
    for mode, needs in [("", None), ("PIPES_AS_CONCAT", "||"), ("HIGH_NOT_PRECEDENCE", "NOT ")]:
        chosen = [case for case in cases() if needs is None or needs in case[0]]
        answers = ask(host, port, mode, chosen)
        for number, (bare, readings) in enumerate(chosen):
            taken = answers.get(f"v{number}_0")
            same = [text for index, text in enumerate(readings, 1) if answers.get(f"v{number}_{index}") == taken]
            verdict = "error" if taken is None else same[0] if len(same) == 1 else "unclear"
            print(f"{mode}\t{bare}\t{verdict}")


main()
