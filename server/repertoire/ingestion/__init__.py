"""From files to components and edges: what a file is, what it says, how files hang together. Rules only, no I/O."""
