"""Makes evidence from observations: about the ball, the rotor and the pocket, and about what they prove together.

`observer` takes observations and emits `evidence`. Its parts use sensors of our own (`beams`, `rotor`, `pocket`) or a
wheel head (`head`). `ball` has the state of the one ball, the structure of a run, the protocols of the observer's
parts, and what ball and rotor prove together. `sight` records which sensors see, and so what an absence can prove.
`forecast` predicts when the ball leaves the track, and decides nothing.
"""
