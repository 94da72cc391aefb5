"""Handwritten digits of which 40% are labelled wrong: how they are confused, a classifier that allows for it, and which
labels are suspicious; compared with plain scikit-learn, and with throwing suspicious examples away.

    python digits.py [DIRECTORY]        prints a table and writes pictures into the directory (.)
"""
import pathlib
import sys

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split
from sklearn.preprocessing import Normalizer

import unconfuse

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402: behind the choice of a backend without a screen

SPLITS = 5
CHECKED = 0.4  # share of the training labels that somebody checked, where gold labels are used
NAMES = [
    "scikit-learn, noisy labels as they are",
    "scikit-learn, without suspicious examples",
    "unconfuse, noise from the noisy labels alone",
    "unconfuse, noise from 40% of labels checked",
    "unconfuse, noise known",
    "scikit-learn, clean labels",
]


def confusing_noise() -> np.ndarray:
    """60% of the labels are right; 30% of a digit are labelled as the next one, 10% as any other."""
    noise = 0.1 / 9 * (1 - np.eye(10)) + 0.6 * np.eye(10)
    for digit in range(10):
        noise[(digit + 1) % 10, digit] += 0.3
    return noise


def believable(model: LogisticRegression, X: np.ndarray, noisy: np.ndarray) -> np.ndarray:
    """Which examples confident learning keeps, the idea of cleanlab: an example whose out-of-fold probability of another
    class is above that class's mean confidence is taken for mislabelled."""
    P = cross_val_predict(model, X, noisy, cv=5, method="predict_proba")
    confidence = np.array([P[noisy == k, k].mean() for k in range(10)])
    confident = np.where(P >= confidence, P, 0.0)
    return (confident.max(axis=1) == 0) | (confident.argmax(axis=1) == noisy)


def checked_labels(true: np.ndarray, seed: int) -> np.ndarray:
    """The true label where somebody looked, NaN elsewhere."""
    return np.where(np.random.RandomState(seed).rand(len(true)) < CHECKED, true, np.nan)


def tuned(X: np.ndarray, y: np.ndarray) -> LogisticRegression:
    """scikit-learn's logistic regression, its C chosen by cross-validation on the labels as they are."""
    search = GridSearchCV(LogisticRegression(max_iter=3000), {"C": [0.1, 1, 10, 100]}, cv=3)
    return search.fit(X, y).best_estimator_


def one_split(X: np.ndarray, y: np.ndarray, seed: int) -> dict:
    """Everything that is learned from one half and measured on the other."""
    X_train, X_test, true, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed)
    noise = confusing_noise()
    noisy = unconfuse.apply_noise(true, noise, random_state=seed + 1)
    plain = tuned(X_train, noisy)
    keep = believable(plain, X_train, noisy)
    found = unconfuse.estimate_noise_matrix(X_train, noisy, estimator="anchor", bootstrap=0)
    checked = unconfuse.estimate_noise_matrix(None, noisy, gold=checked_labels(true, seed), bootstrap=0)
    models = [
        plain,
        tuned(X_train[keep], noisy[keep]),
        *(unconfuse.LogisticClassifier(noise_matrix=matrix).fit(X_train, noisy)
          for matrix in (found.matrix, checked.matrix, noise)),
        tuned(X_train, true),
    ]
    return {"wrong": np.mean(noisy != true), "estimated": found.matrix, "noise": noise, "X": X_train, "noisy": noisy,
            "true": true, "model": models[2],
            "errors": [1 - model.score(X_test, y_test) for model in models],
            "confusions": [confusion_matrix(y_test, model.predict(X_test), normalize="true") for model in models]}


# ---- pictures ----


def heat_map(axes, matrix: np.ndarray, title: str, across: str, down: str) -> None:
    axes.imshow(matrix, cmap="Blues", vmin=0, vmax=1)
    for (p, q), value in np.ndenumerate(matrix):
        if value >= 0.02:
            axes.text(q, p, f"{100 * value:.0f}", ha="center", va="center", fontsize=7,
                      color="white" if value > 0.5 else "black")
    axes.set_title(title, fontsize=10)
    axes.set(xlabel=across, ylabel=down, xticks=range(10), yticks=range(10))


def draw_noise(split: dict, path: pathlib.Path) -> None:
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 4.8), layout="constrained")
    heat_map(axes[0], split["noise"], "the noise, in %", "true digit", "label")
    heat_map(axes[1], split["estimated"], "estimated from the noisy labels alone", "true digit", "label")
    figure.savefig(path, dpi=90, bbox_inches="tight")


def draw_confusions(split: dict, path: pathlib.Path) -> None:
    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4.9), layout="constrained")
    for number, axis in zip((0, 1, 2), axes):
        title = f"{NAMES[number]}\nerror {100 * split['errors'][number]:.1f}%"
        heat_map(axis, split["confusions"][number], title, "predicted digit", "true digit")
    figure.savefig(path, dpi=80, bbox_inches="tight")


def draw_suspicious(split: dict, path: pathlib.Path) -> None:
    """Of every digit that the classifier sees, the three labels that are least likely right; blue: wrong indeed."""
    order = np.argsort(split["model"].label_is_right(split["X"], split["noisy"]), kind="stable")
    predicted = split["model"].predict(split["X"])
    figure, axes = pyplot.subplots(3, 10, figsize=(10, 3.9), layout="constrained")
    for digit in range(10):
        for axis, i in zip(axes[:, digit], order[predicted[order] == digit]):
            axis.imshow(split["X"][i].reshape(8, 8), cmap="Greys")
            wrong = split["noisy"][i] != split["true"][i]
            axis.set_title(f"{split['noisy'][i]}, rather {digit}", fontsize=8, color="tab:blue" if wrong else "tab:red")
            axis.axis("off")
    figure.savefig(path, dpi=90, bbox_inches="tight")


def main() -> None:
    directory = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    X, y = load_digits(return_X_y=True)
    X = Normalizer().fit_transform(X)
    splits = [one_split(X, y, seed) for seed in range(SPLITS)]
    first = splits[0]
    print(f"{len(first['noisy'])} examples to learn from, {100 * np.mean([s['wrong'] for s in splits]):.0f}% labelled wrong")
    distance = np.mean([np.abs(s["estimated"] - s["noise"]).mean() for s in splits])
    print(f"an entry of the estimated matrix is off by {distance:.3f} on average\n")
    print(f"{'error on clean test labels, mean of ' + str(SPLITS) + ' splits':48} error  deviation")
    for number, name in enumerate(NAMES):
        errors = [split["errors"][number] for split in splits]
        print(f"{name:48} {np.mean(errors):.3f}      {np.std(errors):.3f}")
    suspicious = np.argsort(first["model"].label_is_right(first["X"], first["noisy"]))[:100]
    found = np.mean(first["noisy"][suspicious] != first["true"][suspicious])
    print(f"\nof the 100 most suspicious labels of the first split, {100 * found:.0f} are wrong")
    draw_noise(first, directory / "digits-noise.png")
    draw_confusions(first, directory / "digits-confusion.png")
    draw_suspicious(first, directory / "digits-suspicious.png")


if __name__ == "__main__":
    main()
