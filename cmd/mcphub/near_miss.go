package main

import (
	"slices"
	"strings"
)

// Bounds of a search for near misses: names of servers and tools come from strangers.
const (
	maxNearWords = 2000
	maxNearRunes = 64
	maxNear      = 3
)

// didYouMean is the end of a message about a word that names nothing: " (did you mean A or B?)", "" when none of the
// words is near.
func didYouMean(word string, words []string) string {
	near := nearest(word, words)
	if len(near) == 0 {
		return ""
	}
	for i, n := range near {
		near[i] = shortName(n)
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// nearest gives the words that somebody may have meant, the nearest first: those at a small distance, and those that
// begin with what was written.
func nearest(word string, words []string) []string {
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
	for _, w := range words[:min(len(words), maxNearWords)] {
		if len(w) > 4*maxNearRunes {
			continue
		}
		other := []rune(strings.ToLower(w))
		switch d := distance(written, other, limit); {
		case d <= limit:
			found = append(found, candidate{w, d})
		case len(written) >= 3 && strings.HasPrefix(string(other), string(written)):
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

// distance is how many letters were left out, added, changed or swapped with their neighbour (optimal string
// alignment); more than limit may be told as any larger number.
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
