"""Two simulated Cammegh wheel heads, in virtual time: what a host hears on their ports, and the truth beside it.

Written from the facts about the real wheels (design/wheels.md) and sharing no code with the parser that it tests.

What the wheels do (`coups`): coups that end with a number, on a Mercury with its laps; a ball with the rotor; too few
laps; a rotor that stops under the ball; one that runs away, past 99.9 rpm where the speed field shows `000`; launches
that fail and are tried again; a ball that is not detected, for a line or for good; a failing sensor; a table that
closes or locks in mid-game; a game that the wheel voids. A SlingShot 2 brakes its rotor and turns it round before each
launch.

What their electronics do (`head`): status every 500 ms or polled, silence after power-on, spin numbers that wrap, the
bare number just before its first status line, bonus lines; replies to commands, `NO` to unknown ones, OK to a setting
that is then ignored.

What happens on the way (`cable`): lines torn, merged, or with an end missing; a host held up, that then reads many
lines at once; a host that is not there.
"""
