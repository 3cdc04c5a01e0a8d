"""The script as a driver runs it: cases, templates, and the JSON in which every driver reports its answers."""

import argparse
import datetime
import decimal
import hashlib
import io
import json
import os
import re
import sys

TEMPLATE = re.compile(r"\{\{(?:(?P<unit>.)\*(?P<times>\d+)|hex:(?P<hex>[0-9A-Fa-f]+)|file:(?P<file>[\w.]+))\}\}")
LONG = 4096
"""Values longer than this are reported as their length and SHA-256."""


def arguments():
    parser = argparse.ArgumentParser()
    for name in ("host", "user", "password", "script", "product", "files", "driver"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--case")
    args = parser.parse_args()
    # A driver's name may end in :zlib.
    args.compress = args.driver.endswith(":zlib")
    args.driver = args.driver.removesuffix(":zlib")
    return args


def expand(sql, files, charset="utf-8"):
    """Text, or bytes where a template holds raw ones."""
    if "{{hex:" not in sql:
        return TEMPLATE.sub(lambda m: _unit(m, files), sql)
    out, at = b"", 0
    for match in TEMPLATE.finditer(sql):
        out += sql[at : match.start()].encode(charset)
        out += bytes.fromhex(match["hex"]) if match["hex"] else _unit(match, files).encode(charset)
        at = match.end()
    return out + sql[at:].encode(charset)


def _unit(match, files):
    return match["unit"] * int(match["times"]) if match["unit"] else os.path.join(files, match["file"])


def parameter(value):
    """A parameter of the script as the Python value that stands for it."""
    if not isinstance(value, dict):
        return value
    ((kind, text),) = [(k, v) for k, v in value.items() if k != "times"]
    if kind == "repeat":
        return text * value["times"]
    if kind == "stream":
        return io.BytesIO((text * value["times"]).encode())
    if kind == "bytes":
        return bytes.fromhex(text)
    if kind == "decimal":
        return decimal.Decimal(text)
    if kind == "datetime":
        return datetime.datetime.fromisoformat(text)
    if kind == "date":
        return datetime.date.fromisoformat(text)
    if kind == "time":
        sign = -1 if text.startswith("-") else 1
        hours, minutes, seconds = text.lstrip("-").split(":")
        return sign * datetime.timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
    raise ValueError(kind)


def cell(value):
    """A value that a driver returned, with the type that it gave it."""
    if value is None:
        return None
    if isinstance(value, (bytes, bytearray)):
        return _long("bytes", value) if len(value) > LONG else {"bytes": value.hex()}
    if isinstance(value, int) and not isinstance(value, bool):
        return {"int": str(value)}
    if isinstance(value, float):
        return {"double": repr(value)}
    if isinstance(value, datetime.timedelta):
        return {"kind": "timedelta", "text": str(value // datetime.timedelta(microseconds=1))}
    if isinstance(value, (set, frozenset)):
        return {"kind": "set", "text": ",".join(sorted(map(str, value)))}
    text = str(value)
    if len(text) > LONG:
        return _long(type(value).__name__, text.encode("utf-8", "surrogatepass"))
    return {"kind": type(value).__name__, "text": text}


def _long(kind, raw):
    return {"kind": kind, "text": f"{len(raw)} bytes, sha256 {hashlib.sha256(raw).hexdigest()}"}


def failure(error):
    """An error as a driver raises it: code, SQLSTATE and message where it is the server's, else its own words."""
    code = getattr(error, "errno", None)
    if code is None and error.args and isinstance(error.args[0], int):
        code = error.args[0]
    message = getattr(error, "msg", None) or (error.args[1] if len(error.args) > 1 else str(error))
    return {
        "error": {
            "code": code if isinstance(code, int) and 0 <= code < 65536 else 0,
            "state": getattr(error, "sqlstate", None) or "",
            # Where an object lies in memory is nobody's answer.
            "message": re.sub(r"0x[0-9a-f]{6,}", "0x", f"{type(error).__name__}: {message}"),
        }
    }


def run(args, driver):
    """Runs every case through `driver` and returns the report.

    A driver has `name`, `connect(options) -> connection` (schema, charset, found_rows, multi, local_infile), and for the
    connection `run(sql, params, prepared, handle) -> results`, `do(step)`, `warnings() -> [[level, code, message]]`, `close()`.
    """
    with open(args.script, encoding="utf-8") as file:
        script = json.load(file)
    schema = script["schema"]
    base = {"schema": schema, "charset": "utf8mb4", "found_rows": False, "multi": False, "local_infile": False}
    setup = driver.connect({**base, "schema": None})
    for sql in (f"DROP DATABASE IF EXISTS {schema}", f"CREATE DATABASE {schema} CHARACTER SET utf8mb4"):
        setup.run(sql, None, False, None)
    setup.close()
    report, names = [], {driver.name, args.driver}
    for case in script["cases"]:
        if args.case and case["name"] != args.case:
            continue
        if case.get("on", args.product) != args.product or names & set(case.get("not_for", [])):
            continue
        options = {**base, **case.get("connect", {})}
        steps, connections = [], {}
        for step in case["steps"]:
            step = step if isinstance(step, dict) else {"sql": step}
            if names & set(step.get("not_for", [])):
                continue
            shown = step.get("sql", json.dumps(step))[:200]
            name = step.get("as")
            try:
                connection = connections[name] = connections.get(name) or driver.connect(options)
                results, warnings = one(connection, step, args, options)
            except Exception as error:  # what a driver makes of an answer is part of what is compared
                results, warnings = [failure(error)], []
            steps.append({"sql": shown, "answer": {"results": results, "warnings": warnings}})
        for connection in connections.values():
            connection.close()
        report.append({"name": case["name"], "steps": steps})
    return {"driver": args.driver, "cases": report}


def one(connection, step, args, options):
    if "do" in step:
        connection.do(step, args)
        return [], []
    sql = expand(step["sql"], args.files, options["charset"].replace("utf8mb4", "utf-8"))
    params = [parameter(p) for p in step["params"]] if "params" in step else None
    results = connection.run(sql, params, step.get("protocol") != "text", step.get("handle"))
    count = next((r.get("warnings", 0) for r in reversed(results) if "error" not in r), 0)
    shows = isinstance(sql, str) and sql.upper().startswith("SHOW ")
    return results, connection.warnings() if count and not shows else []


def emit(report):
    """The report as JSON; bytes where a driver could not decode a name or a message are shown in hexadecimal."""
    json.dump(report, sys.stdout, default=lambda raw: f"bytes {bytes(raw).hex()}")
