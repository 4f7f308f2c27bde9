"""The same sums in another origin and unit, so that sums of different references can be added."""

from __future__ import annotations

from typing import Any

from ..core import Layout
from .sums import NormWeights, Reference, Sums


def rebased(
    xp: Any, sums: Sums, layout: Layout, old: Reference, new: Reference, device: Any
) -> Sums:
    r"""Sums of z' = t z + δ from sums of z, where t = scale / scale' and δ = (shift − shift') / scale'.

    Exact for all second moments and for the raw row norms: with δ moved out of a norm,
    a' = a + 2 u·z + e, where u = w δ and e = Σ w δ², every sum of a' is one of z, a, zzᵀ and za. The norms of
    standardized neurons are exact where t = 1; else they follow it to first order, through Σz²a.
    """
    g, widths = len(layout.groups), [c.stop - c.start for c in layout.panels]
    t, delta = old.scale / new.scale, (old.shift - new.shift) / new.scale
    out = Sums(xp, layout, dtype=sums.dtype, device=device)
    out.n, n = sums.n, sums.n
    scaled = sums.first * t  # Σ t z
    out.first += scaled + n * delta
    double = {"dtype": xp.float64, "device": device}
    was, becomes = (
        NormWeights(xp, layout, old, **double),
        NormWeights(xp, layout, new, **double),
    )
    rescale = was.units[0, :] / becomes.units[0, :]  # raw norms: only their unit changes
    total = xp.stack([sums.norm_total[0, :] * rescale, sums.norm_total[1, :]])
    pairs = xp.stack(
        [sums.norm_pairs[0, ...] * rescale[:, None] * rescale[None, :], sums.norm_pairs[1, ...]]
    )
    first = xp.stack([sums.norm_first[0, ...] * rescale, sums.norm_first[1, ...]]) * t[:, None]
    square = sums.norm_square * (t * t)[:, None]

    # Standardized norms in the new unit, to first order in t² − 1.
    growth = t * t - 1.0
    member = becomes.matrix[:, g:]  # D × g, 1 / width in a group's own rows
    diagonal = xp.concat(
        [
            xp.linalg.diagonal(xp.astype(p[:, :w], xp.float64))
            for p, w in zip(sums.panels, widths, strict=True)
        ]
    )
    more = xp.matmul(member.T, (growth[:, None] * sums.norm_square))  # g (grown) × g
    extra = xp.matmul(member.T, growth * diagonal)
    pairs[1, ...] += more + more.T + extra[:, None] * extra[None, :] / max(n, 1)
    total[1, :] += extra
    first[1, ...] += (t * sums.first / max(n, 1))[:, None] * extra[None, :]
    square += (t * t * diagonal / max(n, 1))[:, None] * extra[None, :]

    # Uncentred products move with the shift: S' = T S T + (Tσ)δᵀ + δ(Tσ)ᵀ + n δδᵀ.
    raw_u, std_u = (
        becomes.matrix[:, :g] * delta[:, None],
        becomes.matrix[:, g:] * delta[:, None],
    )
    moved = xp.zeros((2, layout.width, g), **double)  # S u for every group
    for width, panel, columns in zip(widths, sums.panels, layout.panels, strict=True):
        rest = slice(columns.start, layout.width)
        S = xp.astype(panel, xp.float64) * t[columns][:, None] * t[rest][None, :]
        for kind, u in enumerate((raw_u, std_u)):
            moved[kind, columns, ...] += xp.matmul(S, u[rest, :])
            after = slice(columns.stop, layout.width)
            moved[kind, after, ...] += xp.matmul(S[:, width:].T, u[columns, :])
        S += scaled[columns][:, None] * delta[rest][None, :]
        S += delta[columns][:, None] * (scaled + n * delta)[rest][None, :]
        out.panels.append(xp.astype(S, sums.dtype))
    for kind, u in enumerate((raw_u, std_u)):
        e = xp.sum(u * delta[:, None], axis=0)
        us = xp.matmul(u.T, scaled)  # u·Σtz
        new_total = total[kind, :] + 2 * us + n * e
        cross = xp.matmul(u.T, first[kind, ...])  # u_g · Σ z a_h
        out.norm_pairs[kind, ...] += (
            pairs[kind, ...]
            + 2 * (cross + cross.T)
            + 4 * xp.matmul(u.T, moved[kind, ...])
            + e[:, None] * (total[kind, :] + 2 * us)[None, :]
            + (total[kind, :] + 2 * us)[:, None] * e[None, :]
            + n * e[:, None] * e[None, :]
        )
        out.norm_total[kind, :] += new_total
        out.norm_first[kind, ...] += (
            first[kind, ...]
            + 2 * moved[kind, ...]
            + scaled[:, None] * e[None, :]
            + delta[:, None] * new_total[None, :]
        )
    e = xp.sum(std_u * delta[:, None], axis=0)
    moved_first = first[1, ...] + 2 * moved[1, ...] + scaled[:, None] * e[None, :]
    out.norm_square += (
        square
        + (t * t * diagonal)[:, None] * e[None, :]
        + 2 * delta[:, None] * moved_first
        + (delta * delta)[:, None] * out.norm_total[1, :][None, :]
    )
    return out
