"""`Running`: how an analysis is run, whatever its kind."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ..core import check_choices, option, parse_memory, worker_count

RUN = "Run"


@dataclass(frozen=True)
class Running:
    """Memory, threads, and the seed."""

    memory: str | int | None = option(
        None,
        "Budget for the whole process, such as 8GB; a run that cannot keep it is refused. Default: what is free.",
        RUN,
        numbers=False,
    )
    threads: int | None = option(
        None,
        "CPU threads. Default: as many as there are free cores.",
        RUN,
        least=1,
        numbers=False,
    )
    seed: int = option(0, "For everything that is drawn at random.", RUN, least=0)
    progress: bool | None = None
    """Show progress bars; None: where there is a terminal or a notebook."""

    def check(self) -> None:
        """Raise if a value cannot be meant."""
        check_choices(self)
        parse_memory(self.memory)

    def limit_threads(self) -> None:
        """Use so many threads for models and products, from now on; if none are given, as many as cores are free."""
        count = self.threads or worker_count()
        if self.threads is not None:
            os.environ["OMP_NUM_THREADS"] = str(self.threads)
        elif count >= (os.cpu_count() or 1):
            return
        import torch
        from threadpoolctl import threadpool_limits

        torch.set_num_threads(count)
        threadpool_limits(count)

    def to_dict(self) -> dict[str, Any]:
        """What numbers may depend on, as plain data."""
        return {"seed": self.seed}
