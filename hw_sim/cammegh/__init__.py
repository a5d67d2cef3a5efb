"""Two simulated Cammegh wheel heads, in virtual time: the bytes that a host receives on their ports, and the truth.

Written from the facts about the real wheels (docs/wheels.md). It shares no code with the parser that it tests.

The game (`coups`) has coups that end with a number, with the laps on a Mercury. It also has a ball that runs with the
rotor, too few laps, a rotor that stops while the ball runs, and a rotor that speeds up past 99.9 rpm, for which the
speed field shows `000`. Launches fail and are repeated. A ball is not detected for one line, or until the game ends. A
sensor fails, a table closes or locks during a game, and the wheel voids a game. A SlingShot 2 brakes and reverses its
rotor before each launch.

The electronics (`head`) are silent after power-on. Then they send the status every 500 ms or on request, with spin
numbers that wrap, the bare number just before its first status line, and bonus lines. They reply to commands, with `NO`
to unknown ones. They may reply `OK` to a setting and then ignore it.

The cable to the host (`cable`) loses bytes of a line, or the end of a line, which joins it to the next. A host may be
blocked and then read many lines at once, or be absent.
"""
