"""The strategies: one module for each kind of file that components are read from."""
