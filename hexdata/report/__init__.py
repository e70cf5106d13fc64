"""One self-contained HTML page a campaign: what was made, how good it is, and how sure we are of every figure.

The page needs no script, no network and no other file; the same figures give the same bytes.
"""

from hexdata.report.page import build_report

__all__ = ["build_report"]
