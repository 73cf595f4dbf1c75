package main

import (
	"fmt"
	"math/rand"
	"strings"

	commonv1 "sabacc/common/v1"
)

// Moves, from what LegalMove says alone: this client knows no game.

// pick picks a legal move: one that does not end the player's part in the hand, while there is one. Three
// times of four credits are not raised where something else is legal, so that hands come to an end.
func pick(legal []*commonv1.LegalMove) *commonv1.LegalMove {
	var all, going, calm []*commonv1.LegalMove
	for _, move := range legal {
		if move.Kind == commonv1.MoveKind_MOVE_KIND_LEAVE {
			continue
		}
		all = append(all, move)
		switch move.Kind {
		case commonv1.MoveKind_MOVE_KIND_FOLD, commonv1.MoveKind_MOVE_KIND_JUNK, commonv1.MoveKind_MOVE_KIND_VOID:
			continue
		}
		going = append(going, move)
		if !takes(move, commonv1.MoveArgument_MOVE_ARGUMENT_AMOUNT) {
			calm = append(calm, move)
		}
	}
	choices := [][]*commonv1.LegalMove{calm, going, all}
	if rand.Intn(4) == 0 {
		choices = choices[1:]
	}
	for _, some := range choices {
		if len(some) > 0 {
			return some[rand.Intn(len(some))]
		}
	}
	return nil
}

func takes(legal *commonv1.LegalMove, argument commonv1.MoveArgument) bool {
	for _, taken := range legal.MoveArguments {
		if taken == argument {
			return true
		}
	}
	return false
}

// fill makes a move: it fills in what each argument says, from the choices in the list.
func fill(legal *commonv1.LegalMove) (*commonv1.Move, error) {
	move := &commonv1.Move{Kind: legal.Kind}
	for _, argument := range legal.MoveArguments {
		switch argument {
		case commonv1.MoveArgument_MOVE_ARGUMENT_CARDS:
			count := legal.MinCards + uint32(rand.Intn(int(legal.MaxCards-legal.MinCards)+1))
			move.Cards = some(legal.Cards, count)
		case commonv1.MoveArgument_MOVE_ARGUMENT_AMOUNT:
			// The least that is taken: random amounts would have everybody all-in at once.
			move.AmountCredits = legal.MinCredits
		case commonv1.MoveArgument_MOVE_ARGUMENT_SIDE, commonv1.MoveArgument_MOVE_ARGUMENT_PILE,
			commonv1.MoveArgument_MOVE_ARGUMENT_TOKENS:
			move.Names = some(legal.Names, legal.NamesCount)
		case commonv1.MoveArgument_MOVE_ARGUMENT_SEAT:
			move.TargetSeat = legal.TargetSeats[rand.Intn(len(legal.TargetSeats))]
		case commonv1.MoveArgument_MOVE_ARGUMENT_VALUE:
			move.Value = legal.Values[rand.Intn(len(legal.Values))]
		default:
			return nil, fmt.Errorf("an argument of the future: %v", argument)
		}
	}
	return move, nil
}

// some picks so many different items of a list, in its order.
func some(items []string, count uint32) []string {
	var picked []string
	for at, item := range items {
		if uint32(rand.Intn(len(items)-at)) < count {
			picked = append(picked, item)
			count--
		}
	}
	return picked
}

// lineOf is the line of a decision as the chain takes it and its player signs it (section 9.2 of
// crates/fairness/SPEC.md): cards by where they lie, secret choices as "??", or in the clear where `said`.
func lineOf(move *commonv1.Move, legal *commonv1.LegalMove, verb string, seat uint32, hand *handState,
	said bool) (string, error) {
	shown := func(word string) string {
		if legal.Secret && !said {
			return "??"
		}
		return word
	}
	words := []string{hand.player(seat), verb}
	for _, argument := range legal.MoveArguments {
		switch argument {
		case commonv1.MoveArgument_MOVE_ARGUMENT_CARDS:
			handles, err := handlesOf(move.Cards, hand)
			if err != nil {
				return "", err
			}
			words = append(words, handles...)
		case commonv1.MoveArgument_MOVE_ARGUMENT_AMOUNT:
			words = append(words, shown(fmt.Sprint(move.AmountCredits)))
		case commonv1.MoveArgument_MOVE_ARGUMENT_SEAT:
			words = append(words, shown(hand.player(move.TargetSeat)))
		case commonv1.MoveArgument_MOVE_ARGUMENT_VALUE:
			words = append(words, shown(fmt.Sprint(move.Value)))
		default:
			for _, name := range move.Names {
				words = append(words, shown(name))
			}
		}
	}
	return strings.Join(words, " "), nil
}

// handlesOf says where the named cards lie. Of copies that look alike, each code takes the first that is
// not taken yet.
func handlesOf(codes []string, hand *handState) ([]string, error) {
	taken := map[int]bool{}
	var handles []string
	for _, code := range codes {
		found := false
		for at, held := range hand.cards {
			if held.Code == code && !taken[at] && held.Proof != nil {
				taken[at], found = true, true
				handles = append(handles, fmt.Sprintf("%d.%d", held.Proof.Op, held.Proof.Position))
				break
			}
		}
		if !found {
			return nil, fmt.Errorf("nothing shows where %s lies", code)
		}
	}
	return handles, nil
}
