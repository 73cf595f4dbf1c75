"""Plays hands as an honest room would and writes down what its logs hold, for tests to bend.

Knows every secret, as the room does: seeds, entropy, the order of the cards. Only the tests use it.
"""

from __future__ import annotations

import uuid
from copy import deepcopy
from typing import Any

from . import fair, moves, settings
from .aborts import AGREED, SUSPENDED, WITHHELD
from .dealing import Dealing, outcome_of
from .forge_logs import ROOM, Entry, bundle, log_of
from .forge_table import SECOND, TABLE, Table
from .moves import SHAPES, VOID
from .proto import Message
from .rules.hand import Hand
from .rules.kinds import Ask, Deal, Move

KINDS = {shape.name: number for number, shape in SHAPES.items()} | {"void": VOID}


class Player(Table):
    """Plays one hand and writes its records. Raises `Refused` where it guessed a move wrong."""

    def play(self) -> bytes:
        """The bundle of a hand."""
        self.entries_of_a_hand()
        return bundle(self.hand_id, self.entries)

    def entries_of_a_hand(self) -> list[Entry]:
        """Everything, in order."""
        self.sit_down()
        self.promise()
        self.before()
        self.open()
        if self.bring():
            self.seal()
            self.deal_and_decide()
        self.end()
        return self.entries

    @property
    def aborted(self) -> bool:
        """The hand came to nothing."""
        return self.cause != 0

    # What is promised.

    def promise(self) -> None:
        """The dealer commits."""
        self.seed = self.random.randbytes(64)
        hashed, dealer = fair.rules_hash(self.rules.canonical(), self.settings), ROOM["dealer"]
        self.ctx = fair.context(dealer.name, TABLE, self.no, hashed)
        self.dc = fair.dealer_commitment(self.ctx, self.seed)
        text = fair.signed_text(
            "dealer-commit-sig", dealer.key.public, dealer.name.encode(), TABLE,
            fair.number(self.no, 8), hashed, self.dc,
        )
        self.commitment = Message(
            commitment=self.dc, key_id=fair.key_id(dealer.key.public),
            signature=dealer.private.sign(text), origin=dealer.name,
        )
        build = Message(version="0.1.0", sha256=bytes(32))
        self.write(
            "dealer", "SeedCommitted", table_id=TABLE, hand_no=self.no, rules_hash=hashed,
            commitment=self.commitment, build=build,
        )
        self.write(
            "table", "HandCommitted", on_table=True, hand_no=self.no, commitment=self.commitment
        )

    def open(self) -> None:
        """Seats commit, and the hand opens."""
        self.commit_entropy()
        self.write("table", "HandStarted", on_table=True, hand_no=self.no, hand_id=self.hand_id)
        self.write(
            "table", "HandOpened", table_id=TABLE, hand_no=self.no, commitment=self.commitment,
            rule_set=self.rules.canonical(), roster=self.roster, sabacc_pot=self.pots[0],
            carried_pot=self.pots[1], settings=self.settings,
            build=Message(version="0.1.0", sha256=b""),
        )
        self.hand = Hand(self.rules, self.seats, self.stacks, self.pots)

    def commit_entropy(self) -> None:
        """Seats commit, all or not the last one."""
        self.given: dict[int, tuple[bytes, bytes]] = {}
        bring = len(self.seats) - {"some": 1, "none": 8}.get(self.plan.entropy, 0)
        for seat, who, key in list(zip(self.seats, self.ids, self.keys))[: max(bring, 0)]:
            entropy = self.random.randbytes(32)
            made = fair.client_commitment(self.ctx, self.dc, seat, (who, entropy))
            self.given[seat] = (made, entropy)
            self.write(
                "table", "EntropyCommitted", on_table=True, hand_no=self.no, seat=seat,
                player_id=who, commitment=made,
                key=b"" if key is None else key.public_key().public_bytes_raw(),
            )

    def close(self) -> None:
        """The dealer signs what all have committed to."""
        if self.plan.entropy in ("some", "none"):
            self.now += 3 * SECOND
        rows = [
            Message(seat=seat, player_id=who, commitment=self.given.get(seat, (b"", b""))[0])
            for seat, who in sorted(zip(self.seats, self.ids))
        ]
        packed = [fair.closing_row(row.seat, row.player_id, row.commitment) for row in rows]
        made, dealer = fair.closing(self.ctx, self.dc, packed), ROOM["dealer"]
        text = fair.signed_text("closing-sig", dealer.key.public, self.ctx, self.dc, made)
        closing = Message(
            closing=made, rows=rows, key_id=fair.key_id(dealer.key.public),
            signature=dealer.private.sign(text),
        )
        self.write("dealer", "CommitmentsClosed", closing=closing)
        self.write("table", "EntropyClosed", closing=deepcopy(closing))

    def bring(self) -> bool:
        """Commitments close, seats reveal; whether the hand is played."""
        self.close()
        until = self.now + 2 * SECOND
        silent = max(self.given) if self.plan.entropy in ("withheld", "late") else None
        for seat, (_, entropy) in self.given.items():
            if seat != silent:
                self.write("table", "EntropyRevealed", seat=seat, entropy=entropy)
        if silent is not None:
            self.now = until
            self.abort(WITHHELD, [silent])
            return False
        if self.plan.silent_after == -1:
            self.suspend()
            self.write("table", "LeaveAsked", on_table=True, seat=self.seats[0], why="asked")
            self.abort(SUSPENDED)
            return False
        return True

    def abort(self, cause: int, seats: list[int] = []) -> None:
        """The hand comes to nothing."""
        self.cause = cause
        fault = 1 if cause == WITHHELD else 2
        self.write(
            "table", "HandAborted", at_fault=fault, seats=seats, evidence="silent", cause=cause
        )
        if self.plan.entropy == "late":
            self.write(
                "table", "EntropyRevealed", seat=seats[0], entropy=self.given[seats[0]][1]
            )

    def seal(self) -> None:
        """What the seats brought is bound."""
        rows = []
        for seat, who in sorted(zip(self.seats, self.ids)):
            made, entropy = self.given.get(seat, (b"", b""))
            status = fair.REVEALED if made else fair.ABSENT
            rows.append(
                Message(seat=seat, player_id=who, status=status, commitment=made, entropy=entropy)
            )
        packed = [
            fair.row(row.seat, row.player_id, row.status, (row.commitment, row.entropy))
            for row in rows
        ]
        bound = self.chain = fair.transcript(self.ctx, self.dc, packed)
        self.chance = fair.Chance(bound, self.seed)
        self.dealing = Dealing(self.hand, self.chance, self.seats)
        self.places = self.dealing.places
        self.write("dealer", "SeedSealed", transcript=bound, rows=rows)
        self.write("table", "HandSealed", transcript=bound, rows=rows)
        self.due_at = self.now
        self.banks = [30 * SECOND] * len(self.seats)
        self.missed = [0] * len(self.seats)

    # A silent dealer.

    def suspend(self) -> int:
        """The hand waits for the dealer; since when."""
        since, self.now = self.now, self.now + 10 * SECOND
        made = self.write("table", "HandSuspended", since_micros=since)
        made.event.until_micros = made.at + 7200 * SECOND
        return made.at

    def fall_silent(self) -> bool:
        """The dealer is silent; whether it comes back."""
        since = self.suspend()
        if self.plan.silence == "agreed":
            for player in sorted(self.hand.core.live - self.hand.core.left):
                self.move(player, Move("void"), [], frozenset())
            self.abort(AGREED)
        elif self.plan.silence == "late":
            self.now += 7200 * SECOND
            self.abort(SUSPENDED)
        elif self.plan.silence == "open":
            self.over = False
        else:
            self.now += 60 * SECOND
            made = self.write("table", "HandContinued")
            if self.hand.to_act is not None:
                stood = made.at - since
                made.event.deadline_micros = self.deadline() + stood
                self.due_at += stood
            return True
        return False

    def deadline(self) -> int:
        """Of the decision that is due."""
        assert self.hand.to_act is not None
        return self.due_at + 20 * SECOND + self.banks[self.hand.to_act]

    def deal_and_decide(self) -> None:
        """Until the hand is over, or aborted."""
        steps = 0
        while not self.hand.over:
            if steps == self.plan.silent_after and not self.fall_silent():
                return
            due = self.hand.due
            if isinstance(due, Ask) and self.plan.everybody_leaves:
                staying = [at for at in range(len(self.seats)) if at not in self.hand.core.left]
                self.leave(staying[0], due)
            elif isinstance(due, Ask):
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
        salt = self.chance.salt(op, position) if public else b""
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
        turn, secret = self.turn, due.secret
        self.hand.decide(player, move)
        named = self.hand.core.named_cards[: len(move.cards)]
        refs = [self.ref(card, move.kind not in secret) for card in named]
        self.move(player, move, refs, secret, turn=turn, by_clock=clock, bank_used_ms=used)
        self.banks[player] -= used * 1000
        self.missed[player] = self.missed[player] + 1 if clock else 0
        self.moved_on()

    def leave(self, player: int, due: Ask) -> None:
        """A player leaves."""
        turn = self.turn
        self.hand.decide(player, Move("leave"))
        self.move(player, Move("leave"), [], due.secret, turn=turn)
        self.moved_on()

    def move(
        self, player: int, move: Move, refs: list[Message], secret: frozenset[str], **more: Any
    ) -> None:
        """The record of a decision, signed where the player has a key."""
        clock = more.get("by_clock", False)
        line, said = moves.line(player, move, refs, secret)
        self.chain = fair.decision(self.chain, clock, line)
        self.first_line = getattr(self, "first_line", line)
        signature, key = b"", self.keys[player]
        if key is not None and not clock and self.seats[player] in self.given:
            public = key.public_key().public_bytes_raw()
            text = fair.signed_text("decision-sig", public, self.ctx, self.chain, said.encode())
            signature = key.sign(text)
        if move.kind == "leave":
            self.write(
                "table", "LeaveAsked", on_table=True, seat=self.seats[player], why="asked",
                signature=signature,
            )
        target = 0 if move.target is None else self.seats[move.target]
        self.write(
            "table", "MoveDecided", seat=self.seats[player], cards=refs, signature=signature,
            move=Message(
                kind=KINDS[move.kind], cards=[], amount_credits=move.amount, names=list(move.names),
                target_seat=target, value=move.value,
            ),
            **more,
        )

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
        if not self.over:
            return
        core = self.hand.core
        if not self.aborted:
            for player in sorted(core.shown):
                places = [self.places.of[card] for card in core.cards[player]]
                self.opening(places, 0, 3)
                refs = [self.ref(card, True) for card in core.cards[player]]
                self.write("table", "CardsShown", seat=self.seats[player], cards=refs)
            self.settle()
        over = self.now
        stacks = self.stacks if self.aborted else core.stacks
        pots = self.pots if self.aborted else (core.sabacc_pot, core.carried_pot)
        misses = [0] * len(self.seats) if self.aborted else self.missed
        self.write(
            "table", "HandFinished", on_table=True, hand_no=self.no, hand_id=self.hand_id,
            seats=self.placed(stacks), sabacc_pot=pots[0], carried_pot=pots[1], misses=misses,
            sabacc_paid=[0] * len(self.seats) if self.aborted else self.paid(),
            sabacc_won=not self.aborted and core.sabacc_won, aborted=self.aborted,
        )
        if not self.aborted:
            self.post()
        if self.plan.delayed and hasattr(self, "chance"):
            self.now = max(self.now, over + settings.DAY * SECOND)
        self.write("dealer", "SeedOpened", seed=self.seed, discarded=self.aborted)
        self.write("table", "HandRevealed", seed=self.seed)

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
