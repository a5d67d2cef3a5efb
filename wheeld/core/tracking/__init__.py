"""From observations to evidence: ball, rotor, pocket, and what they prove together.

`observer` takes observations in and emits `evidence`. Its parts are from sensors of our own (`beams`, `rotor`,
`pocket`) or from a wheel head (`head`). `ball` is where the one ball is, `sight` which sensors see, so what an absence
can prove. `run` is what is known of one run of the ball, what the observer asks of its parts, and what ball and rotor
prove together; `forecast` decides nothing.
"""
