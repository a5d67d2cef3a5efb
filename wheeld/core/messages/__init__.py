"""What is said of a verdict: payloads, phrases, and the chain of hashes."""
