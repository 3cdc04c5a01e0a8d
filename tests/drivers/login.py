"""One login through a Python driver: prints CURRENT_USER(), or the error as `ERROR code (state): text`."""

import argparse
import ssl

parser = argparse.ArgumentParser()
for name in ("driver", "user", "password"):
    parser.add_argument("--" + name, required=True)
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--tls", action="store_true")
parser.add_argument("--plugin")
args = parser.parse_args()


def pymysql():
    import pymysql

    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return pymysql.connect(
        host="127.0.0.1", port=args.port, user=args.user, password=args.password,
        ssl=context if args.tls else None, ssl_disabled=not args.tls, read_timeout=60,
    )


def connector():
    import mysql.connector

    extra = {"auth_plugin": args.plugin} if args.plugin else {}
    return mysql.connector.connect(
        host="127.0.0.1", port=args.port, user=args.user, password=args.password,
        ssl_disabled=not args.tls, use_pure=args.driver == "connector:pure", connection_timeout=60, **extra,
    )


try:
    connection = pymysql() if args.driver == "pymysql" else connector()
    cursor = connection.cursor()
    cursor.execute("SELECT CURRENT_USER()")
    print(cursor.fetchone()[0])
except Exception as error:  # whatever a driver raises is an outcome
    code = getattr(error, "errno", None) or (error.args[0] if error.args else 0)
    print(f"ERROR {code if isinstance(code, int) else 0} ({getattr(error, 'sqlstate', '')}): {error}")
