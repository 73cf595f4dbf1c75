package main

import (
	"context"
	"fmt"
	"time"

	tablev1 "sabacc/table/v1"
)

// Wait before a broken stream is opened again.
const reopen = 200 * time.Millisecond

// follower follows a table: a view first, then every update, each once and in order, over as many streams
// as it takes.
type follower struct {
	room     *room
	tableID  string
	token    []byte
	sequence uint64
	stream   tablev1.TableService_WatchTableClient
	cancel   context.CancelFunc
	// Nothing has come over the stream yet.
	fresh bool
	// Streams that were opened, those of them that went on from the token, and views that came.
	streams, resumed, views int
}

// next returns the next view or update; nil once the table is closed.
func (f *follower) next(ctx context.Context) (*tablev1.WatchTableResponse, error) {
	for ctx.Err() == nil {
		seen, err := f.receive(ctx)
		if err != nil {
			f.drop()
			if !isPassing(err) && reasonOf(err) != "" {
				return nil, err
			}
			time.Sleep(reopen)
			continue
		}
		if ended := seen.GetEnded(); ended != nil && ended.Reason == tablev1.EndReason_END_REASON_TABLE_CLOSED {
			return nil, nil
		}
		if isNews, err := f.take(seen); isNews || err != nil {
			return seen, err
		}
	}
	return nil, ctx.Err()
}

// drop ends the stream, as a lost network would. The next one goes on from the last resume token.
func (f *follower) drop() {
	if f.cancel != nil {
		f.cancel()
	}
	f.stream = nil
}

func (f *follower) receive(ctx context.Context) (*tablev1.WatchTableResponse, error) {
	if f.stream == nil {
		streaming, cancel := context.WithCancel(ctx)
		request := &tablev1.WatchTableRequest{TableId: f.tableID, ResumeToken: f.token}
		stream, err := f.room.tables.WatchTable(streaming, request)
		if err != nil {
			cancel()
			return nil, err
		}
		f.stream, f.cancel, f.fresh = stream, cancel, true
		f.streams++
	}
	return f.stream.Recv()
}

// take keeps the place in the stream. Updates are numbered without gaps, so a missing or repeated one
// shows.
func (f *follower) take(seen *tablev1.WatchTableResponse) (bool, error) {
	if len(seen.ResumeToken) > 0 {
		f.token = seen.ResumeToken
	}
	if view := seen.GetSnapshot(); view != nil {
		f.views++
		f.fresh = false
		f.sequence = view.Sequence
		return true, nil
	}
	update := seen.GetUpdate()
	if update == nil {
		return false, nil
	}
	if f.fresh {
		f.resumed++
		f.fresh = false
	}
	f.sequence++
	if update.Sequence != f.sequence {
		return true, fmt.Errorf("update %d came in place of %d", update.Sequence, f.sequence)
	}
	return true, nil
}

// handState is what a player needs to know of a hand in play.
type handState struct {
	handNo uint64
	// The seats dealt in: p1 first.
	order []uint32
	cards []*tablev1.HeldCard
	turn  *tablev1.Turn
}

// player returns the name of a seat in lines, such as "p1".
func (h *handState) player(seat uint32) string {
	for at, other := range h.order {
		if other == seat {
			return fmt.Sprintf("p%d", at+1)
		}
	}
	return "p0"
}

// tableState is what a player needs to know of a table: who sits where, and the hand in play.
type tableState struct {
	playerID string
	seats    map[uint32]*tablev1.SeatView
	hand     *handState
}

// mySeat returns the player's own seat, while they have one.
func (t *tableState) mySeat() *tablev1.SeatView {
	for _, seat := range t.seats {
		if seat.PlayerId == t.playerID {
			return seat
		}
	}
	return nil
}

func (t *tableState) apply(seen *tablev1.WatchTableResponse) {
	if view := seen.GetSnapshot(); view != nil {
		t.show(view)
		return
	}
	switch what := seen.GetUpdate().What.(type) {
	case *tablev1.TableUpdate_Seat:
		if what.Seat.Vacated {
			delete(t.seats, what.Seat.Seat.Seat)
		} else {
			t.seats[what.Seat.Seat.Seat] = what.Seat.Seat
		}
	case *tablev1.TableUpdate_HandStarted:
		t.begin(what.HandStarted.HandNo, what.HandStarted.Seats, what.HandStarted.Turn)
	case *tablev1.TableUpdate_Action:
		// What an update does not carry is as it was; the decision that is due is always told.
		if t.hand != nil {
			t.hand.turn = what.Action.Turn
			t.hold(what.Action.Hands)
		}
	case *tablev1.TableUpdate_Suspension:
		if t.hand != nil {
			t.hand.turn = what.Suspension.Turn
		}
	case *tablev1.TableUpdate_HandEnded, *tablev1.TableUpdate_Voided:
		t.hand = nil
	}
}

func (t *tableState) show(view *tablev1.TableView) {
	t.seats = map[uint32]*tablev1.SeatView{}
	for _, seat := range view.Seats {
		t.seats[seat.Seat] = seat
	}
	t.hand = nil
	if hand := view.Hand; hand != nil && len(hand.Settlement) == 0 {
		t.begin(hand.HandNo, hand.Seats, hand.Turn)
	}
}

func (t *tableState) begin(handNo uint64, seats []*tablev1.HandSeat, turn *tablev1.Turn) {
	t.hand = &handState{handNo: handNo, turn: turn}
	for _, seat := range seats {
		t.hand.order = append(t.hand.order, seat.Seat)
	}
	t.hold(seats)
}

func (t *tableState) hold(hands []*tablev1.HandSeat) {
	mine := t.mySeat()
	for _, hand := range hands {
		if mine != nil && hand.Seat == mine.Seat {
			t.hand.cards = hand.Cards
		}
	}
}
