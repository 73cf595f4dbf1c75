package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// How much was checked.
type tally struct{ checkpoints, inclusions, consistencies, tiles, records int }

func (t tally) String() string {
	return fmt.Sprintf("%d checkpoints, %d inclusion and %d consistency proofs, %d tiles and bundles, %d records",
		t.checkpoints, t.inclusions, t.consistencies, t.tiles, t.records)
}

// One pass over a log.
type checker struct {
	all   files
	keys  keys
	trees map[int64]tlog.Tree
	// Tiles and bundles that something was made of; in the end, all of them.
	used map[string]bool
	tally
}

func check(all files) (tally, error) {
	c := &checker{all: all, trees: map[int64]tlog.Tree{}, used: map[string]bool{}}
	for _, step := range []func() error{c.checkpoints, c.inclusions, c.consistencies, c.unused} {
		if err := step(); err != nil {
			return tally{}, err
		}
	}
	return c.tally, nil
}

func (c *checker) checkpoints() error {
	var err error
	if c.keys, err = readKeys(c.all); err != nil {
		return err
	}
	for _, size := range c.all.under("checkpoint/") {
		tree, err := c.keys.open(c.all["checkpoint/"+size])
		if err != nil {
			return fmt.Errorf("checkpoint/%s: %w", size, err)
		}
		if strconv.FormatInt(tree.N, 10) != size {
			return fmt.Errorf("checkpoint/%s is of %d records", size, tree.N)
		}
		c.trees[tree.N] = tree
		c.tally.checkpoints++
	}
	return nil
}

// reader gives a tree's hashes from its tiles, authenticated.
func (c *checker) reader(tree tlog.Tree) tlog.HashReader {
	return tlog.TileHashReader(tree, &tiles{c, tree.N})
}

func (c *checker) inclusions() error {
	for _, name := range c.all.under("inclusion/") {
		if err := c.inclusion("inclusion/"+name, name); err != nil {
			return fmt.Errorf("inclusion/%s: %w", name, err)
		}
		c.tally.inclusions++
	}
	return nil
}

func (c *checker) inclusion(path, name string) error {
	index, size, err := pair(name, "-of-")
	if err != nil {
		return err
	}
	tree := c.trees[size]
	head, checkpoint, ok := strings.Cut(string(c.all[path]), "\n\n")
	start := fmt.Sprintf("c2sp.org/tlog-proof@v1\nindex %d", index)
	if !ok || !strings.HasPrefix(head, start) {
		return errors.New("no proof of this record")
	}
	if signed, err := c.keys.open([]byte(checkpoint)); err != nil || signed != tree {
		return fmt.Errorf("the checkpoint within is another: %v", err)
	}
	proof, err := hashes(strings.TrimPrefix(strings.TrimPrefix(head, start), "\n"))
	if err != nil {
		return err
	}
	record, err := c.record(tree, index)
	if err != nil {
		return err
	}
	if err := tlog.CheckRecord(proof, tree.N, tree.Hash, index, tlog.RecordHash(record)); err != nil {
		return err
	}
	made, err := tlog.ProveRecord(tree.N, index, c.reader(tree))
	if err != nil {
		return err
	}
	return same(proof, made)
}

// record gives one from its bundle, after all of the bundle were checked against the tile.
func (c *checker) record(tree tlog.Tree, index int64) ([]byte, error) {
	first := index / 256 * 256
	width := tree.N - first
	if width > 256 {
		width = 256
	}
	path := path("entries", first/256, int(width))
	content, err := c.all.get(path)
	if err != nil {
		return nil, err
	}
	var wanted []byte
	var indexes []int64
	var got []tlog.Hash
	for at := first; at < first+width; at++ {
		if len(content) < 2 || len(content) < 2+int(binary.BigEndian.Uint16(content)) {
			return nil, fmt.Errorf("%s is cut", path)
		}
		end := 2 + int(binary.BigEndian.Uint16(content))
		record := content[2:end]
		content = content[end:]
		if len(record) != 149 || !bytes.HasPrefix(record, []byte("SLE2")) ||
			binary.BigEndian.Uint64(record[4:]) != uint64(at) {
			return nil, fmt.Errorf("%s holds no leaf record of position %d", path, at)
		}
		if at == index {
			wanted = record
		}
		indexes = append(indexes, tlog.StoredHashIndex(0, at))
		got = append(got, tlog.RecordHash(record))
	}
	if len(content) != 0 {
		return nil, fmt.Errorf("%s holds more than its width", path)
	}
	expected, err := c.reader(tree).ReadHashes(indexes)
	if err != nil {
		return nil, err
	}
	if err := same(got, expected); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !c.used[path] {
		c.tally.records += int(width)
	}
	c.used[path] = true
	return wanted, nil
}

