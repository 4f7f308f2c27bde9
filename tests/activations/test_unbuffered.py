from __future__ import annotations

import errno
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lmkin.activations import direct_io as unbuffered
from lmkin.activations.direct_io import PAGE, aligned_memory, write_file


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None
)
@given(st.integers(0, 5 * PAGE))
def test_files_of_any_length_are_written_whole(tmp_path, size: int) -> None:
    memory = aligned_memory(size)
    content = os.urandom(size)
    memory[:size] = content
    write_file(tmp_path / "file", memoryview(memory)[:size])
    assert (tmp_path / "file").read_bytes() == content


@pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="no unbuffered files on this system")
def test_file_systems_that_cannot_do_it_are_written_the_usual_way(tmp_path, monkeypatch) -> None:
    real = os.open
    refused = []

    def picky(path, flags, mode=0o777):
        if flags & os.O_DIRECT:
            refused.append(path)
            raise OSError(errno.EINVAL, "Invalid argument")
        return real(path, flags, mode)

    monkeypatch.setattr(unbuffered.os, "open", picky)
    memory = aligned_memory(3 * PAGE)
    memory[:] = os.urandom(3 * PAGE)
    write_file(tmp_path / "file", memoryview(memory))
    assert refused
    assert (tmp_path / "file").read_bytes() == memory[:]


def test_other_errors_are_not_hidden(tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        write_file(tmp_path / "no" / "folder", memoryview(aligned_memory(PAGE)))
