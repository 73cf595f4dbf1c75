"""Knows the hand as the seed deals it and the rules play it, record by record.

Faces and results come from the seed alone; what is on record of them is compared. The walk stops at
the first record that the rules or the seed refuse: the check it belongs to fails, and those that
needed the rest cannot be made.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from . import leaves, moves, promises, start
from .bundle import Read
from .aborts import AGREED
from .case import Case, Trouble, missing
from .clocks import LEAVE, Clocks
from .dealing import Dealing, Named, named, outcome_of
from .places import Misplaced, Place
from .proto import Message
from .rules.hand import Hand
from .rules.kinds import Ask, Deal, Move, Refused
from .rules.ruleset import MAX_CREDITS, RuleSet

MAX_SEAT = 8


@dataclass(frozen=True)
class Dealt:
    """A deal that happened. `audience`: the seat that may see the cards; 0: everybody."""

    places: list[Place]
    audience: int
    since: int
    """When the hand came to need these cards."""
    certain: bool = True
    """It is on the table's record; else it was due when the hand came to nothing."""


@dataclass(frozen=True)
class End:
    """The end by the rules: when, and which places of cards are shown, by seat."""

    at: int
    shown: dict[int, list[Place]]


@dataclass
class Line:
    """A decision as the chain takes it. `said`: a choice that is secret when made in the clear."""

    position: int
    seat: int
    by_clock: bool
    leaves: bool
    voids: bool
    line: str
    said: str
    signature: bytes


@dataclass
class Walk:
    """What came out of it."""

    troubles: dict[str, str] = field(default_factory=dict)
    stop: tuple[str | None, str] | None = None
    lines: list[Line] = field(default_factory=list)
    chain: dict[int, bytes] = field(default_factory=dict)
    """The chain with each decision in it, and with each leave that was asked for, by position, once
    signatures were checked."""
    deals: list[Dealt] = field(default_factory=list)
    ahead: list[tuple[Message, Message]] = field(default_factory=list)
    """Operations and results that were due when the hand came to nothing."""
    end: End | None = None
    hand: Hand | None = None
    broken: str | None = None
    """Why there is no walk at all: records that no service writes."""

    @property
    def whole(self) -> bool:
        """The hand was played again as far as its records go."""
        return self.stop is None and self.broken is None

    def trouble(self, check: str, why: str) -> None:
        """Something is wrong, and the walk goes on."""
        self.troubles.setdefault(check, why)

    def verdict(self, check: str) -> None:
        """What the walk says to a check."""
        if self.broken is not None:
            raise Trouble(self.broken)
        if check in self.troubles:
            raise Trouble(self.troubles[check])
        if self.stop is not None:
            at, why = self.stop
            if at == check:
                raise Trouble(why)
            raise missing(f"the hand cannot be replayed to its end: {why}")


class _Stop(Exception):
    """The walk cannot go on; `check` fails."""

    def __init__(self, check: str, why: object) -> None:
        super().__init__(str(why))
        self.check = check


def walk(case: Case) -> Walk:
    """Walks a hand's records."""
    out = Walk()
    if case.aborted and case.find("HandSealed") is None:
        # No chance was used, and nothing dealt or decided: the streams' order says so.
        return out
    try:
        walker = _Walker(case, out)
    except Trouble as trouble:
        out.stop = (None, str(trouble))
        return out
    except Refused as refused:
        out.stop = ("decisions", str(refused))
        return out
    walker.run()
    return out


def set_up(opened: Message) -> Hand:
    """The hand as its first event describes it."""
    amounts = [seat.stack for seat in opened.roster] + [opened.sabacc_pot, opened.carried_pot]
    if any(amount > MAX_CREDITS for amount in amounts):
        raise Refused("there are more credits than there can be")
    seats = [seat.seat for seat in opened.roster]
    if not all(1 <= seat <= MAX_SEAT for seat in seats):
        raise Refused("there is no such seat")
    stacks = [seat.stack for seat in opened.roster]
    rules = RuleSet.from_canonical(opened.rule_set)
    return Hand(rules, seats, stacks, (opened.sabacc_pot, opened.carried_pot))


def _missed(case: Case) -> list[int | None]:
    """Clocks missed in a row before the hand, where the records say so."""
    roster = case.one("HandOpened").event.roster
    try:
        return start.before(case).missed(roster)
    except Trouble:
        return [None] * len(roster)


