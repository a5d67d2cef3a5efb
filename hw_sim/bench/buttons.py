"""The buttons of the bench page. Each has a name, a group, a label and an action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from hw_sim.bench.hand import Hand, Speaker
from hw_sim.words import Say


class Button(NamedTuple):
    """One button. `about` describes its action in a sentence. `press` does the action and returns a text about it."""

    name: str
    group: str
    label: str
    about: str
    press: Callable[[Hand], str]


def buttons(say: Say) -> Mapping[str, Button]:
    """Return the buttons by name, in the order of the page."""

    def says(name: str, by: Speaker, label: str, about: str) -> tuple[str, str, str, Callable[[Hand], str]]:
        return name.replace("_", "-"), label, about, lambda hand: hand.command(name, by, label)

    groups = {
        say("The ball"): (
            ("launch", say("Launch"), say("A good push, against the rotor."), Hand.launch),
            (
                "same-direction",
                say("Launch with the rotor"),
                say("The ball runs in the rotor's own direction (N1)."),
                Hand.launch_with_rotor,
            ),
            ("weak-launch", say("Launch weakly"), say("Too little push for three laps (N3)."), Hand.launch_weakly),
            (
                "take-ball",
                say("Take the ball"),
                say("A hand takes it, even while it runs on the track."),
                Hand.take_ball,
            ),
            (
                "ball-back",
                say("Put the ball back"),
                say("After a void: in the pocket of the last number."),
                Hand.put_ball_back,
            ),
            (
                "second-ball",
                say("Throw in a second ball"),
                say("With two balls there is no number (R3b)."),
                Hand.throw_ball,
            ),
            ("second-ball-out", say("Take the second ball"), say("One ball is left."), Hand.take_second_ball),
        ),
        say("The people"): (
            says("open", "chef", say("Faites vos jeux"), say("Opens the table, or the bets.")),
            says("rien_ne_va_plus", "chef", say("Rien ne va plus"), say("Closes the bets.")),
            (
                "confirm",
                say("Confirm the number"),
                say("When the table waits for it: the number where people saw the ball rest (R3b)."),
                Hand.confirm,
            ),
            says("operations_done", "table", say("Operations done"), say("All is paid: the next coup may begin.")),
            says("rien_va", "chef", say("Rien va"), say("The chef declares the coup void (N7).")),
            says("tout_va", "chef", say("Tout va"), say("Ends the void, when the ball lies in its pocket.")),
            says("suspend", "direction", say("Suspend play"), say("A coup that runs is void (A6).")),
            says("resume", "direction", say("Resume play"), say("Ends a suspension, when the wheel is in order.")),
            says("last_coup", "chef", say("La dernière"), say("The table closes after the next valid coup (A5).")),
            says("close", "direction", say("Close the table"), say("At once: a coup that runs is void (A6).")),
            ("bouler", say("Change the bouler"), say("Another person spins from now on (A4)."), Hand.change_bouler),
        ),
        say("The wheel and its sensors"): (
            ("stop-rotor", say("Stop the rotor"), say("A hand holds it (N4, N5)."), Hand.stop_rotor),
            ("spin-rotor", say("Spin the rotor"), say("A hand pushes it again."), Hand.spin_rotor),
            ("reverse-rotor", say("Reverse the rotor"), say("A hand turns it the other way (A7)."), Hand.reverse_rotor),
            ("chip", say("Drop a chip"), say("It falls in the cylinder (N6)."), Hand.drop_chip),
            ("chip-out", say("Take the chip out"), say("The cylinder is clear again."), Hand.take_chip_out),
            ("unplug", say("Unplug the board"), say("The daemon sees nothing any more (N8)."), Hand.unplug),
            ("plug", say("Plug the board in"), say("The daemon sees again."), Hand.plug),
            (
                "power-off",
                say("Switch the power off"),
                say("Board and daemon stop at once, without an orderly end."),
                Hand.power_off,
            ),
            (
                "power-on",
                say("Switch the power on"),
                say("Both start again, with the data of the journal."),
                Hand.power_on,
            ),
            (
                "noise",
                say("Noise on a beam"),
                say("A beam pulses without a ball: this decides nothing."),
                Hand.make_noise,
            ),
        ),
    }
    return {row[0]: Button(row[0], group, *row[1:]) for group, rows in groups.items() for row in rows}
