"""From observations to evidence: the ball, the rotor, the pocket, and what they prove together.

`observer` takes observations and emits `evidence`. Its parts use sensors of our own (`beams`, `rotor`, `pocket`) or a
wheel head (`head`). `ball` has the state of the one ball, the structure of a run, what the observer asks of its parts,
and what ball and rotor prove together. `sight` records which sensors see, and so what an absence can prove. `forecast`
decides nothing.
"""
