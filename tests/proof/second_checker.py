"""A second checker of mechanism files, written from the mathematics and sharing no code with the first.

Numbers of the file are fractions. Logarithms are mpmath's intervals, and a claim is proven only where intervals are
apart. Promises are compared as logarithms, or as fractions where they have no logarithm; the support function of local
differential privacy is found in fractions by Dinkelbach's iteration; information is a sum of P(x, y) log(P(y|x) /
P(y)), and the tree is walked with a stack of rational boxes: where both checkers agree, they do so on different ways.
"""

import hashlib
import itertools
import json
import re
from fractions import Fraction
from functools import cache

from mpmath import iv
from mpmath.libmp import to_rational

PRECISIONS = 320, 2560
KEYS = {
    1: "bits certificate claims format identity joint labels promise provenance unseen version weights",
    2: "after bits certificate claims format identity joint labels promise provenance table unseen version weights",
}
KEYS[3] = KEYS[2]
KEYS[4] = KEYS[2].replace("unseen", "unseen utility")
KEYS[5] = KEYS[4].replace("labels", "labels margin")
# What a certificate of a kind has beside bits, kind and prices.
CERTIFICATES = {"tree": ["duals", "tree"], "pairs": ["ends"], "local": ["duals", "groups", "tree"]}
OF_PIECES = {"actions": ["duals"], "squares": ["duals", "tree"]}


def parse(content):
    """Bytes to values; ValueError for what is not integers, texts, lists and objects with single keys."""
    try:
        return json.loads(
            content.decode("utf-8"), object_pairs_hook=_single, parse_float=_refuse, parse_constant=_refuse
        )
    except RecursionError:
        raise ValueError("too deep") from None


def _single(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def _refuse(text):
    raise ValueError(f"{text[:20]} is no integer")


def sealed(value):
    text = json.dumps(value, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def identity(document):
    names = document["labels"]
    return sealed([names["s"], names["x"], names["y"], document["bits"], document["weights"], document["unseen"]])


def verdicts(document, opening=None):
    """Claim -> whether it is proven; a file of the wrong form has only that claim."""
    try:
        problem = Problem(document, opening)
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"form": False}
    claims = ["promise", *(["unseen values"] if problem.unseen is not None else [])]
    claims += ["utility", "optimum"] if problem.worth is not None else []
    claims += ["margin"] if problem.margin is not None else []
    claims += ["optimum with margin"] if problem.margin is not None and problem.worth is not None else []
    result = {"form": True}
    for claim in claims:
        result[claim] = problem.counts is not None and _decided(getattr(problem, claim.replace(" ", "_") + "_holds"))
    return result


class _UndecidedError(Exception):
    """Intervals overlap."""


def _decided(holds):
    for iv.prec in PRECISIONS:
        try:
            return holds() is True
        except _UndecidedError:
            continue
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, ZeroDivisionError):
            break
    return False


def _need(condition):
    if condition is not True:
        raise ValueError("not as it must be")


def _is_integer(value, least=0):
    return type(value) is int and (least is None or value >= least)


def _row(value, size, least=0):
    _need(type(value) is list and len(value) == size and all(_is_integer(entry, least) for entry in value))
    return value


def _filled(row, size):
    """All weights of a row that lists symbols and their weights."""
    _need(type(row) is list and len(row) % 2 == 0)
    whole = [0] * size
    last = -1
    for place in range(0, len(row), 2):
        x, weight = row[place : place + 2]
        _need(_is_integer(x) and last < x < size and _is_integer(weight, 1))
        whole[x], last = weight, x
    return whole


def _decimal(text):
    _need(type(text) is str and re.fullmatch("[0-9]{1,30}([.][0-9]{1,400})?", text) is not None)
    return Fraction(text)


def interval(value):
    value = Fraction(value)
    return iv.mpf(value.numerator) / iv.mpf(value.denominator)


def at_least_zero(value):
    """Whether a fraction or an interval is 0 or more."""
    if isinstance(value, Fraction | int):
        return value >= 0
    if value.a >= 0 or value.b < 0:
        return bool(value.a >= 0)
    raise _UndecidedError


def log(value):
    return iv.log(interval(value))


def mean(p_s, values):
    return sum(map(Fraction.__mul__, p_s, values), Fraction(0))


def phi(value):
    """-v log v."""
    return -interval(value) * iv.log(interval(value)) if value else iv.mpf(0)


class Information:
    """I(X;Y): the mean of t log t, and of -v log v; what a symbol's share of X is does not matter."""

    def of_ratio(self, t):
        return -phi(t)

    def curve(self, share, v):
        """What h(V) has of a symbol with this share of X, at V_x = v."""
        return phi(v)


class Divergences:
    """The mean of f(t), f by its definition, and what files say phi_x is."""

    def __init__(self, f, curve):
        self.f, self.phi = f, curve

    def of_ratio(self, t):
        return self.f(t)

    def curve(self, share, v):
        return self.phi(share, v) if v else iv.mpf(0)


def _two_logs(t):
    """t log(2t / (1 + t)) + log(2 / (1 + t)), halved."""
    return (-phi(t) + interval(1 + t) * log(2 / (1 + t))) / 2


DIVERGENCES = {
    "kl": Divergences(lambda t: -phi(t), lambda p, v: phi(v) + interval(v) * log(p)),
    "chi_square": Divergences(lambda t: interval((t - 1) ** 2), lambda p, v: interval(-(v**2) / p)),
    "total_variation": Divergences(lambda t: interval(abs(t - 1) / 2), lambda p, v: interval(v if v < p else p)),
    "hellinger": Divergences(lambda t: (1 - iv.sqrt(interval(t))) ** 2, lambda p, v: iv.sqrt(interval(4 * p * v))),
    "jensen_shannon": Divergences(
        _two_logs, lambda p, v: (interval(v) * log((v + p) / v) + interval(p) * log((p + v) / p)) / 2
    ),
    "le_cam": Divergences(lambda t: interval((t - 1) ** 2 / (2 * t + 2)), lambda p, v: interval(2 / (1 / p + 1 / v))),
}


class Choice:
    """-h(V) is what the best action gains on average, less what knowing x gains: everything in exact fractions."""

    kind = "actions"

    def __init__(self, gains):
        self.gains = gains

    def mean_gain(self, masses):
        """The best action's, of masses that need not sum to 1."""
        return max(sum(map(Fraction.__mul__, row, masses)) for row in self.gains)

    def known(self, masses):
        """What knowing X gains."""
        return sum(mass * max(row[x] for row in self.gains) for x, mass in enumerate(masses))

    def lost(self, masses):
        return self.known(masses) - self.mean_gain(masses)

    def pieces(self, problem):
        _need(len(problem.certificate["duals"]) == len(self.gains))
        for number, row in enumerate(self.gains):
            yield number, [max(own[x] for own in self.gains) - gain for x, gain in enumerate(row)]


class Spread:
    """The variance that is left: over pairs of values, half the mean squared distance."""

    kind = "squares"

    def __init__(self, points):
        self.points = points

    def lost(self, masses):
        total = sum(masses)
        result = Fraction(0)
        for x, one in enumerate(self.points):
            for z in range(x):
                distance = sum((a - b) ** 2 for a, b in zip(one, self.points[z], strict=True))
                result += masses[x] * masses[z] * distance
        return result / total

    def pieces(self, problem):
        nodes = iter(problem.nodes_of("tree"))
        ends = [(min(column), max(column)) for column in zip(*self.points, strict=True)]
        yield from self.below(problem, nodes, [(0, problem.unit)] * len(ends), ends)
        _need(next(nodes, None) is None)

    def below(self, problem, nodes, box, ends):
        node = next(nodes, None)
        _need(node is not None)
        if len(node) == 1:
            places = [
                [low + (high - low) * Fraction(end, problem.unit) for end in own]
                for own, (low, high) in zip(box, ends, strict=True)
            ]
            yield (
                node[0],
                [
                    sum((own - a) * (own - b) for own, (a, b) in zip(point, places, strict=True))
                    for point in self.points
                ],
            )
            return
        k, place = node
        low, high = box[k]
        _need(low <= place <= high)
        for part in ((low, place), (place, high)):
            yield from self.below(problem, nodes, [*box[:k], part, *box[k + 1 :]], ends)


