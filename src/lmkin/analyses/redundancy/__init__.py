"""Which neurons, and which layers, say the same thing."""

from ...results import holds, loadable
from .cluster_tables import ranked_layers
from .clustering import Clustering
from .clusters import REPRESENTATIVES, THRESHOLDS, Linkage, Representative, cluster_neurons
from .computation import compute_redundancy, extract_models, redundancy
from .layers import layer_redundancy
from .linkage import LINKAGES, Tree, link
from .memory_plan import plan_clustering
from .neuron_mask import NeuronMask
from .result import Redundancy, usual_threshold
from .strips import cluster_strips

loadable("clusters of neurons", holds("clustering"), Clustering.load)
loadable("masks of neurons", holds("neurons to keep"), NeuronMask.load)

__all__ = [
    "LINKAGES",
    "REPRESENTATIVES",
    "THRESHOLDS",
    "Clustering",
    "Linkage",
    "NeuronMask",
    "Redundancy",
    "Representative",
    "Tree",
    "cluster_neurons",
    "cluster_strips",
    "compute_redundancy",
    "extract_models",
    "layer_redundancy",
    "link",
    "plan_clustering",
    "ranked_layers",
    "redundancy",
    "usual_threshold",
]
