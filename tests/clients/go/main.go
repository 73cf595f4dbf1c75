// A client of a sabacc room in Go: gRPC by grpc-go, messages by protoc-gen-go. It signs in as a guest,
// plays one hand of each game to its end, and brings the hand's bundle home. tests/clients/README.md names
// its variables.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	commonv1 "sabacc/common/v1"
	tablev1 "sabacc/table/v1"
)

// Time for everything.
const patience = 5 * time.Minute

func main() {
	rand.Seed(time.Now().UnixNano())
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, game := range strings.Fields(os.Getenv("SABACC_GAMES")) {
		if err := playGame(ctx, game); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", game, err)
			os.Exit(1)
		}
	}
}

func playGame(ctx context.Context, game string) error {
	text, err := os.ReadFile(os.Getenv("SABACC_KEYS"))
	if err != nil {
		return err
	}
	keys, err := parseKeys(string(text))
	if err != nil {
		return err
	}
	r, err := connect(os.Getenv("SABACC_URL"))
	if err != nil {
		return err
	}
	playerID, err := signIn(ctx, r)
	if err != nil {
		return err
	}
	verbs, err := verbsOf(ctx, r)
	if err != nil {
		return err
	}
	tableID, err := findTable(ctx, r, game)
	if err != nil {
		return err
	}
	p := newPlayer(r, playerID, tableID, keys, verbs)
	handNo, seat, err := p.play(ctx)
	if err != nil {
		return err
	}
	streams := p.follower.streams
	fmt.Printf("%s: hand %d in seat %d: %d signed decisions over %d streams\n", game, handNo, seat, p.made, streams)
	bundle, err := fetchBundle(ctx, r, tableID, handNo)
	if err != nil {
		return err
	}
	if _, err := r.people.SignOut(ctx, &tablev1.SignOutRequest{RequestId: requestID()}); err != nil {
		return err
	}
	return save(game, bundle, seat)
}

// signIn signs in twice under one id, as after a lost answer: it is the same player. Then it goes on with
// new tokens, as every 15 minutes.
func signIn(ctx context.Context, r *room) (string, error) {
	request := &tablev1.SignInAsGuestRequest{RequestId: requestID(), Name: "Go", SignInSecret: random(32)}
	first, err := r.signInAsGuest(ctx, request)
	if err != nil {
		return "", err
	}
	second, err := r.signInAsGuest(ctx, request)
	if err != nil {
		return "", err
	}
	if first.PlayerId != second.PlayerId {
		return "", errors.New("a repeated sign-in made another player")
	}
	if err := r.refresh(ctx); err != nil {
		return "", err
	}
	me, err := r.people.GetPlayer(ctx, &tablev1.GetPlayerRequest{})
	if err == nil && (me.PlayerId != first.PlayerId || me.Name != "Go") {
		err = fmt.Errorf("the room takes this player for %s, %q", me.PlayerId, me.Name)
	}
	return first.PlayerId, err
}

// verbsOf returns the first word of each move's line.
func verbsOf(ctx context.Context, r *room) (map[commonv1.MoveKind]string, error) {
	told, err := r.rules.ListVariants(ctx, &tablev1.ListVariantsRequest{})
	verbs := map[commonv1.MoveKind]string{}
	for _, move := range told.GetMoves() {
		verbs[move.Kind] = move.Verb
	}
	return verbs, err
}

func save(game string, bundle []byte, seat uint32) error {
	place := filepath.Join(os.Getenv("SABACC_OUT"), game)
	if err := os.WriteFile(place+".sabacc", bundle, 0o644); err != nil {
		return err
	}
	return os.WriteFile(place+".seat", []byte(fmt.Sprintf("%d\n", seat)), 0o644)
}
