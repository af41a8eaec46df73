"""Replaces the command line in tests of its start: prints its arguments and its import path."""

import json
import sys

import pebble

sys.stdout.write(json.dumps({"arguments": sys.argv[1:], "weight": pebble.WEIGHT, "python": sys.version_info[:2]}))
