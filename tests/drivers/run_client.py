"""The script through the `mariadb` command-line client; its output is the answer, line by line."""

import json
import subprocess

import common


class Driver:
    name = "mariadb-client"

    def __init__(self, args):
        self.args = args

    def connect(self, options):
        return Connection(self.args, options)


class Connection:
    """The client reads a whole case at once, so that session state lives from step to step."""

    def __init__(self, args, options):
        self.command = [
            "mariadb", "--no-defaults", "--protocol=tcp", f"--host={args.host}", f"--port={args.port}",
            f"--user={args.user}", f"--password={args.password}", f"--default-character-set={options['charset']}",
            # -vv and not -vvv: the latter prints how long each statement took.
            "-vv", "--table", "--column-type-info", "--show-warnings", "--force", "--comments", "--skip-auto-rehash",
            f"--local-infile={int(options['local_infile'])}", "--delimiter=$$", "--skip-ssl",
        ]
        if args.compress:
            self.command.append("--compress")
        if options["schema"]:
            self.command.append(options["schema"])

    def run(self, sql, _params, _prepared, _handle):
        raw = sql if isinstance(sql, bytes) else sql.encode()
        done = subprocess.run(self.command, input=raw + b"\n$$\n", capture_output=True, timeout=120)
        results = [lines("stdout", done.stdout), lines("stderr", done.stderr)]
        results.append({"affected": done.returncode & 0xFF, "insert_id": 0, "info": "exit code", "warnings": 0})
        return results

    def close(self):
        pass


def lines(name, raw):
    rows = [[{"bytes": line.hex()}] for line in raw.split(b"\n")]
    return {"columns": [{"name": name, "type": 253}], "rows": rows}


def run(args, driver):
    """As common.run, but a case is one input of the client."""
    with open(args.script, encoding="utf-8") as file:
        script = json.load(file)
    schema = script["schema"]
    base = {"schema": schema, "charset": "utf8mb4", "local_infile": False}
    driver.connect({**base, "schema": None}).run(
        f"DROP DATABASE IF EXISTS {schema}\n$$\nCREATE DATABASE {schema} CHARACTER SET utf8mb4", None, False, None
    )
    report = []
    for case in script["cases"]:
        if args.case and case["name"] != args.case:
            continue
        if case.get("on", args.product) != args.product or driver.name in case.get("not_for", []):
            continue
        options = {**base, **case.get("connect", {})}
        texts = [s if isinstance(s, str) else s.get("sql") for s in case["steps"] if isinstance(s, str) or "params" not in s]
        charset = options["charset"].replace("utf8mb4", "utf-8")
        raw = [common.expand(t, args.files) for t in texts if t]
        raw = [t if isinstance(t, bytes) else t.encode(charset) for t in raw]
        results = driver.connect(options).run(b"\n$$\n".join(raw), None, False, None)
        answer = {"results": results, "warnings": []}
        report.append({"name": case["name"], "steps": [{"sql": "the whole case", "answer": answer}]})
    return {"driver": args.driver, "cases": report}


if __name__ == "__main__":
    arguments = common.arguments()
    common.emit(run(arguments, Driver(arguments)))
