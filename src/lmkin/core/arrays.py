"""The little that the array API standard does not say: where memory is reused, and how arrays become numpy."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from .errors import MomentsError


def as_rows(array: Any, name: str) -> Any:
    """A matrix of units × neurons of any array library; lists and array-likes become numpy."""
    _require_plain(array, name)
    if not array_api_compat.is_array_api_obj(array):
        try:
            array = np.asarray(array)
        except ValueError:
            raise MomentsError(
                f"{name}: a matrix of units × neurons expected; the rows differ in length."
            ) from None
    if (
        isinstance(array, np.ndarray) and array.dtype.kind in "OSUVMmc"
    ) or "complex" in f"{array.dtype}":
        raise MomentsError(f"{name}: real numbers expected, got {array.dtype}.")
    if getattr(array, "requires_grad", False):
        array = array.detach()  # else the sums would drag the graph of every block along
    if array.ndim != 2:
        raise MomentsError(
            f"{name}: a matrix of units × neurons expected, got the shape {tuple(array.shape)}."
        )
    if array.shape[1] == 0:
        raise MomentsError(f"{name} has no neurons: its shape is {tuple(array.shape)}.")
    return array


def _require_plain(array: Any, name: str) -> None:
    """Raise if an array hides some of its numbers, has none, or keeps them in another way: they would be lost."""
    masked = isinstance(array, np.ma.MaskedArray)
    if masked or (isinstance(array, list | tuple) and any(map(np.ma.isMaskedArray, array))):
        hidden = sum(int(np.ma.getmaskarray(np.ma.asarray(row)).sum()) for row in array)
        raise MomentsError(
            f"{name} is a masked array, with {hidden:,} values hidden. Leave out the rows that have some, from all "
            f"layers alike (array[~mask.any(1)].data), or fill them."
        )
    layout = str(getattr(array, "layout", "torch.strided"))
    device = str(getattr(array, "device", ""))
    if layout != "torch.strided" or hasattr(array, "todense") or hasattr(array, "toarray"):
        raise MomentsError(f"{name} is a sparse array; give a dense one (to_dense(), toarray()).")
    if "qint" in str(getattr(array, "dtype", "")):
        raise MomentsError(f"{name} is quantized; give its numbers (dequantize()).")
    if device == "meta":
        raise MomentsError(f"{name} is on the device 'meta': it has a shape, but no numbers.")


def is_double(array: Any) -> bool:
    """Whether the numbers carry more digits than float32 holds: float64, or integers."""
    return str(array.dtype).rpartition(".")[2] in ("float64", "int64", "int32", "uint32", "uint64")


def to_numpy(array: Any) -> NDArray[Any]:
    """As numpy, from any device."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        if str(array.dtype) == "torch.bfloat16":  # numpy has no such type; float32 holds it exactly
            array = array.float()
    return np.asarray(array)


def numpy_device(xp: Any) -> bool:
    """Whether a namespace is numpy's."""
    return bool(array_api_compat.is_numpy_namespace(xp))


def as_double(xp: Any, array: Any, device: Any) -> Any:
    """As float64 of a namespace, on a device."""
    if numpy_device(xp):
        return np.asarray(to_numpy(array), np.float64)
    return xp.astype(xp.asarray(array, device=device), xp.float64)


class Scratch:
    """Memory that is used again and again: on some machines a fresh page costs more than what is written to it."""

    def __init__(self) -> None:
        self._memory: Any = None

    def matmul(self, xp: Any, A: Any, B: Any) -> Any:
        """``A @ B``, valid until the next call."""
        if not numpy_device(xp):
            return xp.matmul(A, B)
        size = A.shape[0] * B.shape[1]
        dtype = np.result_type(A, B)
        if self._memory is None or self._memory.size < size or self._memory.dtype != dtype:
            self._memory = np.empty(size, dtype)
        return np.matmul(A, B, out=self._memory[:size].reshape(A.shape[0], B.shape[1]))

    def square(self, xp: Any, Z: Any) -> Any:
        """``Z * Z``, valid until the next call."""
        if not numpy_device(xp):
            return Z * Z
        if self._memory is None or self._memory.size < Z.size or self._memory.dtype != Z.dtype:
            self._memory = np.empty(Z.size, Z.dtype)
        return np.multiply(Z, Z, out=self._memory[: Z.size].reshape(Z.shape))
