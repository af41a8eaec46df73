"""The starter catalogue: public components from which an empty machine answers, and the vocabulary of capabilities."""