def _number(text):
    _need(type(text) is str and re.fullmatch("-?[0-9]{1,400}([.][0-9]{1,400})?", text) is not None)
    return Fraction(text)


def _numbers(rows, width=None):
    _need(type(rows) is list and len(rows) > 0 and all(type(row) is list for row in rows))
    width = len(rows[0]) if width is None else width
    _need(width > 0 and all(len(row) == width for row in rows))
    return [[_number(entry) for entry in row] for row in rows]


def worth_of(value, symbols):
    """The utility that a file states; none if it states none."""
    if value is None:
        return None
    others = sorted(set(value) - {"name"})
    if value["name"] == "MutualInformation":
        _need(others == [])
        return Information()
    if value["name"] == "FInformation":
        _need(others == ["f"] and type(value["f"]) is str and value["f"] in DIVERGENCES)
        return DIVERGENCES[value["f"]]
    if value["name"] == "GuessingAccuracy":
        _need(others == [])
        return Choice([[Fraction(int(x == guess)) for x in range(symbols)] for guess in range(symbols)])
    if value["name"] == "Decision":
        _need(others == ["actions", "gains"])
        names, gains = value["actions"], _numbers(value["gains"], symbols)
        _need(type(names) is list and len({*names}) == len(names) == len(gains))
        _need(all(type(name) is str for name in names))
        return Choice(gains)
    _need(value["name"] == "SquaredError" and others == ["values"])
    _need(type(value["values"]) is list and len(value["values"]) == symbols)
    return Spread(_numbers(value["values"]))


@cache
def _curve(worth, share, value, precision):
    return worth.curve(share, value)


@cache
def _place(value, precision):
    return interval(value)


def _holds(box):
    """Whether there is a distribution in it."""
    return all(low <= high for low, high in box) and sum(b[0] for b in box) <= 1 <= sum(b[1] for b in box)


class Promise:
    """A set of lifts, none of whose numbers is 0.

    `slacks` are numbers that are all 0 or more exactly if the lifts are allowed, and all above 0 exactly inside; rho is
    above 0 and its slacks are 0 or more only if an unseen value answered with y keeps the promise. `support` is no less
    than E[w l] for any allowed l and takes the dual's entries after w as `extra`.
    """

    extra = 0

    def stops(self, p_s, lifts):
        """Whether these lifts, all above 0, are not inside."""
        return any(at_least_zero(-slack) for slack in self.slacks(p_s, lifts))


class Norm(Promise):
    """log E l^alpha at most `bound`; without alpha, log max l."""

    def __init__(self, alpha, bound):
        self.alpha, self.bound = alpha, bound

    def slacks(self, p_s, lifts):
        if self.alpha is None:
            return [interval(self.bound) - log(max(lifts))]
        terms = [
            interval(p) * iv.exp(interval(self.alpha) * log(own)) for p, own in zip(p_s, lifts, strict=True) if own
        ]
        return [interval(self.bound) - iv.log(sum(terms, iv.mpf(0)))]

    def slacks_unseen(self, rho, lifts):
        """By Jensen's inequality a mixture of seen and unseen records has at most the value that is tested here."""
        if self.alpha is None:
            return [interval(self.bound) - log(max(rho, max(lifts) / min(rho, 1)))]
        # Bernoulli: the mixture's P(y)^alpha grows at least as 1 + alpha (rho - 1)
        growth = 1 + self.alpha * (rho - 1)
        return [interval(self.bound) + log(growth) - interval(self.alpha) * log(rho)] if growth > 0 else [-1]

    def support(self, p_s, w):
        """Hoelder: E[w l] is at most the conjugate norm of w's positive part times the norm of l."""
        power = Fraction(1) if self.alpha is None else self.alpha / (self.alpha - 1)
        terms = [interval(p) * iv.exp(interval(power) * log(own)) for p, own in zip(p_s, w, strict=True) if own > 0]
        norm = self.bound / (self.alpha or 1)
        return iv.exp(interval(norm) + iv.log(sum(terms)) / interval(power)) if terms else Fraction(0)


class Between(Promise):
    """-lower <= log l <= upper."""

    def __init__(self, lower, upper):
        self.lower, self.upper = lower, upper

    def slacks(self, p_s, lifts):
        return self._within(min(lifts), max(lifts))

    def slacks_unseen(self, rho, lifts):
        """A mixture's lift lies between l and rho, over something between 1 and rho."""
        return self._within(min(rho, min(lifts) / max(1, rho)), max(rho, max(lifts) / min(1, rho)))

    def _within(self, least, most):
        return [interval(self.upper) - log(most), interval(self.lower) + log(least) if least > 0 else -1]

    def support(self, p_s, w):
        """The most of every term: the sign of w says at which end."""
        gained = interval(mean(p_s, [max(own, Fraction(0)) for own in w])) * iv.exp(interval(self.upper))
        return gained + interval(mean(p_s, [min(own, Fraction(0)) for own in w])) / iv.exp(interval(self.lower))


class Ratio(Promise):
    """log l(s) - log l(s') <= epsilon."""

    def __init__(self, epsilon):
        self.epsilon = epsilon

    def slacks(self, p_s, lifts):
        return [interval(self.epsilon) - log(max(lifts) / min(lifts)) if min(lifts) > 0 else -1]

    def slacks_unseen(self, rho, lifts):
        return self.slacks(None, [rho, *lifts])  # all are mixed, and divided by the same

    def support(self, p_s, w):
        """For a fraction t above e^epsilon, the v with E(w-v) + (t-1) E(w-v)+ = 0, by Dinkelbach's iteration.

        An allowed l is m (1 + (t-1) g) with 0 <= g <= 1, so that E[(w-v) l] is at most m times this, 0; and E l = 1.
        """
        more = Fraction(*map(int, to_rational(iv.exp(interval(self.epsilon))._mpi_[1]))) - 1
        value, last = mean(p_s, w), None
        while value != last:
            above = [p * (own > value) for p, own in zip(p_s, w, strict=True)]
            value, last = (mean(p_s, w) + more * mean(above, w)) / (1 + more * sum(above)), value
        return value


class Variation(Promise):
    """E(l-1)+ <= epsilon."""

    def __init__(self, epsilon):
        self.epsilon = epsilon

    def slacks(self, p_s, lifts):
        return [self.epsilon - mean(p_s, [max(own - 1, Fraction(0)) for own in lifts])]

    def slacks_unseen(self, rho, lifts):
        return [self.epsilon * rho - abs(rho - 1)]

    def support(self, p_s, w):
        """At most epsilon is taken from the least w and given to the most."""
        return mean(p_s, w) + self.epsilon * (max(w) - min(w))


class Square(Promise):
    """E l^2 <= 1 + epsilon^2."""

    def __init__(self, epsilon):
        self.epsilon = epsilon

    def slacks(self, p_s, lifts):
        return [1 + self.epsilon**2 - mean(p_s, [own**2 for own in lifts])]

    def slacks_unseen(self, rho, lifts):
        return [(1 + self.epsilon**2) * (2 * rho - 1) - rho**2]

    def support(self, p_s, w):
        """Cauchy and Schwarz: E[(w - E w) (l - 1)] is at most the product of the two deviations."""
        center = mean(p_s, w)
        square = self.epsilon**2 * mean(p_s, [(own - center) ** 2 for own in w])
        return interval(center) + iv.sqrt(interval(square))


