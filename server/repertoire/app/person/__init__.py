"""What a person decides: mute, forget, correct, give feedback, accept a finding."""
