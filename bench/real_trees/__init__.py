"""Prepares real and odd source trees, and checks the indexes of these trees."""
