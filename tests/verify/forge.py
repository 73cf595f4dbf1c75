"""Plays hands as an honest room would and writes down what its logs hold, for tests to bend.

Knows every secret, as the room does: seeds, entropy, the order of the cards. Only the tests use it.
"""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass, field
from typing import Any

from . import fair
from .dealing import Dealing, outcome_of
from .forge_logs import ROOM, Entry, bundle, log_of
from .merkle import sha256
from .moves import SHAPES
from .proto import Message, decode
from .rules.hand import Hand
from .rules.kinds import Ask, Deal, Move
from .rules.ruleset import RuleSet

SECOND = 1_000_000
TABLE = bytes(range(16))
KINDS = {shape.name: number for number, shape in SHAPES.items()}


@dataclass
class Plan:
    """What is to be played, and how it ends."""

    variant: str
    players: int = 3
    ruleset: dict = field(default_factory=dict)
    entropy: str = "all"
    """`all` bring it, `some` do, `withheld`: one commits and is silent; `old`: no time for it."""
    abort_after: int | None = None
    """Aborted by the operator after so many records of play."""
    delay: int = 0
    clocks: bool = True
    leaves: bool = True
    zero_legs: bool = True
    """Whoever won and lost nothing has a leg in the transfer; earlier tables wrote none."""


