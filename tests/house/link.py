"""A link of the house's network that can be cut: `python -m tests.house.link LISTEN TARGET`, both ports on loopback.

It is a process that hands on what comes. Stopped by a signal it hands nothing on, and neither end notices: a cut cable.
"""

from __future__ import annotations

import asyncio
import sys

CHUNK_BYTES = 65_536


async def _hand_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
    except OSError:
        return
    finally:
        writer.close()


async def serve(listen: int, target: int) -> None:
    """Until it is killed."""

    async def took(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_hand_on(reader, far_writer), _hand_on(far_reader, writer))

    async with await asyncio.start_server(took, "127.0.0.1", listen) as server:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2])))
