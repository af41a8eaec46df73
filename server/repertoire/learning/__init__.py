"""Learns from the event log: selections, outcomes, acceptance, lift and ignored hints. Pure functions over events."""