class Divergence(Promise):
    """The divergence of P(s|y) = P(s) l from P(s), sum_s P(s|y) log l, at most epsilon."""

    extra = 1

    def __init__(self, epsilon):
        self.epsilon = epsilon

    def slacks(self, p_s, lifts):
        terms = [interval(p * own) * log(own) for p, own in zip(p_s, lifts, strict=True) if own]
        return [interval(self.epsilon) - sum(terms, iv.mpf(0))]

    def slacks_unseen(self, rho, lifts):
        return [interval(self.epsilon + 1 - 1 / rho) - log(rho)]

    def support(self, p_s, w, b):
        """Gibbs: E[w l] is at most b times the divergence plus b log E e^(w/b)."""
        _need(b > 0)
        most = max(w)
        terms = [interval(p) * iv.exp(interval((own - most) / b)) for p, own in zip(p_s, w, strict=True)]
        return interval(most + b * self.epsilon) + interval(b) * iv.log(sum(terms))


class Average(Promise):
    """The mean over outputs of what another promise bounds for each; `priced` is no less than E[w l] - price value(l)."""

    def __init__(self, of, stated):
        self.of, self.epsilon = of, _decimal(stated["epsilon"])

    def slacks(self, p_s, lifts):
        return []

    def slacks_unseen(self, rho, lifts):
        return []

    @property
    def limit(self):
        if isinstance(self.of, Norm):
            return iv.exp(interval(self.epsilon))
        return self.epsilon**2 if isinstance(self.of, Square) else self.epsilon

    def value(self, p_s, lifts):
        if isinstance(self.of, Variation):
            return mean(p_s, [max(1 - own, Fraction(0)) for own in lifts])
        if isinstance(self.of, Square):
            return mean(p_s, [own**2 for own in lifts]) - 1
        if isinstance(self.of, Divergence):
            terms = [interval(p * own) * log(own) for p, own in zip(p_s, lifts, strict=True) if own]
            return sum(terms, iv.mpf(0))
        if self.of.alpha is None:
            return max(lifts)
        power = interval(self.of.alpha)
        terms = [interval(p) * iv.exp(power * log(own)) for p, own in zip(p_s, lifts, strict=True) if own]
        return iv.exp(iv.log(sum(terms, iv.mpf(0))) / power)

    def mean_slack(self, p_s, outputs, missing=Fraction(0)):
        """Of outputs (P(y), lifts); of unseen values a law that has all but this share of P(y) for every y."""
        terms = [(p_y, self.value(p_s, lifts)) for p_y, lifts in outputs]
        if not missing and all(isinstance(own, Fraction) for _, own in terms) and isinstance(self.limit, Fraction):
            return self.limit - sum(p_y * own for p_y, own in terms)
        values = [(p_y, interval(own) if isinstance(own, Fraction) else own) for p_y, own in terms]
        total = sum((interval(p_y) * own for p_y, own in values), iv.mpf(0))
        limit = interval(self.limit) if isinstance(self.limit, Fraction) else self.limit
        return limit - interval(1 - missing) * total - interval(missing) * self.most(len(outputs))

    def most(self, outputs):
        """sum_y max_s P(y|s) is at most the number of outputs; the others follow, as l <= max l and log is concave."""
        if isinstance(self.of, Divergence):
            return log(Fraction(outputs))
        return interval({Norm: outputs, Variation: 1, Square: outputs - 1}[type(self.of)])

    def priced(self, p_s, w, price):
        rarest = min(p_s)
        if isinstance(self.of, Norm):
            norm = Norm(self.of.alpha, Fraction(0)).support(p_s, w)
            norm = interval(norm) if isinstance(norm, Fraction) else norm
            order = Fraction(1) if self.of.alpha is None else 1 - 1 / self.of.alpha
            largest = iv.exp(-interval(order) * log(rarest))  # of certainty about the rarest
            left = norm - interval(price)
            both = [left, left * largest]
            return iv.mpf([max(own.a for own in both), max(own.b for own in both)])
        center, most = mean(p_s, w), max(w)
        if isinstance(self.of, Variation):  # mass moves to the largest w from where that gains more than it costs
            return center + mean(p_s, [max(most - own - price, Fraction(0)) for own in w])
        if price == 0 and isinstance(self.of, Divergence):
            return most
        if isinstance(self.of, Divergence):
            terms = [interval(p) * iv.exp(interval((own - most) / price)) for p, own in zip(p_s, w, strict=True)]
            return interval(most) + interval(price) * iv.log(sum(terms))
        square, farthest = mean(p_s, [own**2 for own in w]) - center**2, (1 - rarest) / rarest
        if square <= 4 * price * price * farthest:  # deviation d costs price d^2 and gains d sqrt(square)
            return center + (square / price / 4 if price else 0)
        return interval(center - price * farthest) + iv.sqrt(interval(square * farthest))


class Perfect(Promise):
    """l = 1. `extra` is that of the promise whose numbers are 0."""

    def __init__(self, extra):
        self.extra = extra

    def slacks(self, p_s, lifts):
        return [0 if set(lifts) == {1} else -1]

    def slacks_unseen(self, rho, lifts):
        return [0 if rho == 1 else -1]

    def support(self, p_s, w, *unused):
        return mean(p_s, w)


def _norm(p_s, values, alpha):
    """(E v^alpha)^(1/alpha) of fractions above 0 or fractions that are 0."""
    terms = [interval(p) * iv.exp(interval(alpha) * log(own)) for p, own in zip(p_s, values, strict=True) if own]
    return iv.exp(iv.log(sum(terms, iv.mpf(0))) / interval(alpha)) if terms else iv.mpf(0)


def _spread(p_s, values):
    center = mean(p_s, values)
    return iv.sqrt(interval(mean(p_s, [(own - center) ** 2 for own in values])))


def _log_of(value):
    """The logarithm of an interval; nothing where it is not above 0."""
    if value.a > 0:
        return iv.log(value)
    if value.b <= 0:
        return None
    raise _UndecidedError


# Whether a promise's w's are of lifts as they count, plus (1) or minus (-1) their errors, or of lifts as they are (0).
SIGNS = {Norm: (1, 1), Between: (1, -1), Ratio: (1, -1), Variation: (1,), Square: (0,), Divergence: (0,)}


