"""What layers and neurons know about a task: probes, their controls, and the fewest layers and neurons that do."""

from .baselines import majority, most_frequent, words_of
from .clustered import probe_clusters
from .computation import compute_probes, probe
from .fits import HEAD, FittedProbe, design_of, fit_probe, head_of
from .minimal import minimal_neurons
from .neuron_curves import neuron_curves
from .neuron_order import NeuronRanking
from .neuron_overlap import neuron_overlap
from .neuron_sets import SmallestSet
from .options import ProbeOptions
from .plan import bytes_of_fits, bytes_of_scores
from .ranked_neurons import rank_neurons
from .ranking_registry import Evidence, Ranked, ranking_method, ranking_names
from .result import Probes
from .scores import class_scores, f1_by_class, tally
from .tables import Cells, baseline_table, published_table
from .tasks import Task, read_tasks

__all__ = [
    "HEAD",
    "Cells",
    "Evidence",
    "FittedProbe",
    "NeuronRanking",
    "ProbeOptions",
    "Probes",
    "Ranked",
    "SmallestSet",
    "Task",
    "baseline_table",
    "bytes_of_fits",
    "bytes_of_scores",
    "class_scores",
    "compute_probes",
    "design_of",
    "f1_by_class",
    "fit_probe",
    "head_of",
    "majority",
    "minimal_neurons",
    "most_frequent",
    "neuron_curves",
    "neuron_overlap",
    "probe",
    "probe_clusters",
    "published_table",
    "rank_neurons",
    "ranking_method",
    "ranking_names",
    "read_tasks",
    "tally",
    "words_of",
]
