"""Which neurons, and which layers, say the same thing."""

from ...results import holds, loadable
from .cluster_tables import ranked_layers
from .clustering import Clustering
from .clusters import REPRESENTATIVES, THRESHOLDS, Linkage, Representative, cluster_neurons
from .computation import compute_redundancy, extract_models, redundancy
from .layers import layer_redundancy
from .linkage import LINKAGES, Tree, link
from .memory_plan import plan_clustering
from .neuron_mask import NeuronMask, identity_of
from .options import check_thresholds, parse_thresholds
from .result import Redundancy, usual_threshold
from .stores import chosen_layers, open_store
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
    "check_thresholds",
    "chosen_layers",
    "cluster_neurons",
    "cluster_strips",
    "compute_redundancy",
    "extract_models",
    "identity_of",
    "layer_redundancy",
    "link",
    "open_store",
    "parse_thresholds",
    "plan_clustering",
    "ranked_layers",
    "redundancy",
    "usual_threshold",
]
