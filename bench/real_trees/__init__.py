"""Real and odd source trees, and what is checked of their index."""
