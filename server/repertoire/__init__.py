"""Repertoire: recommends the smallest set of Claude Code components that fits the task, and learns."""

import os

# ONNX Runtime 1.29 and newer writes an identifier and sends events to its maker, unless told not to before its import.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

__version__ = "0.1.0"  # tests hold it equal to the manifests
