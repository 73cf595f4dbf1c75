package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"sort"

	"google.golang.org/protobuf/proto"

	commonv1 "sabacc/common/v1"
	tablev1 "sabacc/table/v1"
)

// part is what this player has brought to a hand.
type part struct {
	seat                uint32
	entropy, commitment []byte
	key                 ed25519.PrivateKey
	revealed            bool
}

// chance is a player's part in the chance of a table's hands: a number of their own that nobody knows,
// committed to before the hand and revealed once the dealer has signed what everybody has committed to.
// Whatever the room says on the way is checked.
//
// This client keeps its numbers in memory. One that must survive its program's end writes them to disk
// before it sends what speaks of them, or derives them from one secret: crates/fairness/SPEC.md section
// 5.4.
type chance struct {
	room              *room
	tableID, playerID string
	keys              roomKeys
	promises          map[uint64]binding
	parts             map[uint64]*part
	// The hand to come, once the dealer has committed to it.
	next *tablev1.NextHand
	// The decisions of the hand in play, where this player's number is in it.
	decisions *decisions
}

// apply takes in what the table shows, after the player's own seat is known, and does what is due.
func (c *chance) apply(ctx context.Context, seen *tablev1.WatchTableResponse, seat *tablev1.SeatView) error {
	if view := seen.GetSnapshot(); view != nil {
		return c.applyView(ctx, view, seat)
	}
	switch what := seen.GetUpdate().What.(type) {
	case *tablev1.TableUpdate_Seat:
		// Whoever has sat down commits at once: when the hand opens it may be too late.
		if c.next != nil {
			return c.commitToNext(ctx, c.next, seat)
		}
	case *tablev1.TableUpdate_NextHand:
		c.next = what.NextHand
		return c.commitToNext(ctx, what.NextHand, seat)
	case *tablev1.TableUpdate_Entropy:
		return c.collect(ctx, what.Entropy, seat)
	case *tablev1.TableUpdate_HandStarted:
		started := what.HandStarted
		return c.seal(started.HandNo, started.Rows, started.Transcript, started.Transcript, started.Seats)
	case *tablev1.TableUpdate_Action:
		if c.decisions != nil {
			return c.decisions.follow(what.Action)
		}
	case *tablev1.TableUpdate_Seed:
		return c.checkSeed(what.Seed)
	}
	return nil
}

func (c *chance) applyView(ctx context.Context, view *tablev1.TableView, seat *tablev1.SeatView) error {
	hand := view.Hand
	if hand != nil && len(hand.Transcript) > 0 {
		if err := c.promised(hand.HandNo, hand.Dealer, hand.RuleSet, hand.Settings); err != nil {
			return err
		}
		if err := c.seal(hand.HandNo, hand.Rows, hand.Transcript, hand.Chain, hand.Seats); err != nil {
			return err
		}
	}
	c.next = view.NextHand
	if view.NextHand != nil {
		if err := c.commitToNext(ctx, view.NextHand, seat); err != nil {
			return err
		}
	}
	if view.Entropy != nil {
		return c.collect(ctx, view.Entropy, seat)
	}
	return nil
}

// promised keeps the dealer's promise for a hand, which must be signed, and never another one for it.
func (c *chance) promised(handNo uint64, promise *commonv1.Commitment, ruleSet, settings string) error {
	if origin, _ := c.keys.of("dealer"); promise == nil || promise.Origin != origin {
		return fmt.Errorf("hand %d has no promise of this room's dealer", handNo)
	}
	rules := rulesHash(ruleSet, settings)
	text := commitmentText(c.tableID, handNo, rules, promise)
	if err := c.keys.check("dealer", text, promise.KeyId, promise.Signature); err != nil {
		return err
	}
	told := binding{contextOf(promise.Origin, c.tableID, handNo, rules), promise.Commitment}
	before, known := c.promises[handNo]
	if known && !(bytes.Equal(before.dealer, told.dealer) && bytes.Equal(before.context, told.context)) {
		return fmt.Errorf("the dealer has promised hand %d twice", handNo)
	}
	c.promises[handNo] = told
	return nil
}

func (c *chance) commitToNext(ctx context.Context, next *tablev1.NextHand, seat *tablev1.SeatView) error {
	if err := c.promised(next.HandNo, next.Commitment, next.RuleSet, next.Settings); err != nil {
		return err
	}
	return c.commit(ctx, next.HandNo, seat)
}

// commit commits to a hand, unless this player has, or plays their last one.
func (c *chance) commit(ctx context.Context, handNo uint64, seat *tablev1.SeatView) error {
	playing := seat != nil && seat.State == tablev1.SeatState_SEAT_STATE_PLAYING
	if c.decisions != nil || !playing || c.parts[handNo] != nil {
		return nil
	}
	bound := c.promises[handNo]
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	entropy := random(32)
	own := &part{seat: seat.Seat, entropy: entropy, key: private}
	own.commitment = clientCommitment(bound, own.seat, c.playerID, entropy)
	request := &tablev1.CommitEntropyRequest{
		RequestId: requestID(), TableId: c.tableID, HandNo: handNo, Commitment: own.commitment, Key: public,
	}
	c.parts[handNo] = own
	var answer *tablev1.CommitEntropyResponse
	err = twice(func() (proto.Message, error) {
		answer, err = c.room.tables.CommitEntropy(ctx, request)
		return answer, err
	})
	if reason := reasonOf(err); reason == "CHANCE_REFUSED" || reason == "NOT_YOUR_SEAT" {
		// It came too late for this number: the seat is dealt in without one, or waits for the next.
		delete(c.parts, handNo)
		return nil
	}
	if err != nil {
		return err
	}
	receipt := answer.Receipt
	if receipt == nil || !bytes.Equal(receipt.Commitment, own.commitment) || !bytes.Equal(receipt.PlayerKey, public) {
		return errors.New("a receipt for another commitment")
	}
	return c.keys.check("table", commitReceiptText(bound, receipt), receipt.KeyId, receipt.Signature)
}

