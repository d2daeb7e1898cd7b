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
    claims = ["promise", "unseen values", "utility", "optimum"]
    if problem.unseen is None:
        claims.remove("unseen values")
    result = {"form": True}
    for claim in claims:
        result[claim] = problem.counts is not None and _decided(getattr(problem, claim.split()[0] + "_holds"))
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
        self._read_mechanism(document)
        self._read_promise(document["promise"], document["claims"])
        self.newer = document["version"] == 2
        if self.newer:
            _read_table(document["table"], labels["x"])
            _need(document["after"] is None or self.unseen is None)
        self._read_joint(document, opening)

    def _read_mechanism(self, document):
        bits, weights, unseen = document["bits"], document["weights"], document["unseen"]
        _need(_is_integer(bits, 1) and bits <= 4096)
        _need(type(weights) is list and len(weights) == self.y)
        self.law = [[Fraction(weight, 2**bits) for weight in _row(row, self.x)] for row in weights]
        _need({sum(row[x] for row in self.law) for x in range(self.x)} == {1})
        self.unseen = unseen if unseen is None else [Fraction(weight, 2**bits) for weight in _row(unseen, self.y)]
        _need(unseen is None or sum(self.unseen) == 1)
        _need(document["identity"] == identity(document))

    def _read_promise(self, promise, claims):
        self.parts = promises(promise)
        _need(sorted(claims) == ["optimum_at_most", "utility_at_least"])
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
            _need(sorted(own) == ["bits", "identity", "labels", "table", "unseen", "weights"])
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

    def promise_holds(self):
        return all(
            at_least_zero(slack)
            for _, every in self.outputs()
            for lifts in every
            for part in self.parts
            for slack in part.slacks(self.p_s, lifts)
        )

    def unseen_holds(self):
        for (p_y, (lifts,)), own in zip(self.outputs(), self.unseen, strict=True):
            rho = own / p_y
            if rho == 0 or not all(at_least_zero(s) for part in self.parts for s in part.slacks_unseen(rho, lifts)):
                return False
        return self.promise_holds()

    def utility_holds(self):
        value = iv.mpf(0)
        for row in self.law:
            p_y = sum(map(Fraction.__mul__, self.p_x, row))
            for share, weight in zip(self.p_x, row, strict=True):
                if weight:
                    value += interval(share * weight) * iv.log(interval(weight / p_y))
        return self.utility == 0 or at_least_zero(value - interval(self.utility))

    def optimum_holds(self):
        bound = sum(map(phi, self.p_x), iv.mpf(0))
        if self.certificate is not None:
            kind, bits = self.certificate["kind"], self.certificate["bits"]
            _need(_is_integer(bits, 1) and bits <= 64)
            self.unit = 2**bits
            keys = {"tree": ["bits", "duals", "kind", "prices", "tree"], "pairs": ["bits", "ends", "kind", "prices"]}
            _need(sorted(self.certificate) == keys[kind])
            self.prices = [Fraction(u, self.unit) for u in _row(self.certificate["prices"], self.x, None)]
            paid = sum(map(Fraction.__mul__, self.prices, self.p_x))
            bound -= interval(paid) + (self.least_over_tree() if kind == "tree" else self.least_over_pairs())
        return at_least_zero(interval(self.optimum) - bound)

    def least_over_tree(self):
        """The least lower end of nu - sigma(w) + sum_x min over the box's ends of phi(v) - c_x v, over all leaves."""
        tree, zero = self.certificate["tree"], iv.mpf(0)
        curve, place, terms = cache(phi), cache(interval), cache(self.dual_terms)
        _need(type(tree) is list)
        todo, least = [[(Fraction(0), Fraction(1))] * self.x], None
        for node in tree:
            box = todo.pop()
            _need(type(node) is list and all(_is_integer(entry) for entry in node) and len(node) in (1, 2))
            if len(node) == 2:
                x, cut = node[0], Fraction(node[1], self.unit)
                _need(cut <= 1)
                low, high = box[x]
                below, above = (low, min(high, cut)), (max(low, cut), high)
                todo += [[*box[:x], above, *box[x + 1 :]], [*box[:x], below, *box[x + 1 :]]]
                continue
            lows, highs = zip(*box, strict=True)
            _need(node[0] < len(self.certificate["duals"]))
            if any(low > high for low, high in box) or not sum(lows) <= 1 <= sum(highs):
                continue
            bound, c = terms(node[0])
            for (low, high), rate in zip(box, c, strict=True):
                ends = [curve(v) - rate * place(v) if v else zero for v in (low, high)]
                bound += ends[0] if ends[0].a <= ends[1].a else ends[1]
            least = bound if least is None or bound.a < least.a else least
        _need(not todo and least is not None)
        return least

    def dual_terms(self, number):
        """nu - sum of sigma(w) and c_x = u_x + nu - sum of sum_s w_s P(s|x) over the parts' own w, intervals.

        After other releases: nu, and c_x = u_x + nu - sum over y1 of sum_s (w_s - sigma(w)) P(s, y1|x).
        """
        alone = len(self.given_x) == 1
        size = len(self.given_x) * sum(self.s + part.extra for part in self.parts) + 1
        dual = [Fraction(entry, self.unit) for entry in _row(self.certificate["duals"][number], size, None)]
        nu = dual.pop()
        bound, rates = interval(nu), [interval(u + nu) for u in self.prices]
        for given in self.given_x:
            columns = list(zip(*given, strict=True))
            for part in self.parts:
                w, extra = dual[: self.s], dual[self.s : self.s + part.extra]
                dual = dual[self.s + part.extra :]
                value = part.support(self.p_s, w, *extra)
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
