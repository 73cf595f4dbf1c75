"""Proves a finished hand of Sabacc from a bundle file alone. See README.md."""
