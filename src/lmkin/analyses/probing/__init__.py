"""What layers and neurons know about a task: probes, their controls, and the fewest layers and neurons that do."""

from .baselines import majority, most_frequent, words_of
from .computation import compute_probes, probe
from .fits import HEAD, FittedProbe, design_of, fit_probe, head_of
from .model_rows import require_finite
from .neurons.clustered import probe_clusters
from .neurons.curves import neuron_curves
from .neurons.minimal import minimal_neurons
from .neurons.order import NeuronRanking
from .neurons.overlap import neuron_overlap
from .neurons.ranked import rank_neurons
from .neurons.registry import Evidence, Ranked, ranking_method, ranking_names
from .neurons.sets import SmallestSet
from .options import ProbeOptions
from .plan import bytes_of_fits, bytes_of_scores
from .result import Probes
from .scores import class_scores, f1_by_class, precision_by_class, recall_by_class, tally
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
    "precision_by_class",
    "probe",
    "probe_clusters",
    "published_table",
    "rank_neurons",
    "ranking_method",
    "ranking_names",
    "read_tasks",
    "recall_by_class",
    "require_finite",
    "tally",
    "words_of",
]
