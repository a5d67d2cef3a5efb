"""Simulates what is around the controller: wheel, ball, people and sensor board, with their faults."""
