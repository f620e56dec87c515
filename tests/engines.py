"""Databases that tests run statements in: DuckDB, SQLite, and a PostgreSQL server that is thrown away."""

import atexit
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest

ENGINES = ("duckdb", "sqlite", "postgres")
REAL = {"duckdb": "DOUBLE", "sqlite": "REAL", "postgres": "DOUBLE PRECISION"}


def query(engine, text, columns, kinds=None):
    """The statement's rows in the order of a key "id", for a table "rows" with the key and some columns."""
    kinds = kinds or {}
    names = ['"id" INTEGER'] + [
        '"' + name.replace('"', '""') + f'" {kinds.get(name, REAL[engine])}' for name in columns
    ]
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    rows = [[n, *row] for n, row in enumerate(rows)]
    create = f'CREATE TEMPORARY TABLE "rows" ({", ".join(names)})'
    ordered = f'SELECT * FROM ({text}) AS answer ORDER BY "id"'
    if engine == "postgres":
        return _ask_postgres(create, rows, ordered)
    connection = _connect(engine)
    try:
        connection.execute(create)
        connection.executemany(f'INSERT INTO "rows" VALUES ({", ".join("?" * len(names))})', rows)
        return connection.execute(ordered).fetchall()
    finally:
        connection.close()


def skip_without(engine, basis="gaussian_rbf"):
    """Skip a test if the engine is not there, or cannot compute a basis."""
    if engine == "postgres":
        _server()
    elif engine == "sqlite" and basis != "simplex":
        try:
            with closing(_connect(engine)) as connection:
                connection.execute("SELECT exp(0.0)")
        except sqlite3.OperationalError:
            pytest.skip("this Python's SQLite is built without mathematical functions")


def _connect(engine):
    if engine == "sqlite":
        return sqlite3.connect(":memory:")
    return pytest.importorskip("duckdb").connect()


def _ask_postgres(create, rows, text):
    data = "\n".join(",".join(map(_cell, row)) for row in rows)
    script = (
        f"SET client_min_messages = error;\nSET jit = off;\n{create};\n"
        f"COPY pg_temp.\"rows\" FROM STDIN (FORMAT csv, NULL '\\N');\n{data}\n\\.\n"
        f"SELECT json_agg(answer) FROM ({text}) AS answer;\n"
    )
    return [tuple(row.values()) for row in json.loads(run_psql(script)) or []]


def _cell(value):
    if value is None:
        return "\\N"
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else str(value)


def run_psql(script):
    """What a script prints on the server."""
    command = [_program("psql"), "-h", _server(), "-U", "postgres", "-XqAt", "-v", "ON_ERROR_STOP=1"]
    environment = {**os.environ, "PGCLIENTENCODING": "UTF8"}
    done = subprocess.run(command, input=script, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[:2000]
    return done.stdout


def _program(name):
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(places[-1]) if places else None)


@cache
def _server():
    """The folder of the socket of a server of its own."""
    if None in map(_program, ("initdb", "pg_ctl", "psql")):
        pytest.skip("there is no PostgreSQL (initdb, pg_ctl, psql) on this machine")
    folder = tempfile.mkdtemp(prefix="sleek_postgres_")
    if os.getuid() == 0:  # which PostgreSQL refuses to be
        try:
            shutil.chown(folder, "postgres")
        except LookupError:
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres")

    def run(program, *words):
        command = [_program(program), "-D", f"{folder}/data", *words]
        user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}
        with open(f"{folder}/said", "w") as said:
            subprocess.run(command, stdout=said, stderr=said, check=True, cwd=folder, timeout=120, **user)

    run("initdb", "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--no-locale")
    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
    run("pg_ctl", "-w", "-l", f"{folder}/log", "-o", options, "start")

    def stop():
        run("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return folder
