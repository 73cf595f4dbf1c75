package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	commonv1 "sabacc/common/v1"
	tablev1 "sabacc/table/v1"
)

// decisions are those of one hand, each bound to all before it, and the signatures of this player's own.
type decisions struct {
	handNo  uint64
	context []byte
	seat    uint32
	// The player's name in lines, such as "p1".
	player string
	key    ed25519.PrivateKey
	keys   roomKeys
	// The chain as the stream has told it, from the transcript on.
	chain []byte
	// Chains, in hexadecimal, that end in a decision that this player has signed.
	signed map[string]bool
	// Decisions of this player that came back in the stream.
	seen int
}

// sign signs a decision for the turn that is due.
func (d *decisions) sign(move *commonv1.Move, legal *commonv1.LegalMove, verb string, hand *handState) ([]byte, error) {
	line, err := lineOf(move, legal, verb, d.seat, hand, false)
	if err != nil {
		return nil, err
	}
	said, err := lineOf(move, legal, verb, d.seat, hand, true)
	if err != nil {
		return nil, err
	}
	chain := chainWith(d.chain, false, line)
	d.signed[hex.EncodeToString(chain)] = true
	public := d.key.Public().(ed25519.PublicKey)
	return ed25519.Sign(d.key, decisionText(d.context, chain, said, public)), nil
}

// accept checks the table's word that a decision is on record.
func (d *decisions) accept(receipt *tablev1.DecisionReceipt) error {
	if receipt == nil || !d.signed[hex.EncodeToString(receipt.Chain)] {
		return errors.New("a receipt for a decision that was not signed")
	}
	return d.keys.check("table", decisionReceiptText(d.context, receipt), receipt.KeyId, receipt.Signature)
}

// follow follows the chain: every decision of the hand is in it, and of this player only what they have
// signed.
func (d *decisions) follow(action *tablev1.HandAction) error {
	if action.HandNo != d.handNo || action.ChainLine == "" {
		return nil
	}
	next := chainWith(d.chain, action.ByClock, action.ChainLine)
	if !bytes.Equal(next, action.Chain) {
		return fmt.Errorf("the chain is not that of %q", action.ChainLine)
	}
	d.chain = next
	if action.Seat != d.seat || action.ByClock {
		return nil
	}
	if !strings.HasPrefix(action.ChainLine, d.player+" ") || !d.signed[hex.EncodeToString(next)] {
		return fmt.Errorf("%q was not signed by this player", action.ChainLine)
	}
	d.seen++
	return nil
}
