"""`audit` once more, slowly and from its equations (docs/learners/audit.md), for data all of whose rows are landmarks. Nothing is
shared with the program: matrices are inverted, and pairs of rows are looped over."""
import numpy as np


def softmax(S):
    S = S - S.max(axis=1, keepdims=True)
    E = np.exp(S)
    return E / E.sum(axis=1, keepdims=True)


def views(X):
    def unit(A):
        length = np.sqrt((A * A).sum(axis=1, keepdims=True))
        return A / np.where(length == 0, 1, length)

    deviation = X.std(axis=0)
    deviation[deviation < 1e-9] = 1
    return [unit(X), (X - X.mean(axis=0)) / deviation, unit(np.sign(X) * np.sqrt(np.abs(X)))]


class View:
    def __init__(self, V, width):
        n = len(V)
        D2 = ((V[:, None, :] - V[None, :, :]) ** 2).sum(axis=2)
        pairs = D2[np.triu_indices(n, 1)]
        K = np.exp(-width / np.median(pairs[pairs > 1e-12]) * D2)
        s, E = np.linalg.eigh(K)
        kept = s > 1e-8 * s.max()
        F = K @ E[:, kept] / np.sqrt(s[kept])
        F = F - F.mean(axis=0)
        w, Q = np.linalg.eigh(F.T @ F / n)
        w, Q = w[::-1], Q[:, ::-1]
        kept = [d for d in range(min(300, len(w))) if w[d] > 1e-8 * w[0]]
        self.A, self.w = F @ Q[:, kept], w[kept]
        shrink = 1e-3
        while True:
            q = 1 / ((1 - shrink) * self.w + shrink * self.w.mean())
            if ((1 - shrink) * self.w * q).sum() / n <= 0.1 or shrink >= 0.8:
                break
            shrink *= 1.25
        self.s, self.q = shrink, q
        self.h = np.minimum(0.95, (1 - shrink) / n * (self.A ** 2 * q).sum(axis=1) + 1 / n)

    def scores(self, R):
        """Leave-one-out, with the covariance within classes inverted as it stands."""
        n, s = len(R), self.s
        c = R.sum(axis=0) + 1e-9
        f = c / n
        M = R.T @ self.A / c[:, None]
        within = np.diag(1 / self.q) - (1 - s) * M.T @ np.diag(f) @ M
        W = M @ np.linalg.inv(within)
        b = -0.5 * (W * M).sum(axis=1)
        H = M * self.q
        E = (1 - s) * self.A @ H.T * f
        E = (E - self.h[:, None] * (R - f)) / (1 - self.h[:, None])
        G = H @ M.T
        U = np.eye(len(c)) + G @ np.linalg.inv(np.diag(1 / ((1 - s) * f)) - G)
        assert np.allclose(W, U @ H, rtol=1e-6, atol=1e-6 * np.abs(W).max())  # Woodbury
        return (E / f / (1 - s)) @ U.T + b


class Audit:
    def __init__(self, X, y, K, mode="auto"):
        """y: a class from 0 per row, -1 for none."""
        self.y, self.K, self.n = y, K, len(y)
        self.X = np.asarray(X, float)
        self.run(mode)

    def confusion(self, R):
        N = np.zeros((self.K, self.K))
        for r, label in zip(R, self.y):
            if label >= 0:
                N[:, label] += r
        P = N + np.eye(self.K) + 1 / self.K
        return P / P.sum(axis=1, keepdims=True)

    def likelihood(self, P):
        return np.array([np.log(P[:, label]) if label >= 0 else np.zeros(self.K) for label in self.y])

    def S(self, seen, R):
        pi = (R.sum(axis=0) + 1) / (self.n + self.K)
        return sum(view.scores(R) for view in seen) / len(seen) + np.log(pi), pi

    def ll(self, S, LL, t):
        return np.log((softmax(S / t) * np.exp(LL)).sum(axis=1)).mean()

    def structure(self, seen, most):
        R, lls, priors = self.R0, [], []
        for _ in range(most):
            S, pi = self.S(seen, R)
            LL = self.likelihood(self.confusion(R))
            lls.append(max(self.ll(S, LL, t) for t in (1, 1.5, 2, 3, 4, 6)))
            priors.append(np.log((pi * np.exp(LL)).sum(axis=1)).mean())
            new = softmax(S + LL)
            change, R = np.abs(new - R).max(), new
            if change < 1e-3:
                break
        return R, lls, priors

    def settle(self, S, T, Q):
        for _ in range(20):
            LL = self.likelihood(self.confusion(Q))
            Q = softmax(S / T + LL)
        return Q, self.ll(S, LL, T)

    def labels(self, seen, rise):
        S, _ = self.S(seen, self.R0)
        tried = [(*self.settle(S, T, self.R0), T) for T in (0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8, 11)]
        R, best, T = max(tried, key=lambda one: one[1])
        for _ in range(4):
            S, _ = self.S(seen, R)
            Q, ll = self.settle(S, T, R)
            if not ll - best > rise:
                break
            R, best = Q, ll
        return R

    def run(self, mode):
        votes = np.zeros((self.n, self.K))
        for i, label in enumerate(self.y):
            if label >= 0:
                votes[i, label] = 1
        self.R0 = (votes + 1 / (9 * self.K)) / (votes.sum(axis=1, keepdims=True) + 1 / 9)
        by_width = {width: [View(V, width) for V in views(self.X)] for width in (0.3, 1, 3)}
        self.width = max(by_width, key=lambda width: max(self.structure(by_width[width], 10)[1]))
        seen = by_width[self.width]
        self.R, lls, priors = self.structure(seen, 30)
        top = max(lls)
        self.loss = (top - lls[-1]) / (top - priors[-1])
        self.mode = mode
        if mode == "auto":
            self.mode = "structure" if self.loss <= 0.06 else "labels"
        if self.mode == "labels":
            self.R = self.labels(seen, 0.06 * (top - priors[-1]))
        self.P = self.confusion(self.R)


def flags(p):
    """How many of the most suspicious labels to flag."""
    p = np.sort(p)[::-1]
    best, k = 0.0, 0
    for i in range(len(p)):
        f1 = 2 * p[:i + 1].sum() / (i + 1 + p.sum())
        if p[i] > 1e-9 and f1 > best:
            best, k = f1, i + 1
    return k
