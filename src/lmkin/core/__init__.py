"""The foundation: what every room needs and no room owns."""

from .alerts import SCHEMA as ALERTS
from .alerts import Alert, AlertKind, alerts_of, as_data, unique_alerts
from .arguments import check_intervals, check_seed, is_whole, one_of, refuse_unused
from .arrays import Scratch, as_double, as_rows, is_double, numpy_device, to_numpy
from .constant_neurons import ROUNDING, varies
from .disk import require_disk
from .errors import (
    ActivationsError,
    ArrayError,
    CorpusError,
    LmkinError,
    LmkinWarning,
    MeasureError,
    ModelError,
    MomentsError,
    did_you_mean,
    listed_names,
    near_files,
)
from .files.atomic import LEFT_BEHIND, remove_left_behind, replacing
from .files.cache import keep_cached, read_cached
from .files.fingerprint import fingerprint
from .files.lock import FolderLock, locked
from .files.paths import as_path, require_new_file
from .files.plain_data import (
    Choice,
    Number,
    Text,
    Unfit,
    Whole,
    checked,
    parse_json,
    read_json,
    to_json,
)
from .files.safe_files import member, open_file, read_file, require_file
from .files.spreadsheets import cell, write_csv
from .files.tensors import load_tensors, save_tensors, tensors_kind
from .folds import PARTS, IntArray, blocks_at, blocks_of_owners, check_parts, parts_of_rows, runs
from .interruption import (
    end_interrupted,
    interrupted,
    stop_if_interrupted,
    watched_interrupts,
)
from .jit import compiled, machine_code
from .labels import as_labels, kind_of_array, label_kind, require_one_kind
from .layer_ids import (
    PANEL,
    LayerId,
    Layout,
    as_layer_id,
    check_layers,
    choose_layers,
    named_blocks,
    unique_names,
)
from .memory import (
    LIBRARIES,
    Budget,
    available_memory,
    budget,
    human_bytes,
    parse_memory,
    release_memory,
    require_memory,
)
from .options import (
    About,
    Convention,
    OptionField,
    Precision,
    check_choices,
    from_mapping,
    key_of,
    option,
    option_fields,
    to_mapping,
)
from .parallel import Run, one_core, worker_count, workers
from .plan import Plan, Step, format_seconds
from .printable import printable
from .progress import progress_bar
from .quotation import QUOTED_PATH, quoted
from .ridge import GRID, Ridge, parse_ridge
from .slugs import slugs
from .splits import SHARES, SPLITS, Split, by_shares, make_split
from .version import __version__, package_version

__all__ = [
    "ALERTS",
    "GRID",
    "LEFT_BEHIND",
    "LIBRARIES",
    "PANEL",
    "PARTS",
    "QUOTED_PATH",
    "ROUNDING",
    "SHARES",
    "SPLITS",
    "About",
    "ActivationsError",
    "Alert",
    "AlertKind",
    "ArrayError",
    "Budget",
    "Choice",
    "Convention",
    "CorpusError",
    "FolderLock",
    "IntArray",
    "LayerId",
    "Layout",
    "LmkinError",
    "LmkinWarning",
    "MeasureError",
    "ModelError",
    "MomentsError",
    "Number",
    "OptionField",
    "Plan",
    "Precision",
    "Ridge",
    "Run",
    "Scratch",
    "Split",
    "Step",
    "Text",
    "Unfit",
    "Whole",
    "__version__",
    "alerts_of",
    "as_data",
    "as_double",
    "as_labels",
    "as_layer_id",
    "as_path",
    "as_rows",
    "available_memory",
    "blocks_at",
    "blocks_of_owners",
    "budget",
    "by_shares",
    "cell",
    "check_choices",
    "check_intervals",
    "check_layers",
    "check_parts",
    "check_seed",
    "checked",
    "choose_layers",
    "compiled",
    "did_you_mean",
    "end_interrupted",
    "fingerprint",
    "format_seconds",
    "from_mapping",
    "human_bytes",
    "interrupted",
    "is_double",
    "is_whole",
    "keep_cached",
    "key_of",
    "kind_of_array",
    "label_kind",
    "listed_names",
    "load_tensors",
    "locked",
    "machine_code",
    "make_split",
    "member",
    "named_blocks",
    "near_files",
    "numpy_device",
    "one_core",
    "one_of",
    "open_file",
    "option",
    "option_fields",
    "package_version",
    "parse_json",
    "parse_memory",
    "parse_ridge",
    "parts_of_rows",
    "printable",
    "progress_bar",
    "quoted",
    "read_cached",
    "read_file",
    "read_json",
    "refuse_unused",
    "release_memory",
    "remove_left_behind",
    "replacing",
    "require_disk",
    "require_file",
    "require_memory",
    "require_new_file",
    "require_one_kind",
    "runs",
    "save_tensors",
    "slugs",
    "stop_if_interrupted",
    "tensors_kind",
    "to_json",
    "to_mapping",
    "to_numpy",
    "unique_alerts",
    "unique_names",
    "varies",
    "watched_interrupts",
    "worker_count",
    "workers",
    "write_csv",
]
