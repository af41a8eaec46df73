"""What use has taught: memory, statistics, review, a bounded log."""
