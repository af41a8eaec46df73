"""What may be kept, shown and trusted: secrets leave no trace, and what a component does or orders is checked."""
