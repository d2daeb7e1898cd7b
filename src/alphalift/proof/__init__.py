"""Mechanisms in integers with proofs that anybody can check; `checker` stands alone."""
