package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
)

// roomKeys are the public keys of the room's logs, by name, from a source that the player trusts: a file
// with one C2SP verifier key a line, `<name>+<hash>+<base64 of 1 and the 32 bytes of an Ed25519 key>`.
type roomKeys map[string]ed25519.PublicKey

func parseKeys(text string) (roomKeys, error) {
	keys := roomKeys{}
	for _, line := range strings.Split(text, "\n") {
		// A client at play takes no key with an end: ` until N`.
		if line == "" || strings.HasPrefix(line, "#") || strings.Contains(line, " ") {
			continue
		}
		parts := strings.SplitN(line, "+", 3)
		if len(parts) != 3 {
			return nil, fmt.Errorf("%q is no key of a log", line)
		}
		blob, err := base64.StdEncoding.DecodeString(parts[2])
		if err != nil || len(blob) != 33 || blob[0] != 1 {
			return nil, fmt.Errorf("%q is no key of a log", line)
		}
		keys[parts[0]] = blob[1:]
	}
	return keys, nil
}

// of returns the log of a service, "dealer" or "table", with its key.
func (k roomKeys) of(service string) (string, ed25519.PublicKey) {
	for name, key := range k {
		if strings.HasSuffix(name, "/"+service) {
			return name, key
		}
	}
	return "", nil
}

// check fails unless the text is signed by the key of that service's log.
func (k roomKeys) check(service string, text, id, signature []byte) error {
	_, key := k.of(service)
	if key == nil || string(keyID(key)) != string(id) {
		return fmt.Errorf("a text of the %s is signed by a key that is not known", service)
	}
	if !ed25519.Verify(key, text, signature) {
		return fmt.Errorf("a signature of the %s is not good", service)
	}
	return nil
}
