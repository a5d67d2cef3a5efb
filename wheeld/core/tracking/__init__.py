"""From observations to evidence: ball, rotor, pocket, and what they prove together.

`observer` takes observations in and emits evidence (`evidence`). Its parts (`parts` says what they answer) are from
sensors of our own (`beams` over the readings of `ball` and `passes`, `rotor`, `pocket`) or from a wheel head
(`head_parts`, `head_rotor`); `head_game` follows a head's games. `run` is what is known of one run of the ball;
`conclusions` is what ball and rotor prove together; `forecast` and `margin` decide nothing.
"""
