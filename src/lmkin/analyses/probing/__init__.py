"""What layers and neurons know about a task: probes, their controls, and the fewest layers and neurons that do."""

from .baselines import majority, most_frequent, words_of
from .computation import compute_probes, probe
from .fitting import HEAD, FittedProbe, fit_probe, head_of
from .options import ProbeOptions
from .plan import bytes_of_fits, bytes_of_scores
from .result import Probes
from .scores import class_scores, confusion, f1_by_class
from .tasks import Task, read_tasks

__all__ = [
    "HEAD",
    "FittedProbe",
    "ProbeOptions",
    "Probes",
    "Task",
    "bytes_of_fits",
    "bytes_of_scores",
    "class_scores",
    "compute_probes",
    "confusion",
    "f1_by_class",
    "fit_probe",
    "head_of",
    "majority",
    "most_frequent",
    "probe",
    "read_tasks",
    "words_of",
]
