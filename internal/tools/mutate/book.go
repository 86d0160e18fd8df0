package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What became of a mutant.
const (
	verdictFound    = "found"
	verdictSurvived = "survived"
	verdictNoCode   = "does not compile"
	verdictGone     = "gone" // it is listed, and not in the code
)

// A result is what is known of a mutant: one line of a file of results. A later line of the same mutant replaces it.
type result struct {
	mutant
	Verdict string   `json:"verdict"`
	Lane    string   `json:"lane,omitempty"` // that found it
	Package string   `json:"package,omitempty"`
	Test    string   `json:"test,omitempty"`
	How     string   `json:"how,omitempty"`
	Asked   []string `json:"asked,omitempty"` // the lanes
	Seconds float64  `json:"seconds,omitempty"`
}

func (r result) String() string {
	s := fmt.Sprintf("%-8s %-3s %6.1f s  %s", r.Verdict, r.Lane, r.Seconds, r.mutant)
	if r.Verdict == verdictFound {
		s += fmt.Sprintf("  [%s %s %s]", r.Package, r.Test, r.How)
	}
	return s
}

// A book is the file of results of a run.
type book struct {
	file    *os.File
	results []result
}

// readResults reads a file of results, each mutant once, in the order of their first lines.
func readResults(name string) ([]result, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all []result
	place := map[string]int{}
	for line := range bytes.Lines(text) {
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if i, ok := place[r.ID]; ok {
			all[i] = r
			continue
		}
		place[r.ID] = len(all)
		all = append(all, r)
	}
	return all, nil
}

func openBook(name string) (*book, error) {
	known, err := readResults(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	return &book{file, known}, err
}

func (b *book) index(id string) int {
	return slices.IndexFunc(b.results, func(r result) bool { return r.ID == id })
}

// result returns what is known of a mutant; without a verdict if that is nothing.
func (b *book) result(id string) result {
	if i := b.index(id); i >= 0 {
		return b.results[i]
	}
	return result{}
}

// write keeps r, in the file too, and prints it.
func (b *book) write(r result) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if i := b.index(r.ID); i >= 0 {
		b.results[i] = r
	} else {
		b.results = append(b.results, r)
	}
	if r.Verdict != verdictNoCode {
		fmt.Println(r)
	}
	_, err = b.file.Write(append(line, '\n'))
	return err
}

// summarize writes the figures, and the mutants that no lane found.
func (b *book) summarize(w io.Writer) {
	count, seconds := map[string]int{}, 0.0
	var survived []result
	for _, r := range b.results {
		count[r.Verdict+r.Lane]++
		seconds += r.Seconds
		if r.Verdict == verdictSurvived {
			survived = append(survived, r)
		}
	}
	own, other := count[verdictFound+laneOwn], count[verdictFound+laneB]
	fmt.Fprintf(w, "\n%d changes: found by own %d, B %d, by none of the lanes asked %d; gone %d; %d more do not compile; "+
		"%.0f s\n", own+other+len(survived), own, other, len(survived), count[verdictGone], count[verdictNoCode], seconds)
	slices.SortFunc(survived, func(a, b result) int { return strings.Compare(a.File, b.File) })
	for _, r := range survived {
		fmt.Fprintf(w, "%s  asked %v\n", r, r.Asked)
	}
}
