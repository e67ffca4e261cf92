"""Pages are followed with what stories with the real CLI start from."""

from __future__ import annotations

from tests.e2e.conftest import api, bare, checkout, cli, net

__all__ = ["api", "bare", "checkout", "cli", "net"]
