"""What layers and neurons know about a task: probes, their controls, and the fewest layers and neurons that do."""

from .baselines import majority, most_frequent, words_of
from .computation import compute_probes, probe
from .fitting import HEAD, FittedProbe, fit_probe, head_of
from .options import ProbeOptions
from .plan import bytes_of_fits, bytes_of_scores
from .result import Probes
from .scores import class_scores, f1_by_class, tally
from .tables import Cells, baseline_table, published_table
from .tasks import Task, read_tasks

__all__ = [
    "HEAD",
    "Cells",
    "FittedProbe",
    "ProbeOptions",
    "Probes",
    "Task",
    "baseline_table",
    "bytes_of_fits",
    "bytes_of_scores",
    "class_scores",
    "compute_probes",
    "f1_by_class",
    "fit_probe",
    "head_of",
    "majority",
    "most_frequent",
    "probe",
    "published_table",
    "read_tasks",
    "tally",
    "words_of",
]
