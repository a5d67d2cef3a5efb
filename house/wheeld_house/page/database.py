"""The database as the page uses it: a few connections, each with the role `wheeld_page` and with limits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row

Row: TypeAlias = dict[str, Any]
Made = TypeVar("Made")
_Connection: TypeAlias = psycopg.AsyncConnection[Row]

CONNECTIONS = 4
WAITING_MAX = 100
"""The most queries at one time, including those that wait for a connection. Further queries are refused at once."""
STATEMENT_S_MAX = 5
QUESTION_S_MAX = 10.0
"""The longest time of a query, including the network and the wait for a connection. After this time the query fails."""
OPTIONS = (
    f"-c statement_timeout={STATEMENT_S_MAX}s -c lock_timeout={STATEMENT_S_MAX}s -c default_transaction_read_only=on "
    "-c timezone=UTC -c jit=off"
)
"""Settings of the server for each connection. `jit` is off: to compile a query takes longer than to answer it."""
ROLE = "set role wheeld_page"
"""With this statement, even a user with more rights has only the rights of the page."""
KEEPALIVES: Any = {"keepalives_idle": 5, "keepalives_interval": 5, "keepalives_count": 2, "tcp_user_timeout": 10_000}


class DatabaseError(Exception):
    """The database gave no answer. The text says why, for the log of the service."""


class BusyError(DatabaseError):
    """Too many queries wait already, or the page makes another receipt at this time."""


class PageDatabase:
    """Queries the database. A connection is made when it is first needed, and again after it was lost."""

    def __init__(self, database: str) -> None:
        given = conninfo_to_dict(database)
        options = f"{OPTIONS} {given.get('options') or ''}".strip()
        self._conninfo = make_conninfo(
            database,
            options=options,
            connect_timeout=given.get("connect_timeout", 5),
            application_name=given.get("application_name", "wheeld-house-page"),
        )
        self._idle: list[_Connection] = []
        self._free = asyncio.Semaphore(CONNECTIONS)
        self._waiting = 0
        self._working = asyncio.Lock()

    async def rows(self, statement: str, *values: object) -> list[Row]:
        """Execute the statement, and return all rows. Each statement limits their number itself. Raises
        DatabaseError."""

        async def ask(connection: _Connection) -> list[Row]:
            # The type stubs of psycopg accept a text only if it is a literal, so the statement is given as bytes. The
            # statement has only constants of the program.
            found: list[Row] = await (await connection.execute(statement.encode(), values)).fetchall()
            return found

        return await self._with(ask)

    async def write(self, statement: str, *values: object) -> list[Row]:
        """Execute the statement in a transaction that may write, and return its rows. Raises DatabaseError."""

        async def do(connection: _Connection) -> list[Row]:
            async with connection.transaction():
                await connection.execute("set transaction read write")
                written: list[Row] = await (await connection.execute(statement.encode(), values)).fetchall()
                return written

        return await self._with(do)

    async def work(self, work: Callable[[psycopg.Connection[Any]], Made]) -> Made:
        """Call `work` in a thread, because it takes seconds and makes many queries. While it runs, another call is
        refused. Raises DatabaseError, and what `work` raises."""
        if self._working.locked():
            raise BusyError("the page makes another receipt")

        def connected() -> Made:
            # Nothing can end a thread that waits for the server. So the operating system must notice when the server is
            # gone.
            with psycopg.connect(self._conninfo, autocommit=True, prepare_threshold=None, **KEEPALIVES) as connection:
                connection.execute(ROLE)
                return work(connection)

        async with self._working:
            try:
                return await asyncio.to_thread(connected)
            except psycopg.Error as wrong:
                raise DatabaseError(str(wrong).partition("\n")[0]) from wrong

    async def close(self) -> None:
        """End all connections."""
        while self._idle:
            await self._idle.pop().close()

    async def _with(self, work: Callable[[_Connection], Awaitable[list[Row]]]) -> list[Row]:
        if self._waiting >= WAITING_MAX:
            raise BusyError("too many questions wait for the database")
        self._waiting += 1
        try:
            async with asyncio.timeout(QUESTION_S_MAX), self._free:
                return await self._once(work)
        except TimeoutError:
            raise DatabaseError("the database does not answer") from None
        except psycopg.Error as wrong:
            raise DatabaseError(str(wrong).partition("\n")[0]) from wrong
        finally:
            self._waiting -= 1

    async def _once(self, work: Callable[[_Connection], Awaitable[list[Row]]]) -> list[Row]:
        """Call `work` with a connection. If the connection was lost while it was idle, make a new one and call `work`
        again."""
        is_old = bool(self._idle)
        connection = self._idle.pop() if is_old else await self._connect()
        try:
            found = await work(connection)
        except psycopg.OperationalError:
            was_lost = connection.broken
            await connection.close()
            if not (is_old and was_lost):
                raise
            connection = await self._connect()
            try:
                found = await work(connection)
            except BaseException:
                await connection.close()
                raise
        except BaseException:
            await connection.close()
            raise
        self._idle.append(connection)
        return found

    async def _connect(self) -> _Connection:
        connection: _Connection = await psycopg.AsyncConnection.connect(
            self._conninfo, autocommit=True, prepare_threshold=None, row_factory=dict_row
        )
        try:
            await connection.execute(ROLE)
        except BaseException:
            await connection.close()
            raise
        return connection
