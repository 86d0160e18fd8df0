package redact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// What is replaced, and what is left.
func TestRedactor(t *testing.T) {
	r := &Redactor{}
	if got := r.Text("tok-1234"); got != "tok-1234" {
		t.Errorf("without secrets %q", got)
	}
	r.Add("tok-1234", "1234-end", "abcd", "abcdefgh", "on", "", "two words&more", `quo"ted`,
		"line one is long enough\n-----END-----\nline two is long enough", "tok-1234",
		`all"of&it/ü`, "tab\tbed", "it's (so)", "dots..inside", "wert…x")
	for in, want := range map[string]string{
		"":                            "",
		"nothing on 123":              "nothing on 123",
		"a tok-1234 b":                "a [redacted] b",
		"tok-1234":                    "[redacted]",
		"tok-1234-end":                "[redacted]", // two that overlap: no rest of either
		"tok-1234tok-1234":            "[redacted]",
		"tok-1234 tok-1234":           "[redacted] [redacted]",
		"abcdefgh abcdefg":            "[redacted] [redacted]efg", // the longest that is there
		"xabc":                        "xabc",
		"q=two+words%26more":          "q=[redacted]",
		"q=two%20words&more":          "q=[redacted]",
		`{"a":"quo\"ted"}`:            `{"a":"[redacted]"}`,
		"x line two is long enough y": "x [redacted] y",
		"-----END-----":               "-----END-----",
		// As other languages write it.
		`{"a":"all\"of&it/ü"}`:       `{"a":"[redacted]"}`,
		`{"a":"all\"of\u0026it/ü"}`:  `{"a":"[redacted]"}`,
		`{"a":"all\"of&it\/\u00fc"}`: `{"a":"[redacted]"}`,
		`{"a":"all\"of&it/\u00fc"}`:  `{"a":"[redacted]"}`,
		`?a=all%22of%26it%2F%C3%BC`:  `?a=[redacted]`,
		`?a=it's%20(so)&b`:           `?a=[redacted]&b`,
		`a tab\tbed, a tab\u0009bed`: `a [redacted], a [redacted]`,
		// Cut before the redactor saw it.
		"key tok-12…":                   "key [redacted]…",
		"key tok-12... and more":        "key [redacted]... and more",
		"key tok-… and tok…":            "key [redacted]… and tok…",
		"key tok-12 … tok-12.. tok-12":  "key tok-12 … tok-12.. tok-12",
		"dots... dots.... dots..... in": "[redacted]... [redacted]... [redacted]... in",
		"abcdefg... abcd... abcde":      "[redacted]... [redacted]... [redacted]e",
		"tok-1234… tok-123tok-1234…":    "[redacted]… tok-123[redacted]…",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// Random texts of random secrets: none of them is left anywhere.
func TestRedactorLeavesNone(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		word := func(n int) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = "abc"[rnd.IntN(3)] // so that they overlap
			}
			return string(b)
		}
		r := &Redactor{}
		var secrets []string
		for range 5 {
			secrets = append(secrets, word(4+rnd.IntN(5)))
		}
		r.Add(secrets...)
		text := word(200)
		got := r.Text(text)
		for _, s := range secrets {
			if strings.Contains(got, s) {
				t.Fatalf("seed %d: %q is left of %q in %q", seed, s, text, got)
			}
		}
		if rest := strings.ReplaceAll(got, redactedText, ""); len(rest) > len(text) {
			t.Fatalf("seed %d: the redactor added text: %q became %q", seed, text, got)
		}
	}
}

// The number of secrets is bounded, and adding and reading go on at once.
func TestRedactorIsBounded(t *testing.T) {
	r := &Redactor{}
	var many []string
	for i := range maxSecrets + 10 {
		many = append(many, fmt.Sprintf("secret%06d", i))
	}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			r.Add(many[i*maxSecrets/4 : (i+1)*maxSecrets/4]...)
			_ = r.Text("a secret000001 b")
		})
	}
	all.Wait()
	r.Add(many...)
	if n := len(r.known); n != maxSecrets {
		t.Errorf("%d are known", n)
	}
	if got := r.Text("a secret000001 b"); got != "a [redacted] b" {
		t.Errorf("%q", got)
	}
}

type described struct{ Token string }

// Whatever is logged, and however it is bound, comes out without the secret.
func TestRedactingLog(t *testing.T) {
	var out bytes.Buffer
	r := &Redactor{}
	r.Add("tok-1234")
	log := slog.New(NewLog(slog.NewJSONHandler(&out, nil), r))
	log.With("a", "tok-1234").WithGroup("g").InfoContext(context.Background(), "with tok-1234", "b", "x tok-1234",
		"err", errors.New("no tok-1234"),
		slog.Group("h", "c", "tok-1234"), "d", described{"tok-1234"}, "n", 7, "list", []string{"plain"})
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	g, _ := line["g"].(map[string]any)
	if text := out.String(); strings.Contains(text, "1234") || strings.Count(text, redactedText) != 6 || g["n"] != 7.0 ||
		fmt.Sprint(g["list"]) != "[plain]" {
		t.Errorf("%s", text)
	}
}

// The trace bundle keeps its shape: numbers and names stay, texts lose their secrets.
func TestRedactedTree(t *testing.T) {
	r := &Redactor{}
	r.Add("tok-1234", "8080")
	text, err := json.Marshal(r.Members(map[string]any{"8080": 8080, "list": []string{"a tok-1234", "b"},
		"s": struct{ X string }{"8080"}, "big": json.Number("12345678901234567890")}))
	if want := `{"8080":8080,"big":12345678901234567890,"list":["a [redacted]","b"],"s":{"X":"[redacted]"}}`; err != nil ||
		string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}

// BenchmarkRedactLine measures a stderr line of 200 bytes, with no secret known, with 1,000 known, and with one of them
// in it.
func BenchmarkRedactLine(b *testing.B) {
	line := strings.Repeat("2026-11-21 info request served in 12 ms; ", 5)
	r := &Redactor{}
	many := &Redactor{}
	rnd := rand.New(rand.NewPCG(1, 1))
	var secrets []string
	for range 1000 {
		secrets = append(secrets, fmt.Sprintf("%016x%016x", rnd.Uint64(), rnd.Uint64()))
	}
	many.Add(secrets...)
	for _, c := range []struct {
		name string
		r    *Redactor
		line string
	}{{"none", r, line}, {"1000", many, line}, {"1000-found", many, line + secrets[500]}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = c.r.Text(c.line)
			}
		})
	}
}
