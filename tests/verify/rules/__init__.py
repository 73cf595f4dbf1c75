"""The rules of the eight games, written from their text alone."""
