"""The script through mysql-connector-python: `pure` or `c`, text or prepared cursors, as --driver says."""

import io

import mysql.connector
from mysql.connector.constants import ClientFlag

import common


class Driver:
    name = "mysql-connector"

    def __init__(self, args):
        self.args = args
        _, implementation, protocol = args.driver.split(":")
        self.compress = args.compress
        self.pure = implementation == "pure"
        self.prepared = protocol == "prepared"

    def connect(self, options):
        connection = mysql.connector.connect(
            host=self.args.host,
            port=self.args.port,
            user=self.args.user,
            password=self.args.password,
            database=options["schema"],
            charset=options["charset"],
            client_flags=[ClientFlag.FOUND_ROWS if options["found_rows"] else -ClientFlag.FOUND_ROWS],
            allow_local_infile=options["local_infile"],
            autocommit=True,
            use_pure=self.pure,
            connection_timeout=60,
            compress=self.compress,
        )
        if isinstance(connection, mysql.connector.MySQLConnection) != self.pure:
            raise SystemExit("the C extension is missing")
        return Connection(connection, self.prepared)


class Connection:
    def __init__(self, connection, prepared):
        self.connection = connection
        self.prepared = prepared
        self.handles = {}

    def run(self, sql, params, prepared, handle):
        prepared = prepared and self.prepared
        results = []
        cursor = self.connection.cursor(prepared=prepared)
        if prepared and handle:
            # A cursor executes again what it has prepared if it is given the same object.
            kept, sql = self.handles.setdefault(handle, (cursor, sql))
            cursor = kept
        try:
            if params and not prepared:
                sql = sql.replace("?", "%s")
                params = [p.read() if isinstance(p, io.BytesIO) else p for p in params]
            cursor.execute(sql, params or ())
            results.append(outcome(cursor))
            while cursor.nextset():
                results.append(outcome(cursor))
        except mysql.connector.Error as error:
            results.append(common.failure(error))
            if self.connection.unread_result:
                self.connection.consume_results()
        finally:
            if not (prepared and handle):
                cursor.close()
        return results

    def warnings(self):
        cursor = self.connection.cursor()
        cursor.execute("SHOW WARNINGS")
        found = [list(w) for w in cursor.fetchall()]
        cursor.close()
        return found

    def do(self, step, args):
        kind = step["do"]
        if kind == "ping":
            self.connection.ping(reconnect=False)
        elif kind == "use":
            self.connection.cmd_init_db(step["schema"])
        elif kind == "reset":
            self.connection.cmd_reset_connection()
        elif kind == "change_user":
            self.connection.cmd_change_user(args.user, args.password, "shuntyard_script")
        elif kind == "close":
            cursor, _ = self.handles.pop(step["handle"], (None, None))
            if cursor:
                cursor.close()
        else:
            raise NotImplementedError(kind)

    def close(self):
        self.connection.close()


def outcome(cursor):
    if cursor.description is None:
        return {
            "affected": max(cursor.rowcount, 0),
            "insert_id": cursor.lastrowid or 0,
            "info": "",
            "warnings": cursor.warning_count or 0,
        }
    columns = [
        {"name": text(name), "type": kind, "flags": flags or 0, "charset": charset or 0}
        for name, kind, _, _, _, _, _, flags, charset in cursor.description
    ]
    rows = [[common.cell(v) for v in row] for row in cursor.fetchall()]
    return {"columns": columns, "rows": rows, "warnings": cursor.warning_count or 0}


def text(name):
    return name if isinstance(name, str) else name.decode("utf-8", "replace")


if __name__ == "__main__":
    arguments = common.arguments()
    common.emit(common.run(arguments, Driver(arguments)))
