"""Learns from use: component usage from the log, statistics, suggested edges, and compaction of the log."""
