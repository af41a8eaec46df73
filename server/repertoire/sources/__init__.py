"""Where components come from: folders, git repositories, what Claude Code has on this machine; nothing is executed."""
