"""Holds the verbs of Repertoire by subject; each gets the opened home of `kernel`, which `wiring` alone builds."""
