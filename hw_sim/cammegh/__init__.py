"""Two simulated Cammegh wheel heads, in virtual time: the bytes that a host receives on their ports, and the truth.

They follow the facts about the real wheels (docs/wheels.md), and share no code with the parser that they test.

The game (`coups`) has coups that end with a number. A Mercury also reports the laps. In other coups the ball runs with
the rotor, or runs too few laps, or the rotor stops while the ball runs. Or the rotor is faster than 99.9 rpm, for which
the speed field shows `000`. A launch may fail and be repeated. The wheel may not detect the ball, for one line or until
the game ends. A sensor may fail, the table may be closed or locked during the game, and the wheel may void the game. A
SlingShot 2 brakes and reverses its rotor before each launch.

The electronics (`head`) are silent after power-on. Then they send the status every 500 ms or on request, the bare
number just before the first status line with this number, and bonus lines. After the highest spin number comes 1. They
reply to commands, with `NO` to unknown commands. They may reply `OK` to a setting and then ignore it.

The cable to the host (`cable`) loses bytes of a line. If it loses the end of a line, the next line follows without a
break. A host may be blocked and then read many lines at once, or be absent.
"""
