"""Lists the weights of ranking, learned on the train splits of the labelled sets by `bench/quality/learn.py`."""

from __future__ import annotations

# one row for each of fuse.FEATURES, one column for each of fuse.CONDITIONS
WEIGHTS = (
    (1.188, 0.323, 0.105, -0.160, 1.215),
    (0.669, 0.109, 0.234, -0.005, -0.050),
    (1.014, 0.389, -0.216, 0.151, 0.007),
    (-0.599, 0.246, 0.336, -0.663, -0.527),
    (1.146, 0.516, 0.167, -0.505, 0.384),
    (-0.245, 0.291, 0.039, -0.158, -0.483),
    (-0.482, 0.213, -0.453, -0.003, -0.811),
    (0.047, 0.061, -0.191, -0.148, -0.493),
    (-0.177, -0.032, -0.721, -0.022, -0.719),
    (1.564, -0.089, 0.585, 0.160, 0.782),
    (1.622, -0.213, 0.262, 0.371, 0.846),
    (1.334, -0.163, 0.162, 0.064, 0.357),
    (1.356, -0.243, -0.102, 0.196, 0.373),
    (1.139, -0.079, -0.085, -0.055, -0.491),
    (1.571, -0.128, 0.221, 0.138, 0.046),
    (-0.628, 0.204, 0.179, -0.358, -0.468),
    (0.300, -0.129, -0.355, 0.207, 0.201),
)

# one weight for each of rerank.FEATURES
RERANK = (
    -0.549,
    0.185,
    0.170,
    -0.068,
    -0.408,
    0.563,
    0.599,
    0.104,
    -0.033,
    -0.050,
    -0.811,
    0.656,
    0.262,
    0.206,
    0.443,
    0.052,
    0.936,
    -0.581,
)

# weights of the log-odds of the confidence, one for each of confidence.ConfidenceFeatures, and the constant
GATE = (
    11.70,
    2.20,
    3.07,
    -6.22,
)

# the same where nothing was graded, one for each of confidence.WordFeatures, and the constant: learned on graded
# tasks by `bench/quality/ungraded.py`
WORDS_GATE = (
    -2.82,
    6.05,
    4.48,
    0.89,
    1.65,
    2.35,
    1.27,
    -3.51,
)
