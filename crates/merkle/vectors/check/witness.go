package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// A witness checks C2SP tlog-cosignatures, as note.Verifier.
type witness struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func newWitness(vkey string) (note.Verifier, error) {
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 {
		return nil, errors.New("the witness's key is not three parts")
	}
	encoded, err := base64.StdEncoding.Strict().DecodeString(parts[2])
	if err != nil || len(encoded) != 1+ed25519.PublicKeySize || encoded[0] != 4 {
		return nil, errors.New("the witness's key is not of kind 4")
	}
	sum := sha256.Sum256(append([]byte(parts[0]+"\n"), encoded...))
	hash := binary.BigEndian.Uint32(sum[:])
	if fmt.Sprintf("%08x", hash) != parts[1] {
		return nil, errors.New("the witness's key has another id")
	}
	return &witness{parts[0], hash, encoded[1:]}, nil
}

func (w *witness) Name() string    { return w.name }
func (w *witness) KeyHash() uint32 { return w.hash }

func (w *witness) Verify(msg, sig []byte) bool {
	if len(sig) != 8+ed25519.SignatureSize {
		return false
	}
	time := binary.BigEndian.Uint64(sig)
	cosigned := fmt.Sprintf("cosignature/v1\ntime %d\n%s", time, msg)
	return ed25519.Verify(w.key, []byte(cosigned), sig[8:])
}
