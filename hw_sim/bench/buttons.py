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
    ball, people, wheel = say("The ball"), say("The people"), say("The wheel and its sensors")

    def says(name: str, by: Speaker, label: str, about: str) -> Button:
        return Button(name.replace("_", "-"), people, label, about, lambda hand: hand.command(name, by, label))

    of_page = (
        Button("launch", ball, say("Launch"), say("A good push, against the rotor."), Hand.launch),
        Button(
            "same-direction",
            ball,
            say("Launch with the rotor"),
            say("The ball runs in the rotor's own direction (N1)."),
            Hand.launch_with_rotor,
        ),
        Button(
            "weak-launch", ball, say("Launch weakly"), say("Too little push for three laps (N3)."), Hand.launch_weakly
        ),
        Button(
            "take-ball",
            ball,
            say("Take the ball"),
            say("A hand takes it, even while it runs on the track."),
            Hand.take_ball,
        ),
        Button(
            "ball-back",
            ball,
            say("Put the ball back"),
            say("After a void: in the pocket of the last number."),
            Hand.put_ball_back,
        ),
        Button(
            "second-ball",
            ball,
            say("Throw in a second ball"),
            say("With two balls there is no number (R3b)."),
            Hand.throw_ball,
        ),
        Button("second-ball-out", ball, say("Take the second ball"), say("One ball is left."), Hand.take_second_ball),
        says("open", "chef", say("Faites vos jeux"), say("Opens the table, or the bets.")),
        says("rien_ne_va_plus", "chef", say("Rien ne va plus"), say("Closes the bets.")),
        Button(
            "confirm",
            people,
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
        Button(
            "bouler",
            people,
            say("Change the bouler"),
            say("Another person spins from now on (A4)."),
            Hand.change_bouler,
        ),
        Button("stop-rotor", wheel, say("Stop the rotor"), say("A hand holds it (N4, N5)."), Hand.stop_rotor),
        Button("spin-rotor", wheel, say("Spin the rotor"), say("A hand pushes it again."), Hand.spin_rotor),
        Button(
            "reverse-rotor",
            wheel,
            say("Reverse the rotor"),
            say("A hand turns it the other way (A7)."),
            Hand.reverse_rotor,
        ),
        Button("chip", wheel, say("Drop a chip"), say("It falls in the cylinder (N6)."), Hand.drop_chip),
        Button("chip-out", wheel, say("Take the chip out"), say("The cylinder is clear again."), Hand.take_chip_out),
        Button("unplug", wheel, say("Unplug the board"), say("The daemon sees nothing any more (N8)."), Hand.unplug),
        Button("plug", wheel, say("Plug the board in"), say("The daemon sees again."), Hand.plug),
        Button(
            "power-off",
            wheel,
            say("Switch the power off"),
            say("Board and daemon stop at once, without an orderly end."),
            Hand.power_off,
        ),
        Button(
            "power-on",
            wheel,
            say("Switch the power on"),
            say("Both start again, with the data of the journal."),
            Hand.power_on,
        ),
        Button(
            "noise",
            wheel,
            say("Noise on a beam"),
            say("A beam pulses without a ball: this decides nothing."),
            Hand.make_noise,
        ),
    )
    return {button.name: button for button in of_page}
