"""Geometry without privacy words: vertices of polytopes, mixtures of points, minima of separable concave functions."""
