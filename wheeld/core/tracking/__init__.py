"""From observations to evidence: ball, rotor, pocket, and what they prove together."""
