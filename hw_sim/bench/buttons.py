"""The buttons of the bench page: for each its name, its group, what stands on it, what it does. The texts are English;
`hw_sim.words` translates them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from hw_sim.bench.hand import Hand, Speaker

Group: TypeAlias = Literal["The ball", "The people", "The wheel and its sensors"]
Press: TypeAlias = Callable[[Hand], str]


class Button(NamedTuple):
    """One button. `about`: what it does, in a sentence. `press` does it, and returns what was done."""

    name: str
    group: Group
    label: str
    about: str
    press: Press


def _says(name: str, by: Speaker, label: str, about: str) -> Button:
    return Button(name.replace("_", "-"), "The people", label, about, lambda hand: hand.command(name, by, label))


_ALL = (
    Button("launch", "The ball", "Launch", "A good push, against the rotor.", Hand.launch),
    Button(
        "same-direction",
        "The ball",
        "Launch with the rotor",
        "The ball runs in the rotor's own direction (N1).",
        Hand.launch_with_rotor,
    ),
    Button("weak-launch", "The ball", "Launch weakly", "Too little push for three laps (N3).", Hand.launch_weakly),
    Button("take-ball", "The ball", "Take the ball", "A hand takes it, even off the track.", Hand.take_ball),
    Button(
        "ball-back",
        "The ball",
        "Put the ball back",
        "After a void: in the pocket of the last number.",
        Hand.put_ball_back,
    ),
    Button("second-ball", "The ball", "Throw in a second ball", "Two balls are no number (R3b).", Hand.throw_ball),
    Button("second-ball-out", "The ball", "Take the second ball", "One ball is left.", Hand.take_second_ball),
    _says("open", "chef", "Faites vos jeux", "Opens the table, or the bets."),
    _says("rien_ne_va_plus", "chef", "Rien ne va plus", "Closes the bets."),
    Button(
        "confirm",
        "The people",
        "Confirm the number",
        "When it awaits the chef: where the ball was seen to rest (R3b).",
        Hand.confirm,
    ),
    _says("operations_done", "table", "Operations done", "All is paid: the next coup may begin."),
    _says("rien_va", "chef", "Rien va", "The chef declares the coup void (N7)."),
    _says("tout_va", "chef", "Tout va", "After a void, when the ball lies in its pocket."),
    _says("suspend", "direction", "Suspend play", "A coup that runs is void (A6)."),
    _says("resume", "direction", "Resume play", "After a breakdown, when the wheel is in order."),
    _says("last_coup", "chef", "La dernière", "The table closes after the next valid coup (A5)."),
    _says("close", "direction", "Close the table", "At once: a coup that runs is void (A6)."),
    Button("bouler", "The people", "Change the bouler", "Another person spins from now on (A4).", Hand.change_bouler),
    Button("stop-rotor", "The wheel and its sensors", "Stop the rotor", "A hand holds it (N4, N5).", Hand.stop_rotor),
    Button("spin-rotor", "The wheel and its sensors", "Spin the rotor", "A hand pushes it again.", Hand.spin_rotor),
    Button(
        "reverse-rotor",
        "The wheel and its sensors",
        "Reverse the rotor",
        "A hand turns it the other way (A7).",
        Hand.reverse_rotor,
    ),
    Button("chip", "The wheel and its sensors", "Drop a chip", "It falls in the cylinder (N6).", Hand.drop_chip),
    Button(
        "chip-out", "The wheel and its sensors", "Take the chip out", "The cylinder is clear again.", Hand.take_chip_out
    ),
    Button(
        "unplug", "The wheel and its sensors", "Unplug the board", "The daemon sees nothing any more (N8).", Hand.unplug
    ),
    Button("plug", "The wheel and its sensors", "Plug the board in", "The daemon sees again.", Hand.plug),
    Button(
        "power-off",
        "The wheel and its sensors",
        "Switch the power off",
        "Board and daemon stop at once, without an orderly end.",
        Hand.power_off,
    ),
    Button(
        "power-on",
        "The wheel and its sensors",
        "Switch the power on",
        "Both start anew, with what the journal has.",
        Hand.power_on,
    ),
    Button(
        "noise",
        "The wheel and its sensors",
        "Noise on a beam",
        "A beam pulses and no ball is there: nothing is decided by that.",
        Hand.make_noise,
    ),
)
BUTTONS: Mapping[str, Button] = {button.name: button for button in _ALL}
"""In the order of the page."""
