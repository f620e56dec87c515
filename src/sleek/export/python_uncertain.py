"""Probabilities and intervals in Python."""

from __future__ import annotations

import numpy as np

from sleek.export.uncertain import Intervals, Probabilities


def probability_lines(said: Probabilities, n_outputs: int) -> list[str]:
    """Lines that return the probabilities if they are asked for."""
    low, before, after, high = said.slopes
    lines = f"""if proba:
    def log_odds(y):
        v = y / {said.scale!r}
        if v > 1:
            return {after!r} / 2 + {high!r} * (0.5 + {said.tail!r} * (v - 1) / v)
        if v > 0:
            return {after!r} * (v - v * v / 2) + {high!r} * v * v / 2
        if v < -1:
            return {-before!r} / 2 - {low!r} * (0.5 + {said.tail!r} * (v + 1) / v)
        return {before!r} * (v + v * v / 2) - {low!r} * v * v / 2
    odds = [log_odds(y) for y in {"(-outputs[0], outputs[0])" if n_outputs == 1 else "outputs"}]
    odds = [exp(value - max(odds)) for value in odds]
    return [value / sum(odds) for value in odds]"""
    return lines.split("\n")


def interval_lines(said: Intervals, alone: bool) -> list[str]:
    """Lines that return the ends of intervals if they are asked for."""
    lines = ["if interval:"]
    wider = ""
    if said.leverage is not None:
        rows = [said.leverage.factor[j, : j + 1].tolist() for j in range(len(said.leverage.factor))]
        lines += [
            f"    leverage = {rows!r}",
            f"    leverage_center = {said.leverage.center.tolist()!r}",
            f"    wider = {1.0 + said.leverage.least!r}",
            "    for weights, value in zip(leverage, leverage_center):",
            "        wider += (sum(w * unit for w, unit in zip(weights, units)) - value) ** 2",
        ]
        wider = " * sqrt(wider)"
    weights = np.zeros((0, len(said.half))) if said.weights is None else said.weights
    numbers = zip(*(a.tolist() for a in (said.half, said.constant, said.low, said.high)), strict=True)
    lines += [
        f"    sizes = {list(numbers)!r}",
        f"    size_weights = {weights.T.tolist()!r}",
        "    ends = []",
        "    for y, (half, size, low, high), weights in zip(outputs, sizes, size_weights):",
        "        size += sum(w * unit for w, unit in zip(weights, units))",
        f"        half *= exp(min(max(size, low), high)){wider}",
        "        ends.append((y - half, y + half))",
        f"    return {'ends[0]' if alone else 'ends'}",
    ]
    return lines
