"""The MQTT broker: the connection, the outbox, commands and health."""
