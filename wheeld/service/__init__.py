"""The service around the daemon: systemd, watchdog, clocks and logs."""
