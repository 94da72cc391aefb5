"""Classifiers from labels that cannot be trusted, as scikit-learn estimators over the C library unconfuse.

Labels confused by a matrix that is known or estimated:

>>> import numpy as np
>>> from sklearn.datasets import load_iris
>>> import unconfuse
>>> X, y = load_iris(return_X_y=True)
>>> noise = unconfuse.make_noise_matrix(3, rate=0.4)
>>> noisy = unconfuse.apply_noise(y, noise)
>>> model = unconfuse.LogisticClassifier(noise_matrix=noise, scale="standard").fit(X, noisy)
>>> model.score(X, y) > 0.9
True

Only right or wrong is told:

>>> learner = unconfuse.CSPAPlusClassifier()
>>> proposed = learner.propose(X[:1], classes=[0, 1, 2])
>>> learner = learner.learn_feedback(X[:1], proposed, proposed == y[:1])
"""
from . import estimators
from ._files import load, save
from ._library import text as _text
from ._noise import NoiseCheck, NoiseEstimate, apply_noise, check_noise_matrix, make_noise_matrix
from ._online import Proposals, Replay
from ._unconfuse import lib as _lib
from .estimators import *  # noqa: F403: one class a learner and a map

__version__ = _text(_lib.uc_version())
__all__ = [*estimators.__all__, "NoiseCheck", "NoiseEstimate", "Proposals", "Replay", "apply_noise", "check_noise_matrix",
           "load", "make_noise_matrix", "save"]
