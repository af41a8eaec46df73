"""What runs before there is an environment: standard library only, Python 3.9+."""