class Spare(Promise):
    """Promises with standard errors to spare: of g = V / P_X, with the deviation rho and the largest value tau.

    Lifts E[g|s] count as (1 - b) E[g|s] + b tau, give or take c rho. In a dual the b's of divergences come first, then for
    every promise its w's, over 1 - b where lifts count so, and last y.
    """

    def __init__(self, parts, counts, errors):
        _need(0 < errors <= 1000 and all(type(part) in SIGNS for part in parts))
        self.parts, self.counts, self.square = parts, counts, errors * errors
        self.n = [sum(row) for row in counts]
        self.p_s = [Fraction(n, sum(self.n)) for n in self.n]
        self.b = [self.square / (6 * n + self.square) for n in self.n]
        self.signs = [(1,) if isinstance(part, Norm) and part.alpha is None else SIGNS[type(part)] for part in parts]
        rows = len(self.n) * sum(map(len, self.signs))
        self.extra = sum(part.extra for part in parts) + rows + len(counts[0])

    def c(self):
        return [iv.sqrt(interval(self.square * (1 - p) / (n + 1))) for p, n in zip(self.p_s, self.n, strict=True)]

    def of_value(self, part):
        """Standard errors of a mean over secrets."""
        variance = {Variation: Fraction(1, 4), Square: Fraction(1)}.get(type(part))
        if isinstance(part, Norm):
            variance = 2 * (part.alpha - 1) * part.bound / part.alpha
        elif isinstance(part, Divergence):
            variance = 2 * part.epsilon
        return iv.sqrt(interval(self.square * variance / sum(self.n)))

    def slacks(self, p_x, ratios):
        rho, tau = _spread(p_x, ratios), max(ratios)
        lifts = [
            sum(count * own for count, own in zip(row, ratios, strict=True)) / n
            for row, n in zip(self.counts, self.n, strict=True)
        ]
        low = [(1 - b) * own for b, own in zip(self.b, lifts, strict=True)]
        high = [own + b * tau for b, own in zip(self.b, low, strict=True)]
        above = [interval(own) + c * rho for own, c in zip(high, self.c(), strict=True)]
        below = [interval(own) - c * rho for own, c in zip(low, self.c(), strict=True)]
        for part in self.parts:
            yield from self.slacks_of(part, lifts, high, rho, above, below)

    def slacks_of(self, part, lifts, high, rho, above, below):
        if isinstance(part, Norm) and part.alpha is None:
            yield from (interval(part.bound) - iv.log(own) for own in above)
        elif isinstance(part, Norm):
            budget, inverse = interval(part.bound / part.alpha), interval(1 / part.alpha)
            yield budget - iv.log(_norm(self.p_s, high, part.alpha) + self.of_value(part) * rho)
            for p, own in zip(self.p_s, above, strict=True):
                yield budget - iv.log(own) - inverse * log(p)
        elif isinstance(part, Between | Ratio):
            logs = [_log_of(own) for own in below]
            if None in logs:
                yield -1
            elif isinstance(part, Between):
                yield from (interval(part.upper) - iv.log(own) for own in above)
                yield from (interval(part.lower) + own for own in logs)
            else:
                for most, least in itertools.product(above, logs):
                    yield interval(part.epsilon) + least - iv.log(most)
        else:
            if isinstance(part, Variation):
                value = interval(mean(self.p_s, [max(own - 1, Fraction(0)) for own in high]))
            elif isinstance(part, Square):
                value = _spread(self.p_s, lifts)
            else:
                value = interval(part.epsilon) - part.slacks(self.p_s, lifts)[0]
            yield interval(part.epsilon) - value - self.of_value(part) * rho

    def support(self, p_x, a, *entries):
        """No less than a.V: what the promises bound, what y bounds by rho, and the rest, which tau bounds.

        Of y or of the rest more may be asked than the promises leave of rho or tau: of that share the largest entry is a bound.
        """
        rest = list(entries)
        extras = [[rest.pop(0) for _ in range(part.extra)] for part in self.parts]
        total, rho, tau, of_lifts = iv.mpf(0), iv.mpf(0), Fraction(0), [Fraction(0)] * len(self.n)
        for part, signs, extra in zip(self.parts, self.signs, extras, strict=True):
            rows = []
            for sign in signs:
                own, rest = rest[: len(self.n)], rest[len(self.n) :]
                if sign == 0:
                    rows.append(own)
                    of_lifts = [x + z for x, z in zip(of_lifts, own, strict=True)]
                    continue
                own = [entry if entry > 0 else Fraction(0) for entry in own]
                of_lifts = [x + sign * z for x, z in zip(of_lifts, own, strict=True)]
                rows.append([entry / (1 - b) for entry, b in zip(own, self.b, strict=True)])
                if sign == 1:
                    tau += mean(self.p_s, [b * entry for b, entry in zip(self.b, rows[-1], strict=True)])
            bound, used = self.bounded(part, rows, extra)
            total, rho = total + bound, rho + used
        center = mean(p_x, rest)
        total += interval(center) + self.beyond(_spread(p_x, rest), rho, max(rest) - center)
        columns = [sum(row) for row in zip(*self.counts, strict=True)]
        shares = [[Fraction(n, m) for n, m in zip(row, columns, strict=True)] for row in self.counts]
        left = [
            max(own - y - mean([row[x] for row in shares], of_lifts), Fraction(0))
            for x, (own, y) in enumerate(zip(a, rest, strict=True))
        ]
        return total + self.beyond(interval(mean(p_x, left)), interval(tau), max(left))

    def beyond(self, asked, left, most):
        if most == 0 or asked.b <= left.a:
            return iv.mpf(0)
        share = (asked - left) / asked
        return interval(most) * iv.mpf([max(share.a, 0), max(share.b, 0)])

    def bounded(self, part, rows, extra):
        """No less than what these w's make of lifts as they count, less errors, and what that leaves for rho."""
        c = self.c()
        spent = [
            sum((interval(p * w) * own for p, w, own in zip(self.p_s, row, c, strict=True)), iv.mpf(0)) for row in rows
        ]
        means = [interval(mean(self.p_s, row)) for row in rows]
        if isinstance(part, Norm):
            budget = iv.exp(interval(part.bound / (part.alpha or 1)))
            power = interval(1 / part.alpha if part.alpha else Fraction(0))
            alone = [interval(p * w) * iv.exp(-power * log(p)) for p, w in zip(self.p_s, rows[-1], strict=True)]
            bound, used = budget * sum(alone, iv.mpf(0)), spent[-1]
            if part.alpha is not None:
                dual = _norm(self.p_s, rows[0], part.alpha / (part.alpha - 1))
                bound, used = bound + budget * dual, used + self.of_value(part) * dual
            return bound, used
        if isinstance(part, Between):
            return iv.exp(interval(part.upper)) * means[0] - iv.exp(-interval(part.lower)) * means[1], sum(spent)
        if isinstance(part, Ratio):  # l (1 + ..) <= t m, and m <= 1 for the least lift
            value = iv.exp(interval(part.epsilon)) * means[0] - means[1]
            return iv.mpf([max(value.a, 0), max(value.b, 0)]), sum(spent)
        if isinstance(part, Variation):
            most = max(rows[0])
            return means[0] + interval(part.epsilon * most), self.of_value(part) * interval(most)
        value = part.support(self.p_s, rows[0], *extra)
        slope = interval(extra[0]) if extra else _spread(self.p_s, rows[0])
        return value, self.of_value(part) * slope


def _alpha_lift(alpha, epsilon):
    return Norm(alpha, epsilon * (alpha or 1))


def _renyi(order, epsilon):
    return Norm(order, epsilon * (order - 1 if order else 1))


REGIONS = {
    "AlphaLift": (_alpha_lift, "alpha", "epsilon"),
    "Renyi": (_renyi, "order", "epsilon"),
    "LIP": (Between, "lower", "upper"),
    "LDP": (Ratio, "epsilon"),
    "TotalVariation": (Variation, "epsilon"),
    "ChiSquare": (Square, "epsilon"),
    "KL": (Divergence, "epsilon"),
}


def promises(value):
    """The parts of a file's promise; if one of them is perfect, all are."""
    parts = [value]
    if value["region"] == "Intersection":
        _need(sorted(value) == ["parts", "region"])
        parts = value["parts"]
        _need(type(parts) is list and 2 <= len(parts) <= 8)
    parts = [_promise(part) for part in parts]
    if any(isinstance(part, Perfect) for part in parts):
        return [Perfect(part.extra) for part in parts]
    return parts


def _promise(value):
    if value["region"] == "OnAverage":
        _need(sorted(value) == ["of", "region"])
        _need(value["of"]["region"] in ("AlphaLift", "KL", "TotalVariation", "ChiSquare"))
        of = _promise(value["of"])
        return Perfect(0) if isinstance(of, Perfect) else Average(of, value["of"])
    region, *names = REGIONS[value["region"]]
    _need(sorted(value) == sorted([*names, "region"]))
    numbers = {name: None if (name, value[name]) in _INFINITE else _decimal(value[name]) for name in names}
    for name, number in numbers.items():
        if name in ("alpha", "order"):
            _need(number is None or 1 < number <= 10**9)
        else:
            _need(number <= 1000)
    promise = region(*numbers.values())
    return Perfect(promise.extra) if 0 in numbers.values() else promise