class _Walker:
    """The walk under way."""

    def __init__(self, case: Case, out: Walk) -> None:
        opened = case.one("HandOpened")
        self.case = case
        self.out = out
        self.hand = set_up(opened.event)
        self.seats = [seat.seat for seat in opened.event.roster]
        self.dealing = Dealing(self.hand, promises.chance(case), self.seats)
        self.clocks = Clocks(case.settings, _missed(case), opened.at)
        self.asked = leaves.asked(case)
        self.agreed: set[int] | None = None
        """Who agrees to end the hand, while it is suspended."""
        self.since = opened.at
        self.shown: dict[int, list[Named]] = {}
        out.hand = self.hand

    def run(self) -> None:
        """All records of the hand's stream."""
        steps = {
            "HandSealed": self.sealed, "ChanceUsed": self.used, "CardsMoved": self.moved,
            "MoveDecided": self.decided, "ClockResumed": self.resumed, "CardsShown": self.shows,
            "HandSettled": self.settled, "HandSuspended": self.suspended,
            "HandContinued": self.continued, "HandAborted": self.ended,
        }
        for read in self.case.hand:
            step = steps.get(read.kind)
            if step is None or read.kept_back:
                continue
            try:
                step(read)
            except _Stop as stop:
                self.out.stop = (stop.check, f"position {read.position}: {stop}")
                return
        self.finish()

    def finish(self) -> None:
        """What can be said once all records are read."""
        out = self.out
        if self.case.aborted:
            done = len(self.case.all("OperationPerformed"))
            self.dealing.look_ahead(done - len(self.case.all("ChanceUsed")))
            out.ahead = self.dealing.ahead
            for places, audience in self.dealing.dealt_ahead:
                out.deals.append(Dealt(places, audience, self.since, certain=False))
            self.compare_shown(set(self.shown))
            return
        if out.end is None:
            out.stop = (None, "the hand is not over")
        if out.end is not None:
            self.compare_shown(set(self.shown) | set(out.end.shown))
        finished = self.case.find("HandFinished")
        if finished is not None and not self.clocks.counts(finished.event.misses):
            out.trouble("clocks", "the table counts other clocks missed than the hand has")

    # Records.

    def sealed(self, read: Read) -> None:
        """From here on something is due."""
        self.clocks.due_at = self.since = read.at

    def used(self, read: Read) -> None:
        """An operation of chance: the one that is due, with what the seed gives."""
        event, due = read.event, self.hand.chance
        operation, result = event.operation, event.result
        try:
            if operation is None or result is None:
                raise Misplaced("an operation without content")
            if due is None:
                raise Misplaced("a use of chance where none is due")
            places = self.dealing.places
            expected = places.restock(due) if event.restock else places.ask(due)
            if expected != operation:
                raise Misplaced("another operation of chance than the rules call for")
            values, root = self.dealing.perform(operation)
            if (result.index, result.values) != (operation.index, values):
                raise Misplaced(f"operation {operation.index} gave what the seed does not give")
            if result.root != root:
                self.out.trouble("operations", f"the root of operation {operation.index} is wrong")
            if event.restock:
                return
            self.hand.give(outcome_of(due, values))
        except (Misplaced, Refused) as problem:
            raise _Stop("operations", problem) from None
        self.after(read)

    def moved(self, read: Read) -> None:
        """Cards left a pile: those that are due, from where they lay."""
        event, due = read.event, self.hand.chance
        refs = [(ref.op, ref.position) for ref in event.cards]
        try:
            if not isinstance(due, Deal):
                raise Misplaced("cards where no deal is due")
            seat = 0 if due.player is None else self.seats[due.player]
            if event.seat != seat:
                raise Misplaced("cards for another seat")
            if self.dealing.places.places_of(due, len(refs)) != refs:
                raise Misplaced("a deal takes other places than the top of its pile")
            cards = [self.dealing.face(place) for place in refs]
            self.hand.give(cards)
        except (Misplaced, Refused) as problem:
            raise _Stop("cards", problem) from None
        for place, card in zip(refs, cards):
            self.dealing.places.learn(place, card)
        for ref in event.cards:
            self.compare(ref, due.shown)
            self.salted(ref)
        self.out.deals.append(Dealt(refs, 0 if due.shown else seat, self.since))
        self.after(read)

    def decided(self, read: Read) -> None:
        """A decision: by whom it says, legal, its cards written as they lie."""
        event, due = read.event, self.hand.due
        core = self.hand.core
        secret = due.secret if isinstance(due, Ask) else frozenset()
        default = due.default if isinstance(due, Ask) else None
        to_act = self.hand.to_act
        core.named_cards.clear()
        try:
            if event.seat not in self.seats:
                raise Refused("a seat that is not in the hand")
            player = self.seats.index(event.seat)
            if moves.is_void(event.move):
                self.note(read, moves.line(player, Move("void"), [], frozenset()))
                self.agree(player, read)
                return
            cards = [self.dealing.places.card(ref) for ref in event.cards]
            move = moves.read(event.move, cards, self.seats)
            lines = moves.line(player, move, event.cards, secret)
            self.hand.decide(player, move)
        except (Misplaced, Refused) as problem:
            raise _Stop("decisions", problem) from None
        self.note(read, lines)
        by_default = player == to_act and self.same(move, default)
        self.in_turn(event, move, by_default)
        self.written(event, core.named_cards[: len(cards)], move.kind not in secret)
        late = self.clocks.decided(player, event, read.at)
        if late is not None:
            self.out.trouble("clocks", late)
        self.since = read.at
        self.after(read)

    def note(self, read: Read, lines: tuple[str, str]) -> None:
        """What the chain takes."""
        event = read.event
        kinds = (event.move.kind == LEAVE, moves.is_void(event.move))
        made = Line(read.position, event.seat, event.by_clock, *kinds, *lines, event.signature)
        self.out.lines.append(made)

    def in_turn(self, event: Message, move: Move, by_default: bool) -> None:
        """The turn is the hand's, the clock took the default, and a suspended hand is only left."""
        turn = f"turn {event.turn}"
        if event.turn != self.clocks.turn:
            self.out.trouble("decisions", f"{turn} is another than the hand has")
        if event.by_clock and not by_default:
            self.out.trouble("decisions", f"{turn}: the clock took no default")
        if self.agreed is not None and move.kind != "leave":
            self.out.trouble("decisions", f"{turn}: decided while the hand was suspended")

    def written(self, event: Message, meant: list[int], public: bool) -> None:
        """Its cards are written as everybody sees them."""
        refs = [self.dealing.ref(card, public) for card in meant]
        for ref in event.cards:
            self.salted(ref)
        if event.move.cards or [named(ref) for ref in event.cards] != refs:
            self.out.trouble(
                "cards", f"turn {event.turn}: the cards are not written as everybody sees them"
            )

    # A dealer that is silent.

    def suspended(self, read: Read) -> None:
        """The hand waits for the dealer."""
        self.agreed = set()
        self.clocks.suspend(read.at)

    def continued(self, read: Read) -> None:
        """The dealer is back."""
        self.agreed = None
        wrong = self.clocks.go_on(read.event, self.hand.to_act, read.at)
        if wrong is not None:
            self.out.trouble("clocks", wrong)

    def voters(self, position: int) -> set[int]:
        """Who must agree to end a suspended hand, at this place: who is in it and has not asked to
        leave it before."""
        left = {leave.player for leave in self.asked if leave.position < position}
        return self.hand.core.live - self.hand.core.left - left

    def agree(self, player: int, read: Read) -> None:
        """A player agrees to end it."""
        if self.agreed is None or read.event.by_clock:
            raise Refused("an agreement to end a hand that is not suspended, or by the clock")
        if player not in self.voters(read.position) or player in self.agreed:
            raise Refused("an agreement of who is not in the hand, or has agreed before")
        self.agreed.add(player)

    def ended(self, read: Read) -> None:
        """The hand came to nothing: by agreement only where all have agreed. Where everybody has
        asked to leave there is nobody to agree."""
        agreed = self.agreed or set()
        if read.event.cause == AGREED and (not agreed or self.voters(read.position) - agreed):
            self.out.trouble("decisions", "ended by agreement, and not all had agreed")

    def same(self, move: Move, default: Move | None) -> bool:
        """Whether a move is the default; of copies that are alike either may name any."""
        if default is None:
            return False
        codes = self.hand.core.deck.codes
        alike = [codes[card] for card in move.cards] == [codes[card] for card in default.cards]
        return alike and replace(move, cards=()) == replace(default, cards=())

    def resumed(self, read: Read) -> None:
        """A clock runs again."""
        wrong = self.clocks.resume(read.event, self.hand.to_act, read.at)
        if wrong is not None:
            self.out.trouble("clocks", wrong)

    def shows(self, read: Read) -> None:
        """A hand is shown."""
        seat = read.event.seat
        if self.out.end is None:
            self.out.trouble("cards", f"seat {seat} shows before the end")
        if seat in self.shown:
            self.out.trouble("cards", f"seat {seat} shows twice")
        self.shown[seat] = [named(ref) for ref in read.event.cards]
        for ref in read.event.cards:
            self.salted(ref)

    def settled(self, _: Read) -> None:
        """The table says that the hand is over."""
        if self.out.end is None:
            raise _Stop("settlement", "settled before the rules end the hand")

    def after(self, read: Read) -> None:
        """The hand has moved on."""
        self.clocks.moved_on(self.hand.to_act is not None, read.at)
        if self.hand.over and self.out.end is None:
            core = self.hand.core
            shown = {
                self.seats[player]: [self.dealing.places.of[card] for card in core.cards[player]]
                for player in sorted(core.shown)
            }
            self.out.end = End(read.at, shown)

    # Cards.

    def salted(self, ref: Message) -> None:
        """The salt of a card on record is right."""
        if not self.dealing.is_salted(ref):
            self.out.trouble("cards", f"the salt of ({ref.op}, {ref.position}) is not the seed's")

    def compare(self, ref: Message, public: bool) -> None:
        """A card on record has its face where everybody sees it, and else none."""
        card = self.dealing.places.at[(ref.op, ref.position)]
        if named(ref) != self.dealing.ref(card, public):
            self.out.trouble(
                "cards",
                f"the card at position {ref.position} of shuffle {ref.op} is not the one the seed "
                "put there, or is hidden, and written",
            )

    def compare_shown(self, seats: set[int]) -> None:
        """Of these seats, who shows, shows all of his hand and nothing else; nobody else shows."""
        shown = self.out.end.shown if self.out.end is not None else {}
        expected = {
            seat: sorted(self.dealing.ref(self.dealing.places.at[place], True) for place in places)
            for seat, places in shown.items()
            if seat in seats
        }
        found = {seat: sorted(cards) for seat, cards in self.shown.items()}
        if expected != found:
            self.out.trouble("cards", "what is shown at the end is not what the rules show")
