"""Maps as transformers: the kernel that they approximate, sparse rows, copies, and the same as inside a classifier."""
import pickle

import numpy as np
import pytest
import scipy.sparse
from conftest import MAPS, blobs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

import unconfuse


@pytest.mark.parametrize("cls", [unconfuse.KernelPCA, unconfuse.KernelGramSchmidt, unconfuse.RandomProjectionMap,
                                 unconfuse.Nystroem])
def test_a_map_as_large_as_the_rows_gives_the_kernel(cls):
    X, _ = blobs(rows=60)
    map = cls(dimension=60, width=200.0).fit(X)
    Z = map.transform(X).astype(float)
    assert map.width_ == 200.0
    np.testing.assert_allclose(Z @ Z.T, rbf_kernel(X.astype(float), gamma=1 / 200), atol=2e-3)


def test_landmarks_are_kernel_values():
    X, _ = blobs(rows=60)
    Z = unconfuse.Landmarks(dimension=60, gamma=0.01).fit_transform(X)
    kernel = rbf_kernel(X.astype(float), gamma=0.01)
    np.testing.assert_allclose(np.sort(Z, axis=1), np.sort(kernel, axis=1), atol=1e-5)


@pytest.mark.parametrize("cls", MAPS)
def test_sparse_rows_and_copies_are_mapped_alike(cls):
    X, _ = blobs()
    map = cls(dimension=20).fit(X)
    Z = map.transform(X)
    assert Z.shape == (300, 20) and Z.dtype == np.float32
    np.testing.assert_allclose(map.transform(scipy.sparse.csr_matrix(X)), Z, atol=1e-5)
    assert (pickle.loads(pickle.dumps(map)).transform(X) == Z).all()
    assert map.get_feature_names_out().tolist() == [f"{cls.__name__.lower()}{j}" for j in range(20)]


@pytest.mark.parametrize("cls", MAPS)
def test_a_pipeline_is_the_map_of_a_classifier(cls):
    X, y = blobs()
    inside = unconfuse.CSVMClassifier(map=cls._map, dimension=20).fit(X, y)
    outside = make_pipeline(cls(dimension=20), unconfuse.CSVMClassifier(normalize=True)).fit(X, y)  # as after its own map
    np.testing.assert_allclose(outside.decision_function(X), inside.decision_function(X), rtol=1e-4, atol=1e-4)


def test_parameters_of_one_map_are_not_offered_by_others():
    assert "center" in unconfuse.KernelPCA().get_params() and "center" not in unconfuse.Nystroem().get_params()
    assert "pick" in unconfuse.Nystroem().get_params() and "pick" not in unconfuse.KernelPCA().get_params()
    assert "map" not in unconfuse.KernelPCA().get_params()


def test_what_needs_labels_is_refused_and_a_dimension_is_lowered():
    X, _ = blobs(rows=40)
    for parameters in (dict(dimension="auto"), dict(width="auto")):
        with pytest.raises(ValueError, match="chosen by labels"):
            unconfuse.KernelPCA(**parameters).fit(X)
    with pytest.warns(UserWarning, match="dimension"):
        assert unconfuse.KernelPCA(dimension=500).fit_transform(X).shape[1] <= 40
    with pytest.raises(ValueError, match="kernel='round': it must be one of linear|gaussian|polynomial"):
        unconfuse.KernelPCA(kernel="round").fit(X)
    bad = X.copy()
    bad[3, 3] = np.inf
    with pytest.raises(ValueError, match="inf"):
        unconfuse.KernelPCA(dimension=5).fit(X).transform(bad)
