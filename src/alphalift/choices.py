"""What people choose by name, for whoever has to know the choices without loading what acts on them."""

from __future__ import annotations

from typing import Literal

# How ids leave with a release: as pseudonyms under the key, as they are, or not at all.
ShownIds = Literal["pseudonym", "real", "none"]
# Who a release is about, unless it says so.
ONE_NAMESPACE = "default"
