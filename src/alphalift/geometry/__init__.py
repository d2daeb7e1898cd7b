"""Geometry without privacy words: vertices of polytopes, mixtures of points."""