class Player:
    """Plays one hand and writes its records. Raises `Refused` where it guessed a move wrong."""

    def __init__(self, plan: Plan, seed: int) -> None:
        self.plan = plan
        self.random = random.Random(seed)
        self.rules = RuleSet(plan.variant, plan.ruleset)
        self.no = seed % 1000 + 1
        self.hand_id = fair.hand_id(TABLE, self.no)
        self.now = 1_700_000_000 * SECOND
        self.entries: list[Entry] = []
        self.turn = 0
        self.aborted = False

    def write(self, log: str, kind: str, /, on_table: bool = False, **event: Any) -> None:
        """A record."""
        self.now += self.random.randrange(1, 2000)
        stream = TABLE if on_table or log == "wallet" else self.hand_id
        made = decode(kind, b"")
        vars(made).update(event)
        self.entries.append(Entry(log, stream, self.now, kind, made))

    def play(self) -> bytes:
        """The bundle of a hand."""
        self.entries_of_a_hand()
        return bundle(self.hand_id, self.entries)

    def entries_of_a_hand(self) -> list[Entry]:
        """Everything, in order."""
        self.promise()
        self.open()
        if self.bring():
            self.seal()
            self.deal_and_decide()
        self.end()
        return self.entries

    def promise(self) -> None:
        """The dealer commits."""
        self.seed = self.random.randbytes(64)
        text = self.rules.canonical()
        hashed, dealer = sha256(text.encode()), ROOM["dealer"]
        self.ctx = fair.context(dealer.name, TABLE, self.no, hashed)
        self.dc = fair.dealer_commitment(self.ctx, self.seed)
        key_id = sha256(dealer.key.public)[:8]
        message = fair.commitment_message((TABLE, fair.number(self.no, 8), hashed, self.dc, key_id))
        self.commitment = Message(
            commitment=self.dc, key_id=key_id, signature=dealer.private.sign(message),
            origin=dealer.name,
        )
        self.write(
            "dealer", "SeedCommitted", table_id=TABLE, hand_no=self.no, rule_set_hash=hashed,
            commitment=self.commitment,
        )
        self.write(
            "table", "HandCommitted", on_table=True, hand_no=self.no, commitment=self.commitment
        )

    def open(self) -> None:
        """Who plays, with what."""
        count = self.plan.players
        seats = sorted(self.random.sample(range(1, 9), count))
        turned = self.random.randrange(count)
        self.seats = seats[turned:] + seats[:turned]
        self.ids = [self.random.randbytes(16) for _ in self.seats]
        least = max(
            self.rules.number("hand_ante") + self.rules.number("sabacc_ante"), self.rules.stake, 1
        )
        self.stacks = [least + self.random.randrange(200) for _ in self.seats]
        has_sabacc = self.plan.variant in ("dice", "electronic", "spike", "swg")
        has_carried = self.plan.variant in ("force", "eleven")
        self.pots = (self.random.randrange(90) * has_sabacc, self.random.randrange(9) * has_carried)
        self.roster = [
            Message(seat=seat, player_id=who, stack=stack)
            for seat, who, stack in zip(self.seats, self.ids, self.stacks)
        ]
        if self.plan.entropy != "old":
            self.commit_entropy()
        self.write("table", "HandStarted", on_table=True, hand_no=self.no, hand_id=self.hand_id)
        old = self.plan.entropy == "old"
        self.write(
            "table", "HandOpened", table_id=TABLE, hand_no=self.no, commitment=self.commitment,
            rule_set=self.rules.canonical(), roster=self.roster, sabacc_pot=self.pots[0],
            carried_pot=self.pots[1], action_seconds=20, bank_seconds=30,
            entropy_deadline_micros=0 if old else self.now + 2 * SECOND,
            reveal_delay_seconds=self.plan.delay,
        )
        self.hand = Hand(self.rules, self.seats, self.stacks, self.pots)

    def commit_entropy(self) -> None:
        """Seats commit, all or not the last one."""
        self.given: dict[int, tuple[bytes, bytes]] = {}
        bring = len(self.seats) - (1 if self.plan.entropy == "some" else 0)
        for seat, who in list(zip(self.seats, self.ids))[:bring]:
            entropy = self.random.randbytes(32)
            made = fair.client_commitment(self.ctx, self.dc, seat, (who, entropy))
            self.given[seat] = (made, entropy)
            self.write(
                "table", "EntropyCommitted", on_table=True, hand_no=self.no, seat=seat,
                player_id=who, commitment=made,
            )

    def bring(self) -> bool:
        """Commitments close, seats reveal; whether the hand is played."""
        if self.plan.entropy == "old":
            return True
        if self.plan.entropy == "some":
            self.now += 3 * SECOND
        deadline = self.now + 2 * SECOND
        self.write("table", "EntropyClosed", seats=sorted(self.given), deadline_micros=deadline)
        silent = max(self.given) if self.plan.entropy == "withheld" else None
        for seat, (_, entropy) in self.given.items():
            if seat != silent:
                self.write("table", "EntropyRevealed", seat=seat, entropy=entropy)
        if silent is None:
            return True
        self.now = deadline
        self.write("table", "HandAborted", at_fault=1, seats=[silent], evidence="silent")
        self.aborted = True
        return False

    def seal(self) -> None:
        """What the seats brought is bound."""
        given = getattr(self, "given", {})
        rows = []
        for seat, who in sorted(zip(self.seats, self.ids)):
            made, entropy = given.get(seat, (b"", b""))
            status = fair.REVEALED if made else fair.ABSENT
            rows.append(
                Message(seat=seat, player_id=who, status=status, commitment=made, entropy=entropy)
            )
        packed = [
            fair.row(row.seat, row.player_id, row.status, (row.commitment, row.entropy))
            for row in rows
        ]
        bound = fair.transcript(self.ctx, self.dc, packed)
        self.chance = fair.Chance(bound, self.seed)
        proved = self.plan.entropy != "old"
        self.dealing = Dealing(self.hand, self.chance, self.seats, proved)
        self.places = self.dealing.places
        self.write("dealer", "SeedSealed", transcript=bound, rows=rows)
        self.write("table", "HandSealed", transcript=bound, rows=rows)
        self.due_at = self.now
        self.banks = [30 * SECOND] * len(self.seats)
        self.missed = [0] * len(self.seats)

    def deal_and_decide(self) -> None:
        """Until the hand is over, or aborted."""
        steps = 0
        while not self.hand.over:
            if steps == self.plan.abort_after:
                self.write("table", "HandAborted", at_fault=3, evidence="the operator's reason")
                self.aborted = True
                return
            due = self.hand.due
            if isinstance(due, Ask):
                self.decide(due)
            elif isinstance(due, Deal):
                self.deal(due)
            else:
                self.use(due)
            steps += 1

    def use(self, due: Any) -> None:
        """An operation of chance."""
        values = self.operation(self.places.ask(due), restock=False)
        self.hand.give(outcome_of(due, values))
        self.moved_on()

    def operation(self, operation: Message, restock: bool) -> list[int]:
        """Performed by the dealer, used by the table."""
        values, root = self.dealing.perform(operation)
        root = root if self.plan.entropy != "old" else b""
        result = Message(index=operation.index, values=values, root=root)
        self.write("dealer", "OperationPerformed", operation=operation, result=result)
        self.write("table", "ChanceUsed", operation=operation, result=result, restock=restock)
        return values

    def deal(self, due: Deal) -> None:
        """Cards, after the restocks on their way."""
        (first, *_) = due.parts
        if first.until is not None:
            places = [self.places.take(first.pile)]
            while self.chance.card(*places[-1]) not in first.until:
                places.append(self.places.take(first.pile))
        else:
            self.places.lay_out(due)
            while self.places.restocks:
                self.operation(self.places.restocks.pop(0), restock=True)
            places = self.places.places_of(due, 0)
        cards = [self.chance.card(*place) for place in places]
        for place, card in zip(places, cards):
            self.places.learn(place, card)
        seat = 0 if due.player is None else self.seats[due.player]
        self.opening(places, 0 if due.shown else seat, 2 if due.shown else 1)
        refs = [self.ref(card, due.shown) for card in cards]
        self.write("table", "CardsMoved", seat=seat, cards=refs)
        self.hand.give(cards)
        self.moved_on()

    def opening(self, places: list, audience: int, reason: int) -> None:
        """The dealer opens cards."""
        refs = [Message(op=op, position=position) for op, position in places]
        opening = Message(cards=refs, audience_seat=audience, reason=reason)
        self.write("dealer", "CardsOpened", opening=opening, caller="service/table")

    def ref(self, card: int, public: bool) -> Message:
        """A card as records name it."""
        op, position, code = self.dealing.ref(card, public)
        salted = public and self.plan.entropy != "old"
        salt = self.chance.salt(op, position) if salted else b""
        return Message(op=op, position=position, card=code, salt=salt)

    def moved_on(self) -> None:
        """Perhaps a decision is due now."""
        self.due_at = self.now
        self.turn += 1 if self.hand.to_act is not None else 0

    def decide(self, due: Ask) -> None:
        """A decision: the default by the clock, a leave, or one that seems good."""
        player, chance = due.player, self.random.random()
        self.now = max(self.now, self.due_at)
        clock, used = False, 0
        if self.plan.clocks and chance < 0.05:
            move, clock, used = due.default, True, self.banks[player] // 1000
            self.now = self.due_at + 20 * SECOND + self.banks[player]
        elif self.plan.leaves and chance < 0.08:
            staying = [p for p in range(len(self.seats)) if p not in self.hand.core.left]
            player = self.random.choice(staying)
            move = Move("leave")
        else:
            move = self.guess(due)
            if chance > 0.9 and move.kind != "leave":
                self.now += 25 * SECOND
                used = min(5000, self.banks[player] // 1000)
        self.hand.core.named_cards.clear()
        turn = self.turn
        self.hand.decide(player, move)
        named = self.hand.core.named_cards[: len(move.cards)]
        seen = move.kind not in due.secret
        target = 0 if move.target is None else self.seats[move.target]
        self.write(
            "table", "MoveDecided", seat=self.seats[player], turn=turn, by_clock=clock,
            bank_used_ms=used, cards=[self.ref(card, seen) for card in named],
            move=Message(
                kind=KINDS[move.kind], cards=[], amount=move.amount, names=list(move.names),
                target_seat=target, value=move.value,
            ),
        )
        self.banks[player] -= used * 1000
        self.missed[player] = self.missed[player] + 1 if clock else 0
        self.moved_on()

    def guess(self, due: Ask) -> Move:
        """A move that is probably legal."""
        core, pick = self.hand.core, self.random.choice
        hand, kind = core.cards[due.player], due.default.kind
        if kind == "fold":
            return pick([Move("match"), Move("match"), due.default])
        if kind == "check":
            least = self.rules.least_bet
            able = [player for player in core.players if core.able(player)]
            lift = len(able) > 1 and core.stacks[due.player] > 4 * least
            return pick([due.default, Move("bet", amount=4 * least)]) if lift else due.default
        if kind == "align":
            return Move("align", names=(pick(["light", "dark"]),))
        if kind == "drop":
            return pick([Move("keep"), Move("drop", (pick(hand),))])
        if kind == "select":
            return Move(kind, tuple(pick([hand[:1], hand[:3]])))
        if kind == "stand":
            return pick(self.actions(due.player, hand))
        return due.default

    def actions(self, player: int, hand: list[int]) -> list[Move]:
        """Actions of the game that are mostly legal."""
        stand, variant = Move("stand"), self.plan.variant
        if variant == "kessel":
            piles = ("sand", "blood", "sand-discard", "blood-discard")
            tokens = ("immunity", "markdown", "free-draw", "major-fraud", "general-tariff")
            return [stand, Move("draw-from", names=(self.random.choice(piles),)),
                    Move("token", names=(self.random.choice(tokens),))]
        if variant == "spike":
            return [stand, Move("gain", tuple(hand[:1])), Move("swap", tuple(hand[:1])),
                    Move("junk")]
        some = [stand, Move("draw")] if len(hand) < 5 or variant == "eleven" else [stand]
        if variant != "eleven":
            loose = [card for card in hand if card not in self.hand.core.open[player]]
            some += [Move("trade", (card,)) for card in loose[:1]]
            if variant in ("dice", "electronic"):
                some += [Move("lock", (card,)) for card in loose[1:2]]
        return some

    def end(self) -> None:
        """The end by the rules, or what is left of it."""
        core = self.hand.core
        if not self.aborted:
            for player in sorted(core.shown):
                places = [self.places.of[card] for card in core.cards[player]]
                self.opening(places, 0, 3)
                refs = [self.ref(card, True) for card in core.cards[player]]
                self.write("table", "CardsShown", seat=self.seats[player], cards=refs)
            self.settle()
        stacks = self.stacks if self.aborted else core.stacks
        pots = self.pots if self.aborted else (core.sabacc_pot, core.carried_pot)
        misses = [0] * len(self.seats) if self.aborted else self.missed
        seats = [
            Message(seat=seat, player_id=who, stack=stack)
            for seat, who, stack in zip(self.seats, self.ids, stacks)
        ]
        self.write(
            "table", "HandFinished", on_table=True, hand_no=self.no, hand_id=self.hand_id,
            seats=seats, sabacc_pot=pots[0], carried_pot=pots[1], misses=misses,
            sabacc_paid=[0] * len(self.seats) if self.aborted else self.paid(),
            sabacc_won=not self.aborted and core.sabacc_won, aborted=self.aborted,
        )
        self.now += self.plan.delay * SECOND
        self.write("dealer", "SeedOpened", seed=self.seed, discarded=self.aborted)
        self.write("table", "HandRevealed", seed=self.seed)
        if not self.aborted:
            self.post()

    def paid(self) -> list[int]:
        """What each has in the Sabacc Pot out of this hand."""
        core = self.hand.core
        return [0] * core.count if core.sabacc_won else core.sabacc_paid

    def settle(self) -> None:
        """The settlement."""
        core = self.hand.core
        self.write(
            "table", "HandSettled", lines=[Message(text=line) for line in core.lines],
            finishing_stacks=core.stacks, finishing_sabacc_pot=core.sabacc_pot,
            finishing_carried_pot=core.carried_pot, rake=core.rake, sabacc_paid=self.paid(),
            sabacc_won=core.sabacc_won,
        )

    def post(self) -> None:
        """The transfer, and the table's note of it."""
        core, table = self.hand.core, uuid.UUID(bytes=TABLE)
        moved = {
            f"seat/{table}/{uuid.UUID(bytes=who)}": after - before
            for who, before, after in zip(self.ids, self.stacks, core.stacks)
        }
        moved[f"pot/{table}/sabacc"] = core.sabacc_pot - self.pots[0]
        moved[f"pot/{table}/carried"] = core.carried_pot - self.pots[1]
        moved["house/rake"] = core.rake
        legs = [
            Message(account=name, amount=amount)
            for name, amount in moved.items()
            if amount or (self.plan.zero_legs and name.startswith("seat/"))
        ]
        self.write(
            "wallet", "TransferPosted", transfer_id=self.hand_id, kind=5, legs=legs,
            table_id=TABLE, hand_id=self.hand_id,
        )
        made = log_of("wallet", [e for e in self.entries if e.log == "wallet"])
        self.write("table", "SettlementPosted", position=made.records[0].position)
