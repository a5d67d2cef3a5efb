"""Sets up a wheel on this computer: questions and answers, a plan of steps, and its execution."""
