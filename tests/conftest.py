"""Property tests find the same examples in every run of `tools/check`; `tools/check search` looks for new ones."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A newcomer's second command must not depend on luck, nor on how busy the machine is.
settings.register_profile("check", derandomize=True, deadline=None, database=None, max_examples=50)
settings.register_profile("search", max_examples=2_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("check")
