"""What layers and neurons know about a task: probes, their controls, and the fewest layers and neurons that do."""

from .baselines import majority, most_frequent, words_of
from .cells import Cells
from .computation import compute_probes, probe
from .fit_alerts import few_parts_alerts, fit_alerts, listed_classes, rare_class_alerts
from .fits import FittedProbe, design_of, fit_probe
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
from .read_alike import require_read_alike
from .result import Probes
from .scored import Scored, mean_of
from .scores import class_scores, f1_by_class, precision_by_class, recall_by_class, tally
from .tables import ProbeCells, baseline_table, published_table
from .tasks import Task, read_tasks
from .variables import ERRORS, Variables
from .weights_file import load_weights, save_weights

__all__ = [
    "ERRORS",
    "Cells",
    "Evidence",
    "FittedProbe",
    "NeuronRanking",
    "ProbeCells",
    "ProbeOptions",
    "Probes",
    "Ranked",
    "Scored",
    "SmallestSet",
    "Task",
    "Variables",
    "baseline_table",
    "bytes_of_fits",
    "bytes_of_scores",
    "class_scores",
    "compute_probes",
    "design_of",
    "f1_by_class",
    "few_parts_alerts",
    "fit_alerts",
    "fit_probe",
    "listed_classes",
    "load_weights",
    "majority",
    "mean_of",
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
    "rare_class_alerts",
    "read_tasks",
    "recall_by_class",
    "require_finite",
    "require_read_alike",
    "save_weights",
    "tally",
    "words_of",
]
