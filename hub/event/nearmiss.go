package event

import (
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Bounds of a search for near misses. They are needed because servers choose names of servers and tools.
const (
	maxNearWords = 20_000
	maxNearWork  = 4 << 20 // comparisons of two letters
	maxNearRunes = 64
	maxNear      = 3
)

// Hint returns the end of an error about a name that does not exist: `; did you mean "a" or "b"?`, or "" if none is
// near.
func Hint(word string, words []string) string {
	near := NearMiss(word, words)
	if len(near) == 0 {
		return ""
	}
	for i, n := range near {
		near[i] = `"` + bounds.Printable(n) + `"`
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// NearMiss returns the words that may have been meant, the nearest first: those at a small distance, and those of which
// one is a prefix of the other.
func NearMiss(word string, words []string) []string {
	type candidate struct {
		word     string
		distance int
	}
	written := []rune(strings.ToLower(word))
	if len(written) == 0 || len(written) > maxNearRunes {
		return nil
	}
	limit := max(1, len(written)/3)
	var found []candidate
	work := maxNearWork
	for _, w := range words[:min(len(words), maxNearWords)] {
		if len(w) > 4*maxNearRunes {
			continue
		}
		other := []rune(strings.ToLower(w))
		if work -= len(written) * len(other); work < 0 {
			break
		}
		switch d := distance(written, other, limit); {
		case d <= limit:
			found = append(found, candidate{w, d})
		case len(written) >= 3 && strings.HasPrefix(string(other), string(written)),
			len(other) >= 4 && strings.HasPrefix(string(written), string(other)): // "elicitation" for elicit
			found = append(found, candidate{w, limit + 1})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var near []string
	for _, c := range found {
		if !slices.Contains(near, c.word) && len(near) < maxNear {
			near = append(near, c.word)
		}
	}
	return near
}

// distance returns how many letters were left out, added, changed or swapped with their neighbour (optimal string
// alignment). For a distance above limit it may return any larger number.
func distance(a, b []rune, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
