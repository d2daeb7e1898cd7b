"""A second checker of mechanism files, written from the mathematics and sharing no code with the first.

Numbers of the file are fractions. Logarithms are mpmath's intervals, and a claim is proven only where intervals are
apart. The promise is compared as logarithms, information is a sum of P(x, y) log(P(y|x) / P(y)), and the tree is
walked with a stack of rational boxes: where both checkers agree, they do so on different ways.
"""

import hashlib
import json
import re
from fractions import Fraction
from functools import cache

from mpmath import iv

PRECISION = 320
KEYS = "bits certificate claims format identity joint labels promise provenance unseen version weights"


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
    iv.prec = PRECISION
    try:
        problem = Problem(document, opening)
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"form": False}
    claims = ["promise", "unseen values", "utility", "optimum"]
    if problem.unseen is None:
        claims.remove("unseen values")
    result = {"form": True}
    for claim in claims:
        try:
            result[claim] = problem.counts is not None and getattr(problem, claim.split()[0] + "_holds")() is True
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, ZeroDivisionError):
            result[claim] = False
    return result


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


def phi(value):
    """-v log v."""
    return -interval(value) * iv.log(interval(value)) if value else iv.mpf(0)


class Problem:
    """The content of a file of the right form."""

    def __init__(self, document, opening):
        _need(" ".join(sorted(document)) == KEYS)
        _need(document["format"] == "alphalift-mechanism" and _is_integer(document["version"]))
        _need(document["version"] == 1 and sorted(document["provenance"]) == ["package", "solver", "status"])
        _need(all(type(text) is str for text in document["provenance"].values()))
        labels = document["labels"]
        _need(sorted(labels) == ["s", "x", "y"])
        for names in labels.values():
            _need(type(names) is list and all(type(name) is str for name in names))
            _need(len(set(names)) == len(names) > 0)
        self.s, self.x, self.y = (len(labels[name]) for name in "sxy")
        self._read_mechanism(document)
        self._read_promise(document["promise"], document["claims"])
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
        _need(sorted(promise) == ["alpha", "epsilon", "region"] and promise["region"] == "AlphaLift")
        self.alpha = None if promise["alpha"] == "inf" else _decimal(promise["alpha"])
        self.epsilon = _decimal(promise["epsilon"])
        _need((self.alpha is None or 1 < self.alpha <= 10**9) and self.epsilon <= 1000)
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
            _need(sorted(opening) == ["certificate", "counts", "salt"])
            self.certificate = opening["certificate"]
        counts = (opening if hidden else joint)["counts"]
        _need(type(counts) is list and len(counts) == self.s)
        sums = [sum(_row(row, self.x)) for row in counts]
        total, columns = sum(sums), [sum(column) for column in zip(*counts, strict=True)]
        _need(min(sums) > 0 and min(columns) > 0)
        if hidden:
            _need(type(opening["salt"]) is str and joint["commitment"] == sealed([opening["salt"], counts]))
        self.counts = counts
        self.p_s, self.p_x = ([Fraction(n, total) for n in margin] for margin in (sums, columns))
        self.s_given_x = [[Fraction(n, c) for n, c in zip(row, columns, strict=True)] for row in counts]

    def outputs(self):
        """For every y: P(y) and the lifts P(s|y) / P(s)."""
        for row in self.law:
            p_xy = [share * weight for share, weight in zip(self.p_x, row, strict=True)]
            p_y = sum(p_xy)
            p_sy = [sum(map(Fraction.__mul__, given, p_xy)) for given in self.s_given_x]
            yield p_y, [own / (share * p_y) for own, share in zip(p_sy, self.p_s, strict=True)]

    def log_alpha_lift(self, lifts):
        """In nats, for lifts that are not negative."""
        if self.alpha is None:
            return iv.log(interval(max(lifts)))
        alpha = interval(self.alpha)
        terms = [
            interval(p) * iv.exp(alpha * iv.log(interval(lift)))
            for p, lift in zip(self.p_s, lifts, strict=True)
            if lift
        ]
        return iv.log(sum(terms, iv.mpf(0))) / alpha

    def promise_holds(self):
        if self.epsilon == 0:
            return all(lift == 1 for _, lifts in self.outputs() for lift in lifts)
        return all((self.log_alpha_lift(lifts) <= interval(self.epsilon)) is True for _, lifts in self.outputs())

    def unseen_holds(self):
        """A mixture of seen and unseen records has, by Jensen's inequality, at most the value that is tested here."""
        alpha, epsilon = self.alpha, interval(self.epsilon)
        for (p_y, lifts), own in zip(self.outputs(), self.unseen, strict=True):
            rho = own / p_y
            if self.epsilon == 0 or rho == 0:
                kept = rho == 1
            elif alpha is None:
                kept = iv.log(interval(max(rho, max(lifts) / min(rho, 1)))) <= epsilon
            else:  # Bernoulli: the mixture's P(y)^alpha grows at least as 1 + alpha (rho - 1)
                growth = 1 + alpha * (rho - 1)
                a = interval(alpha)
                kept = growth > 0 and a * iv.log(interval(rho)) <= a * epsilon + iv.log(interval(growth))
            if kept is not True:
                return False
        return self.promise_holds()

    def utility_holds(self):
        value = iv.mpf(0)
        for row in self.law:
            p_y = sum(map(Fraction.__mul__, self.p_x, row))
            for share, weight in zip(self.p_x, row, strict=True):
                if weight:
                    value += interval(share * weight) * iv.log(interval(weight / p_y))
        return self.utility == 0 or interval(self.utility) <= value

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
        return bound <= interval(self.optimum)

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
        """nu - sigma(w) and c_x = u_x + nu - sum_s w_s P(s|x), intervals."""
        *w, nu = (Fraction(entry, self.unit) for entry in _row(self.certificate["duals"][number], self.s + 1, None))
        _need(min(w) >= 0)
        means = [sum(map(Fraction.__mul__, w, column)) for column in zip(*self.s_given_x, strict=True)]
        c = [interval(u + nu - mean) for u, mean in zip(self.prices, means, strict=True)]
        return interval(nu) - self.support(w), c

    def support(self, w):
        """Hoelder: E[w l] is at most the conjugate norm of w times the norm of l, which is at most e^epsilon."""
        if self.alpha is None or self.epsilon == 0:
            return iv.exp(interval(self.epsilon)) * interval(sum(map(Fraction.__mul__, w, self.p_s)))
        conjugate = interval(self.alpha / (self.alpha - 1))
        terms = [
            interval(p) * iv.exp(conjugate * iv.log(interval(own))) for p, own in zip(self.p_s, w, strict=True) if own
        ]
        return iv.exp(interval(self.epsilon) + iv.log(sum(terms, iv.mpf(0))) / conjugate) if terms else iv.mpf(0)

    def least_over_pairs(self):
        """H(V) - u.V is concave in V: its least over {V : the first lift lies between the ends} is at an extreme V."""
        _need(self.s == 2)
        ends = [Fraction(end, self.unit) for end in _row(self.certificate["ends"], 2, None)]
        _need(ends[0] < 0 < ends[1])
        for end in ends:  # beyond it no lift is allowed, since the alpha-lift grows with the distance from 1
            lifts = [1 + end, 1 - end * self.p_s[0] / self.p_s[1]]
            _need(
                min(lifts) <= 0 or self.epsilon == 0 or (self.log_alpha_lift(lifts) >= interval(self.epsilon)) is True
            )
        first = [given / self.p_s[0] - 1 for given in self.s_given_x[0]]
        values = [interval(-u) for u, own in zip(self.prices, first, strict=True) if ends[0] <= own <= ends[1]]
        for end in ends:
            for x in (x for x in range(self.x) if first[x] < end):
                for y in (y for y in range(self.x) if first[y] > end):
                    share = (end - first[x]) / (first[y] - first[x])
                    paid = share * self.prices[y] + (1 - share) * self.prices[x]
                    values.append(phi(share) + phi(1 - share) - interval(paid))
        return min(values, key=lambda value: value.a)
