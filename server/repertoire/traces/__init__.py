"""Rules of traces: what stays of an error on another machine."""
