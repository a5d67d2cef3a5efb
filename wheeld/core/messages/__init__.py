"""The messages that a table publishes: payloads, phrases, and the chain of hashes."""
