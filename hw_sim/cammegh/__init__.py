"""Two simulated Cammegh wheel heads, in virtual time: the bytes that a host receives on their ports, and the truth.

Written from the facts about the real wheels (docs/wheels.md). It shares no code with the parser that it tests.

The game (`coups`): coups that end with a number, on a Mercury with its laps; a ball that runs with the rotor; too few
laps; a rotor that stops while the ball runs; a rotor that runs away, past 99.9 rpm, where the speed field shows `000`;
launches that fail and are repeated; a ball that is not detected, for a line or for good; a failing sensor; a table that
closes or locks during a game; a game that the wheel voids. A SlingShot 2 brakes its rotor and reverses it before each
launch.

The electronics (`head`): status every 500 ms or polled, silence after power-on, spin numbers that wrap, the bare number
just before its first status line, bonus lines; replies to commands, `NO` to unknown ones, `OK` to a setting that is
then ignored.

The way to the host (`cable`): lines with bytes missing, with their end missing, or joined to the next; a host that is
blocked and then reads many lines at once; a host that is absent.

`evening_coups` is what a head shows of the ball and the rotor of the simulated wheel.
"""
