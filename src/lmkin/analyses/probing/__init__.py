"""What layers and neurons know about a task: probes, their controls, and the fewest layers and neurons that do."""

from .clustered import probe_clusters
from .computation import compute_probes, probe
from .minimal import minimal_neurons
from .neuron_curves import neuron_curves
from .neuron_order import NeuronRanking
from .neuron_overlap import neuron_overlap
from .neuron_sets import SmallestSet
from .ranked_neurons import rank_neurons
from .ranking_registry import Evidence, Ranked, ranking_method, ranking_names
from .result import Probes

__all__ = [
    "Evidence",
    "NeuronRanking",
    "Probes",
    "Ranked",
    "SmallestSet",
    "compute_probes",
    "minimal_neurons",
    "neuron_curves",
    "neuron_overlap",
    "probe",
    "probe_clusters",
    "rank_neurons",
    "ranking_method",
    "ranking_names",
]
