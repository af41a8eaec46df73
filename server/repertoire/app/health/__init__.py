"""Tells what is wrong with home, client and components, and mends what can be mended."""
