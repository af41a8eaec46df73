"""What may be kept and what may be shown: secrets leave no trace, hidden text and orders reach no model."""
