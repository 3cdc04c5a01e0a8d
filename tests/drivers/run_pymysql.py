"""The script through PyMySQL."""

import io

import pymysql
from pymysql.constants import CLIENT

import common


class Driver:
    name = "pymysql"

    def __init__(self, args):
        self.args = args

    def connect(self, options):
        flags = CLIENT.FOUND_ROWS if options["found_rows"] else 0
        flags |= CLIENT.MULTI_STATEMENTS if options["multi"] else 0
        connection = pymysql.connect(
            host=self.args.host,
            port=self.args.port,
            user=self.args.user,
            password=self.args.password,
            database=options["schema"],
            charset=options["charset"],
            client_flag=flags,
            local_infile=options["local_infile"],
            autocommit=None,
            max_allowed_packet=64 << 20,
            read_timeout=60,
        )
        return Connection(connection)


class Connection:
    def __init__(self, connection):
        self.connection = connection

    def run(self, sql, params, _prepared, _handle):
        params = params and [p.read() if isinstance(p, io.BytesIO) else p for p in params]
        results = []
        with self.connection.cursor() as cursor:
            try:
                cursor.execute(sql.replace("?", "%s") if params else sql, params)
                results.append(outcome(cursor))
                while cursor.nextset():
                    results.append(outcome(cursor))
            except pymysql.MySQLError as error:
                results.append(common.failure(error))
        return results

    def warnings(self):
        return [list(w) for w in self.connection.show_warnings()]

    def do(self, step, args):
        if step["do"] == "ping":
            self.connection.ping(reconnect=False)
        elif step["do"] == "use":
            self.connection.select_db(step["schema"])
        elif step["do"] == "close":
            pass
        else:
            raise NotImplementedError(step["do"])

    def close(self):
        self.connection.close()


def outcome(cursor):
    result = cursor._result
    if not result.field_count:
        return {
            "affected": result.affected_rows,
            "insert_id": result.insert_id,
            "info": result.message.decode("utf-8", "replace") if result.message else "",
            "warnings": result.warning_count,
            "status": result.server_status,
        }
    columns = [
        {
            "name": f.name,
            "org_name": f.org_name,
            "table": f.table_name,
            "org_table": f.org_table,
            "schema": f.db,
            "type": f.type_code,
            "length": f.length,
            "flags": f.flags,
            "decimals": f.scale,
            "charset": f.charsetnr,
        }
        for f in result.fields
    ]
    rows = [[common.cell(v) for v in row] for row in cursor.fetchall()]
    return {"columns": columns, "rows": rows, "warnings": result.warning_count}


if __name__ == "__main__":
    arguments = common.arguments()
    common.emit(common.run(arguments, Driver(arguments)))
