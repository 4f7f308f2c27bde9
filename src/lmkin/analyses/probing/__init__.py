"""What layers and neurons know about a task: probes, their controls, and the fewest layers and neurons that do."""

from .computation import compute_probes, probe
from .result import Probes

__all__ = ["Probes", "compute_probes", "probe"]
