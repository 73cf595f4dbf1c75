package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// fields returns LP(a) LP(b) …: each field behind its length, so that two different lists never look
// alike (crates/fairness/SPEC.md section 4.1).
func fields(parts ...[]byte) []byte {
	var all []byte
	for _, part := range parts {
		all = binary.BigEndian.AppendUint32(all, uint32(len(part)))
		all = append(all, part...)
	}
	return all
}

func sum(bytes []byte) []byte {
	digest := sha256.Sum256(bytes)
	return digest[:]
}

func u64(value uint64) []byte { return binary.BigEndian.AppendUint64(nil, value) }

func u8(value uint32) []byte { return []byte{byte(value)} }

// idBytes returns an id's 16 bytes: it is text in messages, and bytes where it is hashed or signed.
func idBytes(id string) []byte {
	bytes, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(bytes) != 16 {
		panic(fmt.Sprintf("the room has sent an id that is none: %q", id))
	}
	return bytes
}

func random(length int) []byte {
	bytes := make([]byte, length)
	if _, err := rand.Read(bytes); err != nil {
		panic(err)
	}
	return bytes
}

// requestID makes a UUIDv7: 48 bits of milliseconds, then chance. Ids in the order of time are cheap for
// the room to know again.
func requestID() string {
	id := random(16)
	copy(id, u64(uint64(time.Now().UnixMilli()))[2:])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
