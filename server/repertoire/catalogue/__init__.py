"""The starter catalogue: what an empty machine answers from, and the vocabulary that names capabilities."""
