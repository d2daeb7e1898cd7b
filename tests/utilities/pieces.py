"""The same optima by others: convex programs and linear programs over fine grids of posteriors."""

import cvxpy
import numpy as np
from scipy.optimize import linprog

from alphalift import AlphaLift, Joint


def uniform(seed, secrets, useful):
    table = np.random.default_rng((seed, secrets, useful)).random((secrets, useful))
    return Joint(table / table.sum())


def best_decisions(joint, region, gains):
    """max sum_a gains_a.q_a over q_a >= 0 in the cone of allowed posteriors with sum_a q_a = P_X, less what is gained without Y."""
    gains = np.asarray(gains, dtype=float)
    q = cvxpy.Variable(gains.shape, nonneg=True)
    constraints = [cvxpy.sum(q, axis=0) == joint.p_x]
    lift, p_s = np.asarray(joint.lift), joint.p_s
    for a in range(len(gains)):
        mass, lifts = cvxpy.sum(q[a]), lift @ q[a]
        if isinstance(region, AlphaLift) and np.isfinite(region.alpha):
            scaled = cvxpy.multiply(p_s ** (1 / region.alpha), lifts)
            constraints.append(cvxpy.norm(scaled, region.alpha) <= np.exp(region.epsilon) * mass)
        elif isinstance(region, AlphaLift):
            constraints.append(lifts <= np.exp(region.epsilon) * mass)
        else:  # KL: sum of relative entropies of P(s, a) from P(s) P(a)
            constraints.append(
                cvxpy.sum(cvxpy.rel_entr(cvxpy.multiply(p_s, lifts), p_s * mass)) <= region.epsilon * mass
            )
    problem = cvxpy.Problem(cvxpy.Maximize(cvxpy.sum(cvxpy.multiply(gains, q))), constraints)
    problem.solve(cvxpy.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return problem.value - float((gains @ joint.p_x).max())


def boundary(joint, region, directions):
    """Where rays from P_X, three symbols and so many directions, leave the simplex or the region, (directions, 3)."""
    angles = np.linspace(0, 2 * np.pi, directions, endpoint=False)
    plane = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    rays = np.cos(angles)[:, None] * plane[0] + np.sin(angles)[:, None] * plane[1]
    with np.errstate(divide="ignore"):
        far = np.where(rays < 0, -joint.p_x / rays, np.inf).min(axis=1)
    near = np.zeros(directions)
    for _ in range(60):
        middle = (near + far) / 2
        points = joint.p_x + middle[:, None] * rays
        inside = (region.value(points @ joint.lift.T, joint.p_s) <= region.budget) & (points >= 0).all(axis=1)
        near, far = np.where(inside, middle, near), np.where(inside, far, middle)
    return np.maximum(joint.p_x + near[:, None] * rays, 0.0)


def best_on_grid(joint, region, uncertainty, directions=3000):
    """The best mixture of posteriors on the boundary, of which there are so many, by a linear program: a mechanism nearly."""
    points = np.vstack([boundary(joint, region, directions), joint.p_x])
    system = np.vstack([points.T])
    result = linprog(uncertainty(points), A_eq=system, b_eq=joint.p_x, method="highs")
    assert result.status == 0
    return float(uncertainty(joint.p_x[None])[0] - result.fun)
