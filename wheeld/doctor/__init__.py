"""What a technician needs to align a wheel: signals, learned geometry, findings. All pure but `bench` and
`rewrite`."""
