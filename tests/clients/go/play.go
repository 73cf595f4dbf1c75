package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	auditv1 "sabacc/audit/v1"
	commonv1 "sabacc/common/v1"
	tablev1 "sabacc/table/v1"
)

const (
	// Attempts to get a bundle in which nothing is owed any more, and the wait between them.
	bundleAttempts = 50
	bundleWait     = 200 * time.Millisecond
)

// findTable returns the first table of a game with a free seat, over as many pages as it takes.
func findTable(ctx context.Context, r *room, game string) (string, error) {
	for token := ""; ; {
		page, err := r.tables.ListTables(ctx, &tablev1.ListTablesRequest{PageToken: token})
		if err != nil {
			return "", err
		}
		for _, table := range page.Tables {
			if table.Variant == game && table.Seated < table.Seats {
				return table.TableId, nil
			}
		}
		if token = page.NextPageToken; token == "" {
			return "", fmt.Errorf("no table of %s has a free seat", game)
		}
	}
}

// player sits down at a table, plays the first hand that their number is in, and leaves.
type player struct {
	room     *room
	tableID  string
	verbs    map[commonv1.MoveKind]string
	state    tableState
	chance   chance
	follower follower
	// Hand and turn of the last decision.
	decided string
	made    int
	ended   bool
}

func newPlayer(r *room, playerID, tableID string, keys roomKeys, verbs map[commonv1.MoveKind]string) *player {
	return &player{
		room: r, tableID: tableID, verbs: verbs,
		state: tableState{playerID: playerID},
		chance: chance{
			room: r, tableID: tableID, playerID: playerID, keys: keys,
			promises: map[uint64]binding{}, parts: map[uint64]*part{},
		},
		follower: follower{room: r, tableID: tableID},
	}
}

// play plays one hand, and returns its number and the player's seat.
func (p *player) play(ctx context.Context) (uint64, uint32, error) {
	defer p.follower.drop()
	for over := false; !over; {
		seen, err := p.follower.next(ctx)
		if err == nil && seen == nil {
			err = errors.New("the table was closed")
		}
		if err != nil {
			return 0, 0, err
		}
		if over, err = p.apply(ctx, seen); err != nil {
			return 0, 0, err
		}
	}
	request := &tablev1.StandUpRequest{RequestId: requestID(), TableId: p.tableID}
	if _, err := p.room.tables.StandUp(ctx, request); err != nil {
		return 0, 0, err
	}
	return p.chance.decisions.handNo, p.chance.decisions.seat, p.checkResumed()
}

// apply takes in what came, does what is due, and tells whether the hand is over.
func (p *player) apply(ctx context.Context, seen *tablev1.WatchTableResponse) (bool, error) {
	p.state.apply(seen)
	if err := p.chance.apply(ctx, seen, p.state.mySeat()); err != nil {
		return false, err
	}
	if view := seen.GetSnapshot(); view != nil && p.state.mySeat() == nil {
		if err := p.sitDown(ctx, view); err != nil {
			return false, err
		}
	}
	if p.chance.decisions == nil {
		return false, p.giveWay(ctx)
	}
	if err := p.decide(ctx); err != nil {
		return false, err
	}
	return p.isOver(seen)
}

// sitDown takes a seat for the least credits; that is sent twice, and then with other content, which is
// refused.
func (p *player) sitDown(ctx context.Context, view *tablev1.TableView) error {
	request := &tablev1.SitDownRequest{RequestId: requestID(), TableId: p.tableID, BuyInCredits: view.MinBuyInCredits}
	err := twice(func() (proto.Message, error) { return p.room.tables.SitDown(ctx, request) })
	if err != nil {
		return err
	}
	request.BuyInCredits++
	if _, err = p.room.tables.SitDown(ctx, request); reasonOf(err) != "REQUEST_ID_REUSED" {
		return fmt.Errorf("an id with other content was not refused: %v", err)
	}
	return nil
}

// giveWay plays a hand that this player's number is not in as the clock would, so that nobody waits for
// it. Without a key for the hand nothing is signed.
func (p *player) giveWay(ctx context.Context) error {
	hand, mine := p.state.hand, p.state.mySeat()
	if hand == nil || mine == nil || hand.turn.GetDefaultMove() == nil || hand.turn.Seat != mine.Seat {
		return nil
	}
	due := fmt.Sprintf("%d/%d", hand.handNo, hand.turn.Turn)
	if p.decided == due {
		return nil
	}
	p.decided = due
	_, err := p.room.tables.Act(ctx, &tablev1.ActRequest{
		RequestId: requestID(), TableId: p.tableID, HandNo: hand.handNo, Turn: hand.turn.Turn,
		Decision: hand.turn.DefaultMove,
	})
	if reasonOf(err) == "NOT_YOUR_TURN" {
		return nil
	}
	return err
}