// collect does what an open hand waits for: a commitment, or, once these are closed, what was committed
// to.
func (c *chance) collect(ctx context.Context, open *tablev1.Entropy, seat *tablev1.SeatView) error {
	if err := c.promised(open.HandNo, open.Commitment, open.RuleSet, open.Settings); err != nil {
		return err
	}
	if c.next != nil && c.next.HandNo == open.HandNo {
		c.next = nil
	}
	if !open.Closed {
		if seat != nil && contains(open.Roster, seat.Seat) {
			return c.commit(ctx, open.HandNo, seat)
		}
		return nil
	}
	own := c.parts[open.HandNo]
	if own == nil || own.revealed || !contains(open.Roster, own.seat) {
		return nil
	}
	bound := c.promises[open.HandNo]
	if err := c.checkClosing(bound, own, open); err != nil {
		return err
	}
	return c.reveal(ctx, bound, own, open.HandNo)
}

func (c *chance) reveal(ctx context.Context, bound binding, own *part, handNo uint64) error {
	request := &tablev1.RevealEntropyRequest{
		RequestId: requestID(), TableId: c.tableID, HandNo: handNo, Entropy: own.entropy,
	}
	var answer *tablev1.RevealEntropyResponse
	err := twice(func() (proto.Message, error) {
		var err error
		answer, err = c.room.tables.RevealEntropy(ctx, request)
		return answer, err
	})
	if err != nil {
		return err
	}
	own.revealed = true
	receipt := answer.Receipt
	if receipt == nil || !bytes.Equal(receipt.Entropy, own.entropy) {
		return errors.New("a receipt for another number")
	}
	return c.keys.check("table", revealReceiptText(bound, receipt), receipt.KeyId, receipt.Signature)
}

// checkClosing: nobody reveals before the dealer has signed what all seats of the roster, and this one,
// have committed to.
func (c *chance) checkClosing(bound binding, own *part, open *tablev1.Entropy) error {
	closing := open.Closing
	if closing == nil || !bytes.Equal(closing.Closing, closingOf(bound, closing.Rows)) {
		return errors.New("the closing is not that of its rows")
	}
	roster := append([]uint32{}, open.Roster...)
	sort.Slice(roster, func(a, b int) bool { return roster[a] < roster[b] })
	var seats []uint32
	found := false
	for _, row := range closing.Rows {
		seats = append(seats, row.Seat)
		mine := row.Seat == own.seat && row.PlayerId == c.playerID
		found = found || mine && bytes.Equal(row.Commitment, own.commitment)
	}
	if fmt.Sprint(seats) != fmt.Sprint(roster) || !found {
		return errors.New("the closing is of another roster, or has another commitment of this player")
	}
	return c.keys.check("dealer", closingText(bound, closing), closing.KeyId, closing.Signature)
}

// seal takes in a sealed hand: its chance is determined from here on, by this player's number too.
func (c *chance) seal(handNo uint64, rows []*commonv1.EntropyRow, transcript, chain []byte,
	seats []*tablev1.HandSeat) error {
	if c.decisions != nil && c.decisions.handNo == handNo {
		// The stream could not go on from its token: the chain is as the view shows it.
		c.decisions.chain = chain
		return nil
	}
	own := c.parts[handNo]
	if own == nil || !own.revealed || c.decisions != nil {
		return nil
	}
	bound := c.promises[handNo]
	if !bytes.Equal(transcript, transcriptOf(bound, rows)) {
		return errors.New("the transcript is not that of its rows")
	}
	found := false
	for _, row := range rows {
		mine := row.Seat == own.seat && row.PlayerId == c.playerID
		found = found || mine && bytes.Equal(row.Entropy, own.entropy)
	}
	if !found {
		return errors.New("this player's number is not in the hand")
	}
	hand := handState{}
	for _, seat := range seats {
		hand.order = append(hand.order, seat.Seat)
	}
	c.decisions = &decisions{
		handNo: handNo, context: bound.context, seat: own.seat, player: hand.player(own.seat), key: own.key,
		keys: c.keys, chain: chain, signed: map[string]bool{},
	}
	return nil
}

func (c *chance) checkSeed(seed *tablev1.SeedPublished) error {
	bound, known := c.promises[seed.HandNo]
	if known && (seed.Refused || !bytes.Equal(bound.dealer, seedCommitment(bound.context, seed.Seed))) {
		return fmt.Errorf("the seed of hand %d is not the one that the dealer had committed to", seed.HandNo)
	}
	return nil
}

func contains(seats []uint32, seat uint32) bool {
	for _, other := range seats {
		if other == seat {
			return true
		}
	}
	return false
}