def _names(promise):
    return [part["region"] for part in promise.get("parts", [promise])]


_INFINITE = ("alpha", "inf"), ("order", "inf")


def _read_table(table, x_labels):
    """The form of what says where the symbols come from."""
    if table is None:
        return
    _need(sorted(table) == ["bins", "declared", "sensitive", "useful", "without_mass"])
    for name in ("declared", "sensitive", "useful", "without_mass"):
        texts = table[name]
        _need(type(texts) is list and all(type(text) is str for text in texts) and len(set(texts)) == len(texts))
    columns = {*table["sensitive"], *table["useful"]}
    _need(len(table["sensitive"]) > 0 and len(table["useful"]) > 0 and columns.issuperset(table["declared"]))
    _need(not set(table["without_mass"]).intersection(x_labels) and type(table["bins"]) is dict)
    _need(columns.issuperset(table["bins"]))
    for edges in table["bins"].values():
        _need(type(edges) is list and len(edges) > 0)
        for edge in edges:
            _need(type(edge) is str and re.fullmatch("-?[0-9]{1,400}([.][0-9]{1,400})?", edge) is not None)
        _need(all(Fraction(low) < Fraction(high) for low, high in itertools.pairwise(edges)))


class Problem:
    """The content of a file of the right form."""

    def __init__(self, document, opening):
        _need(document["format"] == "alphalift-mechanism" and _is_integer(document["version"]))
        _need(" ".join(sorted(document)) == KEYS[document["version"]])
        _need(sorted(document["provenance"]) == ["package", "solver", "status"])
        _need(all(type(text) is str for text in document["provenance"].values()))
        labels = document["labels"]
        _need(sorted(labels) == ["s", "x", "y"])
        for names in labels.values():
            _need(type(names) is list and all(type(name) is str for name in names))
            _need(len(set(names)) == len(names) > 0)
        self.s, self.x, self.y = (len(labels[name]) for name in "sxy")
        self.sparse = document["version"] >= 3
        self._read_mechanism(document)
        self.worth = worth_of(document["utility"], self.x) if document["version"] >= 4 else Information()
        _need(self.worth is not None or document["certificate"] is None)
        self.margin = document["margin"] if document["version"] >= 5 else None
        if self.margin is not None:
            _need(sorted(self.margin) == ["certificate", "errors"] and document["after"] is None)
            _need(self.worth is not None or self.margin["certificate"] is None)
            self.errors = _decimal(self.margin["errors"])
            _need("commitment" not in document["joint"])
        self._read_promise(document["promise"], document["claims"])
        _need(document["version"] >= 4 or "OnAverage" not in _names(document["promise"]))
        self.newer = document["version"] > 1
        if self.newer:
            _read_table(document["table"], labels["x"])
            _need(document["after"] is None or self.unseen is None)
            _need(document["after"] is None or "OnAverage" not in _names(document["promise"]))
        self._read_joint(document, opening)

    def _read_mechanism(self, document):
        bits, weights, unseen = document["bits"], document["weights"], document["unseen"]
        _need(_is_integer(bits, 1) and bits <= 4096)
        _need(type(weights) is list and len(weights) == self.y)
        if document.get("version", 2) >= 3:
            weights = [_filled(row, self.x) for row in weights]
        self.law = [[Fraction(weight, 2**bits) for weight in _row(row, self.x)] for row in weights]
        _need({sum(row[x] for row in self.law) for x in range(self.x)} == {1})
        self.unseen = unseen if unseen is None else [Fraction(weight, 2**bits) for weight in _row(unseen, self.y)]
        _need(unseen is None or sum(self.unseen) == 1)
        _need(document["identity"] == identity(document))

    def _read_promise(self, promise, claims):
        self.parts, self.within = promises(promise), []
        if self.worth is None:
            _need(claims == {})
            return
        within = [] if self.margin is None else ["optimum_with_margin_at_most"]
        _need(sorted(claims) == ["optimum_at_most", *within, "utility_at_least"])
        self.within = [_decimal(claims[name]) for name in within]
        self.utility, self.optimum = _decimal(claims["utility_at_least"]), _decimal(claims["optimum_at_most"])

    def _read_joint(self, document, opening):
        joint, self.certificate, self.counts = document["joint"], document["certificate"], None
        hidden = sorted(joint) == ["commitment"]
        _need((hidden or sorted(joint) == ["counts"]) and (hidden or opening is None))
        if hidden:
            _need(self.certificate is None)
            if opening is None:
                return
            _need(sorted(opening) == sorted(["certificate", "counts", "salt", *(["after"] if self.newer else [])]))
            self.certificate = opening["certificate"]
        counts = (opening if hidden else joint)["counts"]
        _need(type(counts) is list and len(counts) == self.s)
        sums = [sum(_row(row, self.x)) for row in counts]
        total, columns = sum(sums), [sum(column) for column in zip(*counts, strict=True)]
        _need(min(sums) > 0 and min(columns) > 0)
        self.p_s, self.p_x = ([Fraction(n, total) for n in margin] for margin in (sums, columns))
        self.given_x = [[[Fraction(n, c) for n, c in zip(row, columns, strict=True)] for row in counts]]
        after = (opening if hidden else document)["after"] if self.newer else None
        named, committed = None, [counts]
        if after is not None:
            named = [[mechanism["identity"], mechanism["table"]] for mechanism in after["mechanisms"]]
            committed.append(after["cells"])
            self._read_earlier(after, counts, columns)
        if hidden:
            _need(type(opening["salt"]) is str and joint["commitment"] == sealed([opening["salt"], *committed]))
            shown = document["after"] if self.newer else None
            named = None if named is None else {"sealed": [sealed([opening["salt"], *name]) for name in named]}
            _need(shown == named)
        self.counts = counts

    def _read_earlier(self, after, counts, columns):
        """P(s, y1 | x) of every combination y1 of earlier outputs, in fractions; those that tell the same as one."""
        _need(sorted(after) == ["cells", "mechanisms"])
        _need(type(after["mechanisms"]) is list and 1 <= len(after["mechanisms"]) <= 8)
        laws = []
        for own in after["mechanisms"]:
            known = ["bits", "identity", "labels", "table", "unseen", *(["version"] if self.sparse else []), "weights"]
            _need(sorted(own) == known and _is_integer(own.get("version", 2), 1) and own.get("version", 2) <= 3)
            if own["table"] is not None:
                _need(sorted(own["table"]) == ["bins", "useful"])
                nothing = {"sensitive": own["table"]["useful"], "declared": [], "without_mass": []}
                _read_table(own["table"] | nothing, [])
            _need(sorted(own["labels"]) == ["s", "x", "y"])
            earlier = Problem.__new__(Problem)
            for names in own["labels"].values():
                _need(type(names) is list and all(type(name) is str for name in names))
                _need(len(set(names)) == len(names) > 0)
            earlier.x, earlier.y = len(own["labels"]["x"]), len(own["labels"]["y"])
            earlier._read_mechanism(own)
            laws.append([list(column) for column in zip(*earlier.law, strict=True)])
            laws[-1] += [] if earlier.unseen is None else [earlier.unseen]
        left = {(s, x): n for s, row in enumerate(counts) for x, n in enumerate(row) if n}
        tables = {}
        for cell in after["cells"]:
            s, x, *symbols, n = _row(cell, len(laws) + 3)
            _need(n > 0 and (s, x) in left and all(z < len(law) for z, law in zip(symbols, laws, strict=True)))
            left[s, x] -= n
            for y in itertools.product(*(range(len(law[0])) for law in laws)):
                share = Fraction(n, columns[x])
                for law, symbol, output in zip(laws, symbols, y, strict=True):
                    share *= law[symbol][output]
                if share:
                    table = tables.setdefault(y, [[Fraction(0)] * self.x for _ in range(self.s)])
                    table[s][x] += share
        _need(set(left.values()) == {0})
        together = {}
        for y in sorted(tables):
            total = sum(map(sum, tables[y]))
            shape = tuple(entry / total for row in tables[y] for entry in row)
            together.setdefault(shape, []).append(tables[y])
        self.given_x = [
            [[sum(table[s][x] for table in same) for x in range(self.x)] for s in range(self.s)]
            for same in together.values()
        ]

    def outputs(self):
        """For every y: P(y) and, for every earlier y1 that comes with it, the lifts P(s|y, y1) / P(s)."""
        for row in self.law:
            p_xy = [share * weight for share, weight in zip(self.p_x, row, strict=True)]
            every = []
            for given in self.given_x:
                p_sy = [sum(map(Fraction.__mul__, own, p_xy)) for own in given]
                if sum(p_sy):
                    every.append([own / (share * sum(p_sy)) for own, share in zip(p_sy, self.p_s, strict=True)])
            _need(bool(every))
            yield sum(p_xy), every

    @property
    def averages(self):
        return [part for part in self.parts if isinstance(part, Average)]

    def averages_hold(self, missing=Fraction(0)):
        outputs = [(p_y, every[0]) for p_y, every in self.outputs()] if self.averages else []
        return all(at_least_zero(part.mean_slack(self.p_s, outputs, missing)) for part in self.averages)

    def promise_holds(self):
        return self.averages_hold() and all(
            at_least_zero(slack)
            for _, every in self.outputs()
            for lifts in every
            for part in self.parts
            for slack in part.slacks(self.p_s, lifts)
        )

    def unseen_values_holds(self):
        for (p_y, (lifts,)), own in zip(self.outputs(), self.unseen, strict=True):
            rho = own / p_y
            if rho == 0 or not all(at_least_zero(s) for part in self.parts for s in part.slacks_unseen(rho, lifts)):
                return False
        least = min(own / p_y for (p_y, _), own in zip(self.outputs(), self.unseen, strict=True))
        return self.promise_holds() and self.averages_hold(max(1 - least, Fraction(0)))

    def utility_holds(self):
        """A sum over outputs and symbols of P(x, y) times what t = P(x|y) / P(x) = P(y|x) / P(y) is worth."""
        if isinstance(self.worth, Choice | Spread):
            left = sum(self.worth.lost([*map(Fraction.__mul__, self.p_x, row)]) for row in self.law)
            return self.utility == 0 or self.worth.lost(self.p_x) - left >= self.utility
        value = iv.mpf(0)
        for row in self.law:
            p_y = sum(map(Fraction.__mul__, self.p_x, row))
            for share, weight in zip(self.p_x, row, strict=True):
                value += interval(share * p_y) * self.worth.of_ratio(weight / p_y)
        return self.utility == 0 or at_least_zero(value - interval(self.utility))

    def optimum_holds(self):
        if isinstance(self.worth, Choice | Spread):
            return at_least_zero(interval(self.optimum) - self.bound_by_pieces(self.certificate))
        kinds = [*CERTIFICATES, "merged"] if isinstance(self.worth, Information) else ["tree"]
        return at_least_zero(interval(self.optimum) - self.bound_by(self.certificate, kinds))

    def with_margin(self):
        """The problem of X as its own secret, whose promise is this one's with standard errors to spare."""
        other = Problem.__new__(Problem)
        other.x = other.s = self.x
        other.p_x = other.p_s = self.p_x
        other.law, other.worth, other.certificate = self.law, self.worth, self.margin["certificate"]
        other.given_x = [[[Fraction(int(x == z)) for z in range(self.x)] for x in range(self.x)]]
        other.parts = [Spare(self.parts, self.counts, self.errors)]
        other.optimum = next(iter(self.within), None)
        return other

    def margin_holds(self):
        return self.with_margin().promise_holds()

    def optimum_with_margin_holds(self):
        certificate = self.margin["certificate"]
        _need(certificate is None or certificate["kind"] not in ("merged", "local"))
        return self.with_margin().optimum_holds()

    def bound_by_pieces(self, certificate):
        """E (1 - u.P_X - the least over all pieces), E = h(P_X): h is at least one piece at every V."""
        whole = self.worth.lost(self.p_x)
        if certificate is None or whole == 0:
            return interval(whole)
        _need(certificate["kind"] == self.worth.kind)
        self.use(certificate, OF_PIECES)
        least = []
        for number, losses in self.worth.pieces(self):
            _need(_is_integer(number) and number < len(certificate["duals"]))
            bound, rates = self.dual_terms(number)
            for loss, rate in zip(losses, rates, strict=True):
                cost = interval(loss / whole) - rate
                bound += cost if cost.b <= 0 else iv.mpf([min(cost.a, 0), 0])
            least.append(bound)
        paid = sum(map(Fraction.__mul__, self.prices, self.p_x))
        return interval(whole) * (1 - interval(paid) + self.budgets - min(least, key=lambda value: value.a))

    def use(self, certificate, kinds):
        bits = certificate["bits"]
        priced = ["average_prices"] if self.averages else []
        _need(sorted(certificate) == sorted(["bits", "kind", "prices", *priced, *kinds[certificate["kind"]]]))
        _need(_is_integer(bits, 1) and bits <= 64)
        self.certificate, self.unit, self.known_terms = certificate, 2**bits, {}
        self.prices = [Fraction(u, self.unit) for u in _row(certificate["prices"], self.x, None)]
        listed = _row(certificate["average_prices"], len(self.averages)) if self.averages else []
        self.average_prices, self.budgets = [Fraction(price, self.unit) for price in listed], iv.mpf(0)
        for price, part in zip(self.average_prices, self.averages, strict=True):
            limit = interval(part.limit) if isinstance(part.limit, Fraction) else part.limit
            self.budgets += interval(price) * limit

    def bound_by(self, certificate, kinds):
        """What a certificate of one of these kinds proves: h(P_X) - u.P_X - m; for types, H(X|T) and what is proven of T."""
        before = sum((self.worth.curve(p, p) for p in self.p_x), iv.mpf(0))
        if certificate is None:
            full = sum((interval(p) * self.worth.curve(p, Fraction(1)) for p in self.p_x), iv.mpf(0))
            return before - full
        kind = certificate["kind"]
        _need(kind in kinds)
        if kind == "merged":
            _need(sorted(certificate) == ["kind", "proof"] and type(certificate["proof"]) is dict)
            types, within = self.of_types()
            return within + types.bound_by(certificate["proof"], CERTIFICATES)
        _need(kind == "tree" or not self.averages)
        self.use(certificate, CERTIFICATES)
        paid = sum(map(Fraction.__mul__, self.prices, self.p_x))
        ways = {"tree": self.least_over_tree, "pairs": self.least_over_pairs, "local": self.least_over_lifts}
        return before - interval(paid) + self.budgets - ways[kind]()

    def of_types(self):
        """The same problem of types, which have one P(s, y1|x) each, and of secrets that no x tells apart; and H(X|T)."""
        types, groups = {}, {}
        for x in range(self.x):
            types.setdefault(tuple(row[x] for given in self.given_x for row in given), []).append(x)
        firsts = [own[0] for own in types.values()]
        for s in range(self.s):
            lifts = tuple(given[s][x] / self.p_s[s] for given in self.given_x for x in firsts)
            groups.setdefault(lifts, []).append(s)
        other = Problem.__new__(Problem)
        other.parts, other.x, other.s, other.worth = self.parts, len(types), len(groups), self.worth
        other.p_x = [sum(self.p_x[x] for x in own) for own in types.values()]
        other.p_s = [sum(self.p_s[s] for s in own) for own in groups.values()]
        other.given_x = [
            [[sum(given[s][x] for s in own) for x in firsts] for own in groups.values()] for given in self.given_x
        ]
        within = iv.mpf(0)
        for own, mass in zip(types.values(), other.p_x, strict=True):
            within += sum((interval(self.p_x[x]) * log(mass / self.p_x[x]) for x in own), iv.mpf(0))
        return other, within

    def least_over_tree(self):
        """The least lower end over all leaves and slabs of a tree that begins with the unit box."""
        nodes = iter(self.nodes_of("tree"))
        found = self.over_boxes([(Fraction(0), Fraction(1))] * self.x, nodes)
        _need(next(nodes, None) is None and bool(found))
        return min(found, key=lambda value: value.a)

    def nodes_of(self, name):
        nodes = self.certificate[name]
        _need(type(nodes) is list)
        for node in nodes:
            _need(type(node) is list and len(node) > 0 and all(_is_integer(entry) for entry in node))
        return nodes

    def over_boxes(self, box, nodes):
        """The bounds of the leaves and slabs of the tree whose nodes come next."""
        todo, found = [box], []
        while todo:
            box, node = todo.pop(), next(nodes, None)
            _need(node is not None)
            unfilled = 1 - sum(low for low, _ in box)  # what the others leave: V sums to 1
            box = [(low, min(high, low + unfilled)) for low, high in box]
            if len(node) == 1:
                found += self.over_box(box, node[0])
            elif len(node) == 2:
                x, cut = node[0], Fraction(node[1], self.unit)
                _need(cut <= 1)
                low, high = box[x]
                below, above = (low, min(high, cut)), (max(low, cut), high)
                todo += [[*box[:x], above, *box[x + 1 :]], [*box[:x], below, *box[x + 1 :]]]
            else:
                _need(len(node) % 2 == 1)
                rest, more = self.cut(box, node)
                todo.append(rest)
                found += more
        return found

    def cut(self, box, node):
        """What slabs leave of a box, and their bounds, each as of a box by itself."""
        dual, *slabs = node
        rest, found = list(box), []
        _need(len(set(slabs[::2])) == len(slabs) // 2 and dual < len(self.certificate["duals"]))
        for code, place in zip(slabs[::2], slabs[1::2], strict=True):
            x, cut = code // 2, Fraction(place, self.unit)
            _need(x < self.x and cut <= 1)
            (low, high), slab = box[x], list(box)
            slab[x] = (max(low, cut), high) if code % 2 else (low, min(high, cut))
            rest[x] = (rest[x][0], min(rest[x][1], cut)) if code % 2 else (max(rest[x][0], cut), rest[x][1])
            found += self.over_box(slab, dual)
        return rest, found

    def over_box(self, box, dual):
        """nu - sigma(w) + sum_x min over the box's ends of phi(v) - c_x v; none for a box without a distribution."""
        _need(dual < len(self.certificate["duals"]))
        if not _holds(box):
            return []
        bound, c = self.dual_terms(dual)
        for (low, high), rate, p in zip(box, c, self.p_x, strict=True):
            ends = [
                _curve(self.worth, p, v, iv.prec) - rate * _place(v, iv.prec) if v else iv.mpf(0) for v in (low, high)
            ]
            bound += ends[0] if ends[0].a <= ends[1].a else ends[1]
        return [bound]

    def dual_terms(self, number):
        key = number, iv.prec
        if key not in self.known_terms:
            self.known_terms[key] = self._dual_terms(number)
        return self.known_terms[key]

    def _dual_terms(self, number):
        """nu - sum of sigma(w) and c_x = u_x + nu - sum of sum_s w_s P(s|x) over the parts' own w, intervals.

        After other releases: nu, and c_x = u_x + nu - sum over y1 of sum_s (w_s - sigma(w)) P(s, y1|x).
        """
        alone = len(self.given_x) == 1
        size = len(self.given_x) * sum(self.s + part.extra for part in self.parts) + 1
        dual = [Fraction(entry, self.unit) for entry in _row(self.certificate["duals"][number], size, None)]
        nu = dual.pop()
        bound, rates = interval(nu), [interval(u + nu) for u in self.prices]
        for given in self.given_x:
            columns, costs = list(zip(*given, strict=True)), iter(self.average_prices)
            for part in self.parts:
                w, extra = dual[: self.s], dual[self.s : self.s + part.extra]
                dual = dual[self.s + part.extra :]
                averaged = isinstance(part, Average)
                value = part.priced(self.p_s, w, next(costs)) if averaged else part.support(self.p_s, w, *extra)
                value = interval(value) if isinstance(value, Fraction) else value
                bound -= value if alone else 0
                for x, column in enumerate(columns):
                    rates[x] -= interval(mean(column, w)) - (0 if alone else value * interval(sum(column)))
        return bound, rates

    def least_over_pairs(self):
        """H(V) - u.V is concave in V: its least over {V : the first lift lies between the ends} is at an extreme V."""
        _need(self.s == 2 and len(self.given_x) == 1)
        ends = [Fraction(end, self.unit) for end in _row(self.certificate["ends"], 2, None)]
        _need(ends[0] < 0 < ends[1])
        for end in ends:  # beyond it no lift is allowed: the allowed ones are an interval around 1
            lifts = [1 + end, 1 - end * self.p_s[0] / self.p_s[1]]
            _need(min(lifts) <= 0 or any(part.stops(self.p_s, lifts) for part in self.parts))
        first = [given / self.p_s[0] - 1 for given in self.given_x[0][0]]
        values = [interval(-u) for u, own in zip(self.prices, first, strict=True) if ends[0] <= own <= ends[1]]
        for end in ends:
            for x in (x for x in range(self.x) if first[x] < end):
                for y in (y for y in range(self.x) if first[y] > end):
                    share = (end - first[x]) / (first[y] - first[x])
                    paid = share * self.prices[y] + (1 - share) * self.prices[x]
                    values.append(phi(share) + phi(1 - share) - interval(paid))
        return min(values, key=lambda value: value.a)

    def least_over_lifts(self):
        """S = X: the least Lagrangian over all leaves of a tree over boxes of lifts and counts of those beyond a place."""
        size, certificate = self.x, self.certificate
        _need(self.s == size and len(self.given_x) == 1)
        given = self.given_x[0]
        _need(all(sum(share > 0 for share in line) == 1 for line in [*given, *zip(*given, strict=True)]))
        model, groups = Lifts(self.parts, self.p_x), certificate["groups"]
        _need(type(groups) is list and type(certificate["tree"]) is list and type(certificate["duals"]) is list)
        for group in groups:
            _need(type(group) is list and all(_is_integer(x) and x < size for x in group))
            _need(len(set(group)) == len(group))
        todo, values, leaves = [(model.box, {})], [], 0
        for node in certificate["tree"]:
            box, counts = todo.pop()
            _need(type(node) is list and all(_is_integer(entry) for entry in node) and len(node) in (1, 2, 3))
            if len(node) == 2:
                x, cut = node[0], Fraction(node[1], self.unit)
                low, high = box[x]
                todo.append(([*box[:x], (max(low, cut), high), *box[x + 1 :]], counts))
                todo.append(([*box[:x], (low, min(high, cut)), *box[x + 1 :]], counts))
            elif len(node) == 3:
                group, place, most = node
                least, largest = counts.get((place, group), (0, len(groups[group])))
                kept = {key: own for key, own in counts.items() if key != (place, group)}  # the newest comes last
                todo.append((box, kept | {(place, group): (max(least, most + 1), largest)}))
                todo.append((box, kept | {(place, group): (least, min(largest, most))}))
            else:
                leaves += 1
                size_of_dual = 1 + len(model.sums) + len(counts)
                dual = [Fraction(own, self.unit) for own in _row(certificate["duals"][node[0]], size_of_dual, None)]
                _need(all(own >= 0 for own in dual[1 : 1 + len(model.sums)]))
                mean_low, mean_high = (sum(p * end[i] for p, end in zip(self.p_x, box, strict=True)) for i in (0, 1))
                empty = any(low > high for low, high in box) or any(least > most for least, most in counts.values())
                if not empty and (model.ray is not None or mean_low <= 1 <= mean_high):
                    values.append(model.bound(box, counts, groups, dual, self.prices, self.unit))
        _need(not todo and leaves > 0)
        return min(values, key=lambda value: value.a) if values else iv.mpf("inf")


def _upper(value):
    """A fraction that is no less than what the interval contains."""
    return Fraction(*map(int, to_rational(value._mpi_[1])))


class Lifts:
    """What a promise asks of lifts if S = X: a box for every symbol, and sums: (multiples of) l^power, l log l, |l - 1|."""

    def __init__(self, parts, p_x):
        self.p_x, self.ray, self.sums = p_x, None, []
        self.box = [(Fraction(0), 1 / p) for p in p_x]
        for part in parts:
            ends = self._ends(part, len(parts))
            self.box = [(max(low, end[0]), min(high, end[1])) for (low, high), end in zip(self.box, ends, strict=True)]
        if self.ray is not None:
            self.box = ends

    def _ends(self, part, parts):
        """The box of one promise; its sum, (power or none, log of the scale, budget), is noted."""
        everywhere, p_x = [(Fraction(0), 1 / p) for p in self.p_x], self.p_x
        if isinstance(part, Perfect):
            return [(Fraction(1), Fraction(1))] * len(p_x)
        if isinstance(part, Ratio):
            _need(parts == 1)
            self.ray = iv.exp(interval(part.epsilon))
            return [(Fraction(1), max(_upper(self.ray), Fraction(1)))] * len(p_x)
        if isinstance(part, Between):
            low, high = -_upper(-iv.exp(-interval(part.lower))), _upper(iv.exp(interval(part.upper)))
            return [(low, high)] * len(p_x)
        if isinstance(part, Variation):
            self.sums.append(("distance", None, None, interval(part.epsilon)))
            return [(max(1 - part.epsilon / p, Fraction(0)), 1 + part.epsilon / p) for p in p_x]
        if isinstance(part, Divergence):
            self.sums.append(("entropy", None, None, interval(part.epsilon)))
            return everywhere
        if isinstance(part, Norm) and part.alpha is None:
            return [(Fraction(0), _upper(iv.exp(interval(part.bound))))] * len(p_x)
        power, scale = (2, log(1 + part.epsilon**2)) if isinstance(part, Square) else (part.alpha, interval(part.bound))
        self.sums.append(("power", interval(power), scale, iv.mpf(1)))
        return [(Fraction(0), _upper(iv.exp((scale - log(p)) / interval(power)))) for p in p_x]

    def bound(self, box, counts, groups, dual, prices, unit):
        """The least of the Lagrangian, symbol by symbol."""
        nu, mu, rest = dual[0], dual[1 : 1 + len(self.sums)], dual[1 + len(self.sums) :]
        self.mu = [interval(own) for own in mu]
        self.kink = sum([own for own, kind in zip(mu, self.sums, strict=True) if kind[0] == "distance"], Fraction(0))
        order = sorted(counts, key=lambda key: key[0])  # stable: counts at one place in the order in which they came
        total = sum([-own * kind[3] for own, kind in zip(self.mu, self.sums, strict=True)], iv.mpf(0))
        for key, own in zip(order, rest, strict=True):
            total -= interval(max(own * counts[key][0], own * counts[key][1]))
        for x, (low, high) in enumerate(box):
            rate, start, passed, found = interval(prices[x] + nu) + log(self.p_x[x]), low, Fraction(0), []
            for (place, group), own in zip(order, rest, strict=True):
                if x in groups[group]:
                    found.append((start, min(Fraction(place, unit), high), passed))
                    start, passed = max(start, Fraction(place, unit)), passed + own
            found = [piece for piece in [*found, (start, high, passed)] if piece[0] <= piece[1]]
            if not found:
                return iv.mpf("inf")
            terms = [interval(self.p_x[x]) * self.least(a, b, rate) + interval(more) for a, b, more in found]
            total += min(terms, key=lambda term: term.a)
        if self.ray is not None:
            _need(bool(total.a > 0))
            return interval(nu) + 1 + iv.log(total)
        return interval(nu) + total

    def least(self, a, b, rate):
        """No more than f(l) - rate l from a to b; with ratios of lifts at most t, extreme ones are m or t m."""
        if self.ray is not None:
            found = [-rate] * (a <= 1 <= b) + [-self.ray * (iv.log(self.ray) + rate)] * (b >= _upper(self.ray))
            return min(found, key=lambda term: term.a) if found else iv.mpf("inf")
        if self.kink and a < 1 < b:
            return min(self.least(a, Fraction(1), rate), self.least(Fraction(1), b, rate), key=lambda term: term.a)
        ends = [self.f(a) - rate * interval(a), self.f(b) - rate * interval(b)]
        corner = min(ends, key=lambda term: term.a)
        if a == b or self.bend(b).b <= 0:
            return corner
        if self.bend(a).a >= 0:
            return self.least_convex(a, b, rate)
        low, high = a, b
        for _ in range(64):
            middle = (low + high) / 2
            low, high = (low, middle) if self.bend(middle).a >= 0 else (middle, high)
        steep = abs(self.slope(high, b)) + 2 * abs(log(high)) + 4 + abs(rate)
        between = min(self.f(low) - rate * interval(low), corner, key=lambda term: term.a)
        return min(
            between - steep * interval((high - low) * 2) - abs(self.bend(low)) * interval((high - low) * 2),
            self.least_convex(high, b, rate),
            key=lambda term: term.a,
        )

    def least_convex(self, a, b, rate):
        """A tangent of what is convex lies below it; the best one touches where the slope is the rate."""
        low, high = a, b
        for _ in range(64):
            middle = (low + high) / 2
            low, high = (middle, high) if self.slope(middle, b).b < rate.a else (low, middle)
        slope, touch = self.slope(high, b) - rate, interval(high)
        level = self.f(high) - rate * touch
        ends = [level + slope * (interval(end) - touch) for end in (a, b)]
        return min(ends, key=lambda term: term.a)

    def f(self, lift):
        """-l log l and the sums with their multipliers."""
        value = phi(lift)
        for mu, (kind, power, scale, _) in zip(self.mu, self.sums, strict=True):
            if kind == "distance":
                value += mu * interval(abs(lift - 1) / 2)
            elif lift:
                value -= mu * phi(lift) if kind == "entropy" else -mu * iv.exp(power * log(lift) - scale)
        return value

    def slope(self, lift, b):
        """f' at l > 0; b, the end of the piece, says on which side of 1 it is."""
        value = -log(lift) - 1
        for mu, (kind, power, scale, _) in zip(self.mu, self.sums, strict=True):
            if kind == "distance":
                value += mu / 2 if b > 1 else -mu / 2
            else:
                value += (
                    mu * (log(lift) + 1) if kind == "entropy" else mu * power * iv.exp((power - 1) * log(lift) - scale)
                )
        return value

    def bend(self, lift):
        """l f''(l), which rises."""
        value = iv.mpf(-1)
        for mu, (kind, power, scale, _) in zip(self.mu, self.sums, strict=True):
            if kind == "entropy":
                value += mu
            elif kind == "power" and lift:
                value += mu * power * (power - 1) * iv.exp((power - 1) * log(lift) - scale)
        return value
