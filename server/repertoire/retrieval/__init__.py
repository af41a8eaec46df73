"""From a question to ranked components and sets: one stage a module, pure functions over values."""
