"""`status`, `mute` and `forget`: what a person sees and decides."""
