// Reads the log under ../log with Go's own code for transparency logs, golang.org/x/mod/sumdb,
// which shares nothing with ours: notes are opened by note.Open, proofs checked by
// tlog.CheckRecord and tlog.CheckTree, tiles read and authenticated by tlog.TileHashReader.
//
// Then it changes files, a byte at a time, and each time something must be refused: a check that
// lets a change pass fails as well.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A log's files by their paths, as they are or with one of them changed.
type files map[string][]byte

func read(folder string) (files, error) {
	all := files{}
	err := filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		all[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	return all, err
}

func (all files) get(name string) ([]byte, error) {
	content, ok := all[name]
	if !ok {
		return nil, fmt.Errorf("%s is missing", name)
	}
	return content, nil
}

// under gives what stands behind a folder's name in the paths of its files.
func (all files) under(folder string) []string {
	var names []string
	for name := range all {
		if strings.HasPrefix(name, folder) {
			names = append(names, strings.TrimPrefix(name, folder))
		}
	}
	return names
}

// changed is the log with one byte of a file changed by one bit.
func (all files) changed(name string, at int) files {
	other := files{}
	for name, content := range all {
		other[name] = content
	}
	content := append([]byte(nil), all[name]...)
	content[at] ^= 1
	other[name] = content
	return other
}

// places are those to change in a file: the first and last bytes, and some between.
func places(size int) []int {
	chosen := []int{0, size - 1}
	for part := 1; part < 8; part++ {
		chosen = append(chosen, part*size/8)
	}
	return chosen
}

func run(folder string) error {
	all, err := read(folder)
	if err != nil {
		return err
	}
	tally, err := check(all)
	if err != nil {
		return err
	}
	changes := 0
	for name, content := range all {
		if len(content) == 0 {
			return fmt.Errorf("%s is empty: no byte of it can be changed", name)
		}
		for _, at := range places(len(content)) {
			if _, err := check(all.changed(name, at)); err == nil {
				return fmt.Errorf("byte %d of %s was changed and nothing noticed", at, name)
			}
			changes++
		}
	}
	fmt.Printf("%d files hold: %v; each of %d changed bytes was refused\n", len(all), tally, changes)
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: check FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
