"""Makes the Debian packages: `make deb` (docs/install.md)."""
