"""Real and odd source trees, and the checks of their index."""
