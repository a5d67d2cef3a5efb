"""MQTT 5: one session without a socket (`session`), and the connection that carries it (`client`)."""
