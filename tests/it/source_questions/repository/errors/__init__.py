"""Error handling: one handler for each part of the shop."""
