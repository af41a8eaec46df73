"""Code that runs before the environment exists: it builds and starts it; standard library only, Python 3.9+."""