func (c *checker) consistencies() error {
	for _, name := range c.all.under("consistency/") {
		old, size, err := pair(name, "-to-")
		if err != nil {
			return err
		}
		was, is := c.trees[old], c.trees[size]
		proof, err := hashes(strings.TrimSuffix(string(c.all["consistency/"+name]), "\n"))
		if err != nil {
			return fmt.Errorf("consistency/%s: %w", name, err)
		}
		if err := tlog.CheckTree(proof, is.N, is.Hash, was.N, was.Hash); err != nil {
			return fmt.Errorf("consistency/%s: %w", name, err)
		}
		made, err := tlog.ProveTree(is.N, was.N, c.reader(is))
		if err != nil {
			return fmt.Errorf("consistency/%s: %w", name, err)
		}
		if err := same(proof, made); err != nil {
			return fmt.Errorf("consistency/%s: %w", name, err)
		}
		c.tally.consistencies++
	}
	return nil
}

// unused fails for a tile that nothing was made of: it could be anything.
func (c *checker) unused() error {
	for _, name := range c.all.under("tile/") {
		if !c.used["tile/"+name] {
			return fmt.Errorf("tile/%s was not read", name)
		}
		c.tally.tiles++
	}
	return nil
}

// keys are those of the log and its witness.
type keys struct{ log, witness note.Verifier }

func readKeys(all files) (keys, error) {
	content, err := all.get("keys")
	if err != nil {
		return keys{}, err
	}
	lines := strings.Split(string(content), "\n")
	if len(lines) != 3 || lines[2] != "" {
		return keys{}, errors.New("keys: not two lines")
	}
	log, err := note.NewVerifier(lines[0])
	if err != nil {
		return keys{}, fmt.Errorf("the log's key: %w", err)
	}
	witness, err := newWitness(lines[1])
	return keys{log, witness}, err
}

// open gives the tree of a checkpoint that both have signed.
func (k keys) open(signed []byte) (tlog.Tree, error) {
	opened, err := note.Open(signed, note.VerifierList(k.log, k.witness))
	if err != nil {
		return tlog.Tree{}, err
	}
	if len(opened.Sigs) != 2 || len(opened.UnverifiedSigs) != 0 {
		return tlog.Tree{}, errors.New("not signed by the log and the witness alone")
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != k.log.Name() {
		return tlog.Tree{}, errors.New("no checkpoint of this log")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

func pair(name, between string) (int64, int64, error) {
	left, right, _ := strings.Cut(name, between)
	first, err := strconv.ParseInt(left, 10, 64)
	if err != nil {
		return 0, 0, err
	}
	second, err := strconv.ParseInt(right, 10, 64)
	return first, second, err
}

// hashes reads a line each; no lines are no hashes.
func hashes(lines string) ([]tlog.Hash, error) {
	if lines == "" {
		return nil, nil
	}
	var all []tlog.Hash
	for _, line := range strings.Split(lines, "\n") {
		content, err := base64.StdEncoding.Strict().DecodeString(line)
		if err != nil || len(content) != tlog.HashSize {
			return nil, fmt.Errorf("%q is no hash", line)
		}
		all = append(all, *(*tlog.Hash)(content))
	}
	return all, nil
}

func same(got, expected []tlog.Hash) error {
	if len(got) != len(expected) {
		return fmt.Errorf("%d hashes where there should be %d", len(got), len(expected))
	}
	for at := range got {
		if got[at] != expected[at] {
			return fmt.Errorf("hash %d is %v where it should be %v", at, got[at], expected[at])
		}
	}
	return nil
}
