package main

import "testing"

func TestWholeLinks(t *testing.T) {
	text := "[a](../../docs/a.md#b), [c](src/c.ts), [d](https://example.org/d), [e](#e)\n" +
		`<img srcset="docs/x.png" src="https://example.org/y.png">` + "\n"
	want := "[a](" + repository + "/blob/main/docs/a.md#b), [c](" + repository + "/blob/main/editors/host/src/c.ts), " +
		"[d](https://example.org/d), [e](#e)\n" +
		`<img srcset="` + repository + `/raw/main/editors/host/docs/x.png" src="https://example.org/y.png">` + "\n"
	if got := string(wholeLinks("editors/host", []byte(text))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
