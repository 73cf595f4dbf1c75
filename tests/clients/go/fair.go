package main

import (
	"crypto/ed25519"

	commonv1 "sabacc/common/v1"
	tablev1 "sabacc/table/v1"
)

// What is hashed and signed in a hand, byte for byte as crates/fairness/SPEC.md says.

var zeros = make([]byte, 32)

// binding is what a hand is bound to: its context, and the dealer's commitment to its seed.
type binding struct{ context, dealer []byte }

// hash is H(tag, fields) of section 4.2.
func hash(tag string, parts ...[]byte) []byte {
	return sum(fields(append([][]byte{[]byte("sabacc/fair/v1/" + tag)}, parts...)...))
}

// message is M(tag, fields) of section 4.4, a text to sign.
func message(tag string, parts ...[]byte) []byte {
	return fields(append([][]byte{[]byte(tag)}, parts...)...)
}

func rulesHash(ruleSet, settings string) []byte {
	return sum(fields([]byte(ruleSet), []byte(settings)))
}

func contextOf(origin, tableID string, handNo uint64, rules []byte) []byte {
	return hash("ctx", []byte(origin), idBytes(tableID), u64(handNo), rules)
}

func clientCommitment(b binding, seat uint32, playerID string, entropy []byte) []byte {
	return hash("client-commit", b.context, b.dealer, u8(seat), idBytes(playerID), entropy)
}

func seedCommitment(context, seed []byte) []byte { return hash("dealer-commit", context, seed) }

func closingOf(b binding, rows []*commonv1.ClosingRow) []byte {
	parts := [][]byte{b.context, b.dealer, u8(uint32(len(rows)))}
	for _, row := range rows {
		committed, commitment := byte(0), zeros
		if len(row.Commitment) > 0 {
			committed, commitment = 1, row.Commitment
		}
		parts = append(parts, join(u8(row.Seat), idBytes(row.PlayerId), []byte{committed}, commitment))
	}
	return hash("closing", parts...)
}

func transcriptOf(b binding, rows []*commonv1.EntropyRow) []byte {
	noBeacon := []byte{}
	parts := [][]byte{b.context, b.dealer, noBeacon, u8(uint32(len(rows)))}
	for _, row := range rows {
		commitment, entropy := zeros, zeros
		if len(row.Commitment) > 0 {
			commitment = row.Commitment
		}
		if row.Status == commonv1.EntropyStatus_ENTROPY_STATUS_REVEALED {
			entropy = row.Entropy
		}
		status := u8(uint32(row.Status))
		parts = append(parts, join(u8(row.Seat), idBytes(row.PlayerId), status, commitment, entropy))
	}
	return hash("transcript", parts...)
}

func join(parts ...[]byte) []byte {
	var all []byte
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// chainWith is the chain of decisions with one more line in it (section 9.1).
func chainWith(chain []byte, byClock bool, line string) []byte {
	clock := byte(0)
	if byClock {
		clock = 1
	}
	return hash("decision", chain, []byte{clock}, []byte(line))
}

// Texts that somebody signs, section 8.

func commitmentText(tableID string, handNo uint64, rules []byte, p *commonv1.Commitment) []byte {
	return message("dealer-commit-sig", []byte(p.Origin), idBytes(tableID), u64(handNo), rules, p.Commitment, p.KeyId)
}

func closingText(b binding, c *commonv1.Closing) []byte {
	return message("closing-sig", b.context, b.dealer, c.Closing, c.KeyId)
}

func commitReceiptText(b binding, r *tablev1.EntropyReceipt) []byte {
	return message("receipt-sig", b.context, b.dealer, u8(r.Seat), idBytes(r.PlayerId), r.Commitment, r.PlayerKey,
		u64(r.Position), r.KeyId)
}

func revealReceiptText(b binding, r *tablev1.RevealReceipt) []byte {
	return message("reveal-receipt-sig", b.context, b.dealer, u8(r.Seat), idBytes(r.PlayerId), r.Entropy,
		u64(r.Position), r.KeyId)
}

func decisionText(context, chain []byte, said string, key ed25519.PublicKey) []byte {
	return message("decision-sig", context, chain, []byte(said), keyID(key))
}

func decisionReceiptText(context []byte, r *tablev1.DecisionReceipt) []byte {
	return message("decision-receipt-sig", context, r.Chain, u64(r.Position), r.KeyId)
}

func keyID(key ed25519.PublicKey) []byte { return sum(key)[:8] }
