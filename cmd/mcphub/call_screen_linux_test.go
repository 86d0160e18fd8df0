package main

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// onScreen runs ask with a form on a terminal of 60 columns, and gives that terminal to press keys on; done waits for
// the end.
func onScreen(t *testing.T, ask func(f *form)) (term *terminal, done func()) {
	t.Helper()
	master, slave := openTerminalOf(t, 60)
	term = &terminal{t: t, master: master, read: make(chan struct{})}
	go func() {
		defer close(term.read)
		io.Copy(&term.said, master)
	}()
	env := environment{stdin: slave, stderr: slave}
	over := make(chan struct{})
	go func() {
		defer close(over)
		ask(&form{env: env, questions: &formScreen{env: env, in: slave, out: slave, theme: formTheme()}})
	}()
	t.Cleanup(func() {
		slave.Close()
		master.Close()
		<-term.read
	})
	return term, func() { <-over }
}

// press presses keys once the form shows each of these.
func (term *terminal) press(keys string, shown ...string) {
	term.t.Helper()
	term.expect(shown...)
	if _, err := io.WriteString(term.master, keys); err != nil {
		term.t.Fatal(err)
	}
}

// TestScreenCleansWhatAServerChose: nothing that a server says reaches the terminal as a sequence, however long it is,
// and all of it together is bounded.
func TestScreenCleansWhatAServerChose(t *testing.T) {
	const hostile = "\x1b]0;owned\x07\u202e\x9b2J"
	long := hostile + strings.Repeat("A", 100_000)
	values := make([]string, 0, 1000)
	for i := range 1000 {
		values = append(values, strconv.Quote("v"+strconv.Itoa(i)+strings.Repeat("B", 1000)))
	}
	arguments := []argument{
		{name: long, description: long, types: []string{"string"}},
		{name: long, description: long, types: []string{"integer"}, def: "7", required: true},
		{name: "e", description: long, enum: values, required: true},
	}
	term, done := onScreen(t, func(f *form) {
		got, err := f.choose("Tool", []string{long, "plain"}, []string{about(long, long), ""})
		if got != "plain" || err != nil {
			t.Errorf("%.50q, %v", got, err)
		}
		for _, a := range arguments {
			if _, err := f.value(&a, a.name); err != nil {
				t.Error(err)
			}
		}
	})
	term.press("\x1b[B\r", "plain")
	term.press("\r", "Tool: plain", "Enter leaves it")
	term.press("\r", "(left out)", "default 7")
	term.press("\r", ": 7", "the first 200 of 1000", "v0")
	done()
	text, _ := term.said.now()
	for _, sequence := range []string{"\x1b]0", "\x07", "\u202e", "\x9b", "\u009b"} {
		if strings.Contains(text, sequence) {
			t.Errorf("the terminal got %q", sequence)
		}
	}
	if len(text) > 50_000 {
		t.Errorf("the terminal got %d bytes", len(text))
	}
}

// TestScreenAsksByTheSchema: each kind of argument has its question, and what does not fit is not taken.
func TestScreenAsksByTheSchema(t *testing.T) {
	schema := readArguments(`{"type":"object","required":["a","b","kind","n","note","token"],"properties":{
		"a":{"type":"boolean"}, "b":{"type":"array","items":{"type":"integer"}}, "kind":{"enum":["success","error"]},
		"n":{"type":"integer"}, "note":{"type":"string"}, "token":{"type":"string","format":"password"},
		"left":{"type":"string"}, "off":{"enum":["x","y"]}}}`)
	term, done := onScreen(t, func(f *form) {
		pairs, err := f.arguments(&schema, "")
		want := []string{"a=false", "b=[1, 2]", "kind=error", "n=1", "note=one\ntwo", "token=s3cret"}
		if diff := cmp.Diff(want, pairs); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if shown := schema.withoutSecrets(pairs); shown[len(shown)-1] != "token=…" {
			t.Errorf("the line has %q", shown)
		}
	})
	term.press("\x1b[B\r", "true", "false")
	term.press("[1, 2\r", "a: false", "array of integer")
	term.press("]\r", "the schema wants")
	term.press("\x1b[B\r", "b: [1, 2]", "success", "error")
	term.press("1x\r", "kind: error", "n (integer)")
	term.press("\x7f\r", "the schema wants")
	term.press("one\ntwo\r", "n: 1", "note (string)")
	term.press("s3cret\r", "note: one two", "token (string)")
	term.press("\r", "token: (not shown)", "left (string, Enter leaves it out)")
	term.press("\r", "left: (left out)", "(left out)", "x", "y")
	done()
	if text, _ := term.said.now(); strings.Contains(text, "s3cret") {
		t.Errorf("the terminal got %q", text)
	}
}

// TestScreenNarrowsManyNames: of more names than can be shown a part is asked for first, and Esc leads back to that.
func TestScreenNarrowsManyNames(t *testing.T) {
	names := make([]string, 5000)
	for i := range names {
		names[i] = "tool" + strconv.Itoa(i)
	}
	term, done := onScreen(t, func(f *form) {
		if got, err := f.choose("Tool", names, nil); got != "tool1499" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
	term.press("4999x\r", "5000")
	term.press("\x7f\r", "there is no")
	term.press("\x1b", "tool4999")
	term.press("499\r", "5000")
	term.press("\x1b[B\r", "tool1499")
	done()
}

// TestStartRunsNoOtherProgram: the packages of the form would run tmux at each start within it, and look for programs
// of the clipboard; they see no PATH while they are initialised, and everybody after them does.
func TestStartRunsNoOtherProgram(t *testing.T) {
	t.Parallel()
	p := build(t)
	ran := filepath.Join(p.dir, "ran")
	if err := os.WriteFile(filepath.Join(p.dir, "tmux"), []byte("#!/bin/sh\n: > "+ran+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	term := p.onTerminal([]string{"TERM=screen-256color", "TMUX=/tmp/x,1,0", "GODEBUG=inittrace=1", "PATH=" + p.dir + ":/usr/bin"},
		"version")
	term.expect("init github.com/mcphub-go/mcphub/internal/bareinit ", "init github.com/atotto/clipboard ",
		"init charm.land/lipgloss/v2 ")
	if status := term.wait(); status != exitOK {
		t.Errorf("status %d\n%s", status, term.said.String())
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("tmux was run")
	}
	if os.Getenv("PATH") == "" {
		t.Error("PATH is gone")
	}
}