func (p *player) decide(ctx context.Context) error {
	hand, decisions := p.state.hand, p.chance.decisions
	if hand == nil || hand.handNo != decisions.handNo || hand.turn == nil || hand.turn.Seat != decisions.seat {
		return nil
	}
	due := fmt.Sprintf("%d/%d", hand.handNo, hand.turn.Turn)
	if p.decided == due {
		return nil
	}
	p.decided = due
	request, err := p.decision(hand)
	if err != nil {
		return err
	}
	var answer *tablev1.ActResponse
	err = twice(func() (proto.Message, error) {
		answer, err = p.room.tables.Act(ctx, request)
		return answer, err
	})
	switch {
	case err == nil:
		p.made++
		err = decisions.accept(answer.Receipt)
	case reasonOf(err) == "NOT_YOUR_TURN":
		// The clock was quicker: the next update shows how the hand stands now.
		return nil
	case reasonOf(err) == "SIGNATURE_INVALID":
		// Somebody has left meanwhile: sign anew after the next update.
		p.decided = ""
		return nil
	}
	// Once in the hand the stream is lost, with this player's own decision on its way.
	if p.made == 1 && p.follower.streams == 1 {
		p.follower.drop()
	}
	return err
}

// decision makes a signed decision for the turn that is due.
func (p *player) decision(hand *handState) (*tablev1.ActRequest, error) {
	legal := pick(hand.turn.Legal)
	if legal == nil || p.verbs[legal.Kind] == "" {
		return nil, errors.New("no move is legal that this client could make")
	}
	move, err := fill(legal)
	if err != nil {
		return nil, err
	}
	signature, err := p.chance.decisions.sign(move, legal, p.verbs[legal.Kind], hand)
	return &tablev1.ActRequest{
		RequestId: requestID(), TableId: p.tableID, HandNo: hand.handNo, Turn: hand.turn.Turn, Decision: move,
		Signature: signature,
	}, err
}

// isOver tells whether the hand is over and its seed open: from then on it can be proved.
func (p *player) isOver(seen *tablev1.WatchTableResponse) (bool, error) {
	handNo := p.chance.decisions.handNo
	if view := seen.GetSnapshot(); view != nil {
		// What came meanwhile is in the bundle.
		p.ended = p.ended || view.HandNo > handNo || len(view.Hand.GetSettlement()) > 0
		return p.ended, nil
	}
	switch what := seen.GetUpdate().GetWhat().(type) {
	case *tablev1.TableUpdate_Voided:
		if what.Voided.HandNo == handNo {
			return false, fmt.Errorf("hand %d came to nothing: %s", handNo, what.Voided.Evidence)
		}
	case *tablev1.TableUpdate_HandEnded:
		p.ended = p.ended || what.HandEnded.HandNo == handNo
	case *tablev1.TableUpdate_Seed:
		return p.ended && what.Seed.HandNo == handNo, nil
	}
	return false, nil
}

// checkResumed: the stream was lost and went on from its token; every decision of this player's came in
// it, unless a view took the place of updates later, as it does where a token is too old.
func (p *player) checkResumed() error {
	f, seen := p.follower, p.chance.decisions.seen
	if p.made == 0 || f.resumed == 0 || f.views == 1 && seen != p.made {
		return fmt.Errorf("%d of %d streams went on from a token, %d views; %d decisions were made, %d came back",
			f.resumed, f.streams, f.views, p.made, seen)
	}
	return nil
}

// fetchBundle fetches a hand's bundle once nothing of it is owed any more, by the room's own word: its
// seed is opened and its credits are moved in their own time. Whoever has the bundle proves it without the
// room, by `tests/verify` or the page `verify.html`.
func fetchBundle(ctx context.Context, r *room, tableID string, handNo uint64) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		told, err := r.audit.AuditHand(ctx, &auditv1.AuditHandRequest{TableId: tableID, HandNo: handNo})
		if err != nil && reasonOf(err) != "HAND_IN_PLAY" {
			return nil, err
		}
		if told.GetVerdict() == auditv1.HandVerdict_HAND_VERDICT_PROVED {
			break
		}
		if attempt == bundleAttempts {
			return nil, fmt.Errorf("hand %d was not finished in time: %v", handNo, told.GetSentences())
		}
		time.Sleep(bundleWait)
	}
	answer, err := r.audit.GetHandBundle(ctx, &auditv1.GetHandBundleRequest{TableId: tableID, HandNo: handNo})
	return answer.GetBundle(), err
}
