package main

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// tiles are a tree's, of 256 hashes, where C2SP tlog-tiles puts them: Go's own paths name the
// height as well.
type tiles struct {
	*checker
	size int64
}

func (t *tiles) Height() int { return 8 }

func (t *tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var contents [][]byte
	for _, tile := range wanted {
		path := path(fmt.Sprint(tile.L), tile.N, tile.W)
		content, err := t.all.get(path)
		if err != nil {
			return nil, err
		}
		t.used[path] = true
		contents = append(contents, content)
	}
	return contents, nil
}

func (t *tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func path(row string, index int64, width int) string {
	groups := fmt.Sprintf("%03d", index%1000)
	for rest := index / 1000; rest > 0; rest /= 1000 {
		groups = fmt.Sprintf("x%03d/%s", rest%1000, groups)
	}
	if width < 256 {
		groups = fmt.Sprintf("%s.p/%d", groups, width)
	}
	return fmt.Sprintf("tile/%s/%s", row, groups)
}
