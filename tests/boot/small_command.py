"""Stands for the command line in the tests of what starts it: prints what it was given and what it sees."""

import json
import sys

import pebble

sys.stdout.write(json.dumps({"arguments": sys.argv[1:], "weight": pebble.WEIGHT, "python": sys.version_info[:2]}))
