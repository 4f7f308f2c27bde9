"""What layers and neurons know about a task: probes, their controls, and the fewest layers and neurons that do."""

from .computation import compute_probes, probe
from .result import Probes
from .tables import Cells, baseline_table, published_table

__all__ = ["Cells", "Probes", "baseline_table", "compute_probes", "probe", "published_table"]
