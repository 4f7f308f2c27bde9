"""Which neurons, and which layers, say the same thing."""

from .clustering import Clustering
from .grouping import THRESHOLDS, cluster_neurons
from .keeping import Keep
from .layers import layer_redundancy
from .linking import Tree, link
from .strips import cluster_strips

__all__ = [
    "THRESHOLDS",
    "Clustering",
    "Keep",
    "Tree",
    "cluster_neurons",
    "cluster_strips",
    "layer_redundancy",
    "link",
]
