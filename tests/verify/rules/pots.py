"""Knows how the Hand Pot is cut into layers, and how layers are paid, moved and raked."""

from __future__ import annotations

from dataclasses import dataclass

from .core import Core


@dataclass
class Layer:
    """A part of the Hand Pot, and the live players who paid into it."""

    name: str
    amount: int
    players: list[int]


def layers(core: Core) -> list[Layer]:
    """The Hand Pot in layers, main first, with a carried pot in the main one; empties the pot."""
    levels = sorted({core.paid[player] for player in core.live} - {0})
    cut: list[Layer] = []
    below = 0
    for level in levels:
        amount = sum(min(paid, level) - min(paid, below) for paid in core.paid)
        players = [player for player in core.players if core.paid[player] >= level]
        cut.append(Layer("", amount, players))
        below = level
    if not cut:
        cut.append(Layer("", 0, core.players))
    cut[-1].amount += sum(max(paid - below, 0) for paid in core.paid)
    cut[0].amount += core.carried_pot
    core.carried_pot = 0
    core.paid = [0] * core.count
    for at, layer in enumerate(cut):
        layer.name = f"side-{at}" if at else "main"
    return cut


def win(core: Core, layer: Layer, winners: list[int]) -> None:
    """Pays a layer out, after rake where it was contested."""
    rake = 0
    if len(layer.players) >= 2:
        rake = raked(core, layer.amount)
    core.split(layer.amount - rake, winners, layer.name)
    if layer.name == "main":
        core.winners = sorted(winners)


def raked(core: Core, amount: int) -> int:
    """Takes the rake off an amount; gives it."""
    rake = amount * core.rules.number("rake_bps") // 10_000
    cap = core.rules.number("rake_cap")
    if cap > 0:
        rake = min(rake, cap - core.rake)
    core.rake += rake
    return rake


def move(core: Core, layer: Layer) -> None:
    """A layer that nobody wins goes to the Sabacc Pot."""
    core.sabacc_pot += layer.amount
    if layer.amount > 0:
        core.line(f"{layer.name} moves sabacc {layer.amount}")


def carry(core: Core, layer: Layer) -> None:
    """A layer that nobody wins is carried to the next hand."""
    core.carried_pot += layer.amount


def win_sabacc(core: Core, winners: list[int]) -> None:
    """Pays the Sabacc Pot out; it counts as won also where it is empty of credits."""
    amount, core.sabacc_pot = core.sabacc_pot, 0
    core.split(amount, winners, "sabacc")
    core.sabacc_won = core.sabacc_won or amount > 0


def close(core: Core) -> None:
    """The last lines of a settlement."""
    if core.carried_pot > 0:
        core.line(f"pot carries {core.carried_pot}")
    if core.rake > 0:
        core.line(f"rake {core.rake}")


def one_left(core: Core) -> None:
    """Everything goes to the one who did not fold."""
    core.return_uncalled()
    amount = sum(core.paid) + core.carried_pot
    core.paid, core.carried_pot = [0] * core.count, 0
    core.split(amount, core.live, "main")
    core.winners = core.players
