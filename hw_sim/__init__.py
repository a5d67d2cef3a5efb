"""A world for the controller to run against: wheel, ball, people, sensor board, with their faults."""
