# SPDX-License-Identifier: MIT
"""The Universal Scalability Law (Gunther 1993): X(N) = X(1) N / (1 + sigma (N - 1) + kappa N (N -
1)).

sigma is contention, what only one thread at a time can do; kappa is coherency, what each thread
owes to each other. Measured over predicted throughput is linear in both, so least squares on its
distance from one is an exact solution; neither can be negative."""
import math
from dataclasses import dataclass


@dataclass
class Law:
    single: float  # X(1), as measured
    sigma: float
    kappa: float
    error: float  # root mean square of measured over predicted, less one
    counts: list  # the numbers of threads it was fitted to

    def at(self, n):
        return self.single * n / (1 + self.sigma * (n - 1) + self.kappa * n * (n - 1))

    @property
    def peak(self):
        """The number of threads beyond which more of them do less; None: there is none."""
        return math.sqrt(max(1 - self.sigma, 0) / self.kappa) if self.kappa > 1e-9 else None


def least_squares(rows):
    """(sigma, kappa) >= 0 that bring a + sigma * b + kappa * c nearest to zero."""
    bb = sum(b * b for _, b, _ in rows)
    bc = sum(b * c for _, b, c in rows)
    cc = sum(c * c for _, _, c in rows)
    ab = -sum(a * b for a, b, _ in rows)
    ac = -sum(a * c for a, _, c in rows)
    determinant = bb * cc - bc * bc
    corners = [(0.0, 0.0), (max(ab / bb, 0.0), 0.0), (0.0, max(ac / cc, 0.0))]
    if determinant > 1e-12 * bb * cc:
        inside = (ab * cc - ac * bc) / determinant, (ac * bb - ab * bc) / determinant
        if min(inside) >= 0:
            corners.append(inside)
    return min(corners, key=lambda s: sum((a + s[0] * b + s[1] * c) ** 2 for a, b, c in rows))


def fit(points):
    """A Law from (threads, throughput), or None: one thread and two other counts are the least that
    say anything about two unknowns."""
    points = sorted(points)
    if len({n for n, _ in points}) < 3 or points[0][0] != 1:
        return None
    single = points[0][1]
    rows = [
        (x / (single * n) - 1, (n - 1) * x / (single * n), (n - 1) * x / single)
        for n, x in points[1:]
    ]
    sigma, kappa = least_squares(rows)
    residuals = [a + sigma * b + kappa * c for a, b, c in rows]
    return Law(
        single,
        sigma,
        kappa,
        math.sqrt(sum(r * r for r in residuals) / len(residuals)),
        [n for n, _ in points],
    )
