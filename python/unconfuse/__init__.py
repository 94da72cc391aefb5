"""Classifiers from labels that cannot be trusted, as scikit-learn estimators over the C library unconfuse.

Labels confused by a matrix that is known or estimated:

>>> from sklearn.datasets import load_digits
>>> import unconfuse
>>> X, y = load_digits(return_X_y=True)
>>> noise = unconfuse.make_noise_matrix(10, rate=0.4)
>>> noisy = unconfuse.apply_noise(y, noise)
>>> unconfuse.LogisticClassifier(normalize_input=True).fit(X, noisy).score(X, y).round(3)
0.938
>>> unconfuse.LogisticClassifier(normalize_input=True, noise_matrix=noise).fit(X, noisy).score(X, y).round(3)
0.956

Right/wrong feedback only:

>>> learner = unconfuse.CSPAPlusClassifier()
>>> proposed = learner.propose(X[:1], classes=range(10))
>>> learner = learner.learn_feedback(X[:1], proposed, proposed == y[:1])
"""
from . import estimators
from ._audit import AuditResult, audit
from ._client import Client, ServiceError
from ._crowd import Crowd
from ._drift import Drift, Fall
from ._events import Events
from ._experiment import ExperimentResult, experiment
from ._files import load, save
from ._issues import find_label_issues, get_label_quality_scores
from ._library import text as _text
from ._noise import NoiseCheck, NoiseEstimate, apply_noise, check_noise_matrix, make_noise_matrix
from ._online import Proposals, Replay
from ._scoring import noise_aware_accuracy, noisy_log_likelihood
from ._table import TableEncoder
from ._unconfuse import lib as _lib
from .estimators import *  # noqa: F403: one class per learner and map

__version__ = _text(_lib.uc_version())
__all__ = [*estimators.__all__, "AuditResult", "Client", "Crowd", "Drift", "Events", "ExperimentResult", "Fall", "NoiseCheck", "NoiseEstimate",
           "Proposals", "Replay", "ServiceError", "TableEncoder", "apply_noise", "audit", "check_noise_matrix", "experiment",
           "find_label_issues", "get_label_quality_scores", "load", "make_noise_matrix", "noise_aware_accuracy", "noisy_log_likelihood", "save"]
