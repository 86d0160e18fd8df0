package toolset

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func textResult(s string) json.RawMessage {
	return json.RawMessage(`{"content":[{"type":"text","text":` + quoted(s) + `}]}`)
}

const png = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAUCAIAAAA="

func TestView(t *testing.T) {
	for _, test := range []struct {
		name, result string
		options      ViewOptions
		want         View
	}{
		{"text", `{"content":[{"type":"text","text":"a\nb\u00e9"}]}`, ViewOptions{}, View{Text: "a\nbé"}},
		{"several", `{"content":[{"type":"text","text":"a"},{"type":"text","text":""},{"type":"text","text":"c"}],"isError":true}`,
			ViewOptions{}, View{Text: "a\n\nc", IsError: true}},
		{"structured, said in text", `{"content":[{"type":"text","text":"{\"b\": [1.0, \"\\u00e9\"],\n \"a\":null}"}],"structuredContent":{"a":null,"b":[1,"é"]}}`,
			ViewOptions{}, View{Text: "{\"b\": [1.0, \"\\u00e9\"],\n \"a\":null}"}},
		{"structured, not said", `{"content":[{"type":"text","text":"done"}],"structuredContent":{"a":1}}`,
			ViewOptions{}, View{Text: "done\n{\"a\":1}"}},
		{"structured alone", `{"structuredContent":{"a":1}}`, ViewOptions{}, View{Text: `{"a":1}`}},
		{"a picture", `{"content":[{"type":"image","mimeType":"image/png","data":"` + png + `"}]}`,
			ViewOptions{}, View{Text: "[image: image/png, 10 x 20 pixels, 29 bytes]"}},
		{"a picture that is wanted", `{"content":[{"type":"image","data":"AAAA"}]}`, ViewOptions{Images: true},
			View{Text: "[image 1: 3 bytes]", Images: []json.RawMessage{json.RawMessage(`{"type":"image","data":"AAAA"}`)}}},
		{"sound", `{"content":[{"type":"audio","mimeType":"audio/\u202ewav","data":"AAA="}]}`, ViewOptions{},
			View{Text: `[audio: audio/\u202ewav, 2 bytes]`}},
		{"resources", `{"content":[{"type":"resource_link","uri":"file:///a","name":"a"},{"type":"resource","resource":{"uri":"x:y","text":"z"}},{"type":"resource","resource":{"uri":"x:y","blob":"AAAA"}}]}`,
			ViewOptions{}, View{Text: "[resource a: file:///a]\n[resource x:y]\nz\n[resource x:y: 3 bytes]"}},
		{"audience", `{"content":[{"type":"text","text":"u","annotations":{"audience":["user"]}},{"type":"text","text":"m","annotations":{"audience":["assistant"]}},{"type":"text","text":"e","annotations":{"audience":7}}]}`,
			ViewOptions{}, View{Text: "m\ne"}},
		{"for the user alone", `{"content":[{"type":"text","text":"u","annotations":{"audience":["user"]}}]}`,
			ViewOptions{}, View{}},
		{"nothing", `{"content":[]}`, ViewOptions{}, View{Text: "[the tool returned no content]"}},
		{"an unknown kind", `{"content":[{"type":"hologram","data":"AAAA"},{"type":"x","y":1},7]}`, ViewOptions{},
			View{Text: "[hologram: 3 bytes]\n{\"type\":\"x\",\"y\":1}\n7"}},
		{"no object", `oops` + "\xff", ViewOptions{}, View{Text: "oops\uFFFD"}},
		{"no array", `{"content":"hello"}`, ViewOptions{}, View{Text: `"hello"`}},
		{"half a pair", `{"content":[{"type":"text","text":"a\ud800b\ud83d\ude00"}]}`, ViewOptions{}, View{Text: "a\uFFFDb😀"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, NewView(json.RawMessage(test.result), test.options)); diff != "" {
				t.Error(diff)
			}
			// Within the bound nothing changes.
			test.options.MaxTokens = 1000
			if diff := cmp.Diff(test.want, NewView(json.RawMessage(test.result), test.options)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

var markPattern = regexp.MustCompile(`\n\[\.\.\. (\d+) bytes, (\d+) lines left out here[^\]]*\.\.\.\]\n`)

// checkCut looks at the view of a result whose whole text is known.
func checkCut(t *testing.T, whole string, v View, maxTokens int) {
	t.Helper()
	if got := Tokens(len(v.Result())); got > max(maxTokens, bounds.ViewTokens) {
		t.Errorf("%d tokens, at most %d", got, maxTokens)
	}
	if !utf8.ValidString(v.Text) || !json.Valid(v.Result()) {
		t.Errorf("%q", v.Text)
	}
	if !v.Cut {
		if v.Text != whole {
			t.Errorf("%q, want %q", v.Text, whole)
		}
		return
	}
	at := markPattern.FindStringSubmatchIndex(v.Text)
	if at == nil {
		t.Fatalf("nothing says that it is cut: %q", v.Text)
	}
	head, tail := v.Text[:at[0]], v.Text[at[1]:]
	if !strings.HasPrefix(whole, head) || !strings.HasSuffix(whole, tail) {
		t.Errorf("%q, %q", head, tail)
	}
	left := len(whole) - len(head) - len(tail)
	lines := strings.Count(whole, "\n") - strings.Count(head+tail, "\n")
	if v.Text[at[2]:at[3]] != strconv.Itoa(left) || v.Text[at[4]:at[5]] != strconv.Itoa(lines) || v.LeftBytes != left ||
		v.LeftLines != lines {
		t.Errorf("%s, want %d bytes, %d lines; %d, %d", v.Text[at[0]:at[1]], left, lines, v.LeftBytes, v.LeftLines)
	}
}

// Random results: what is left out is counted to the byte, and the rest are the two ends.
func TestViewIsCut_amount(t *testing.T) {
	alphabet := []string{"a", "word ", "\n", "é", "日", "😀", `"`, `\`, "\x01", "\t", "\n\n", strings.Repeat("x", 50), "/"}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 7))
		var wholes, blocks []string
		for range 1 + r.IntN(4) {
			var b strings.Builder
			for range r.IntN(400) {
				b.WriteString(alphabet[r.IntN(len(alphabet))])
			}
			wholes = append(wholes, b.String())
			text := quoted(b.String())
			if r.IntN(2) == 0 { // all of it escaped
				text = `"` + escapeAll(b.String()) + `"`
			}
			blocks = append(blocks, `{"type":"text","text":`+text+`}`)
		}
		whole := strings.Join(wholes, "\n")
		most := 128 + r.IntN(600)
		result := json.RawMessage(`{"content":[` + strings.Join(blocks, ",") + `]}`)
		v := NewView(result, ViewOptions{MaxTokens: most, More: "Read it in pieces."})
		checkCut(t, whole, v, most)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		if v.Cut && len(v.Text) < BytesFor(most)/7 {
			t.Fatalf("seed %d: %d bytes of %d", seed, len(v.Text), BytesFor(most))
		}
	}
}

func escapeAll(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r > 0xffff {
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04X`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func TestCutJSONSaysSo(t *testing.T) {
	list := "[" + strings.Repeat(`{"a":1},`, 1000) + `{}]`
	for name, result := range map[string]json.RawMessage{
		"structured": json.RawMessage(`{"content":[],"structuredContent":{"all":` + list + `}}`),
		"text":       textResult("\n " + list),
		"after text": json.RawMessage(`{"content":[{"type":"text","text":"all:"}],"structuredContent":{"all":` + list + `}}`),
	} {
		v := NewView(result, ViewOptions{MaxTokens: 500})
		if !v.Cut || !strings.Contains(v.Text, "the JSON is cut and not valid") {
			t.Errorf("%s: %s", name, v.Text)
		}
	}
	if v := NewView(textResult(strings.Repeat("prose ", 1000)), ViewOptions{MaxTokens: 500}); strings.Contains(v.Text, "JSON") {
		t.Error(v.Text)
	}
}

func TestWithin(t *testing.T) {
	result := textResult(strings.Repeat("x", 3200))
	if n := Tokens(len(result)); !Within(result, n) || Within(result, n-1) || !Within(result, 0) {
		t.Error(n)
	}
}

// Large results are looked at with little memory.
func TestViewOfLargeResults_amount(t *testing.T) {
	const size, whole = 4 << 20, 32 << 20 // of what is costly to read, and of what is not
	many := func(block string) string {
		return `{"content":[` + strings.Repeat(block+",", size/(len(block)+1)) + block + `]}`
	}
	list := `{"all":[` + strings.Repeat(`{"a":"b"},`, size/20) + `{}]}`
	for name, result := range map[string]string{
		"plain":       `{"content":[{"type":"text","text":"` + strings.Repeat("x", whole) + `"}]}`,
		"lines":       `{"content":[{"type":"text","text":"` + strings.Repeat(`some words in a line of it\n`, whole/28) + `"}]}`,
		"escapes":     `{"content":[{"type":"text","text":"` + strings.Repeat(`\u0001`, size/6) + `"}]}`,
		"backslashes": `{"content":[{"type":"text","text":"` + strings.Repeat(`\\`, size/2) + `"}]}`,
		"invalid":     `{"content":[{"type":"text","text":"` + strings.Repeat("\xff", size) + `"}]}`,
		"twice":       `{"content":[{"type":"text","text":` + quoted(list) + `}],"structuredContent":` + list + `}`,
		"blocks":      many(`{"type":"text","text":"a"}`),
		"nothings":    many(`{}`),
		"a picture":   `{"content":[{"type":"image","data":"` + strings.Repeat("AAAA", whole/4) + `"}]}`,
		"deep":        `{"content":[],"structuredContent":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`,
		"too deep":    `{"content":[` + strings.Repeat("[", size/2) + strings.Repeat("]", size/2) + `]}`,
		"garbage":     strings.Repeat("\x00{\"", size/3),
		"cut off":     `{"content":[{"type":"text","text":"` + strings.Repeat("x", size),
	} {
		t.Run(name, func(t *testing.T) {
			raw := json.RawMessage(result)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			v := NewView(raw, ViewOptions{MaxTokens: 10_000})
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d KiB allocated, %d bytes of text", allocated>>10, len(v.Text))
			if n := Tokens(len(v.Result())); n > 10_000 || !utf8.ValidString(v.Text) {
				t.Errorf("%d tokens", n)
			}
			if allocated > 32<<20 {
				t.Errorf("%d KiB were allocated, want at most 32 MiB", allocated>>10)
			}
			if name == "twice" && strings.Count(v.Text, `{"all":`) != 1 {
				t.Error("structuredContent is not shown exactly once")
			}
		})
	}
}

func FuzzView(f *testing.F) {
	for _, seed := range []string{
		`{"content":[{"type":"text","text":"a\n\ud83d\ude00"},{"type":"image","data":"iVBORw0KGgo="}],"structuredContent":{"a":1}}`,
		`{"content":[{"type":"resource","resource":{"uri":"a","blob":"b"}},{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1.0}}`,
		`{"content":[{"type":"text","text":"` + strings.Repeat(`\\x\"\u0000`, 200) + `","annotations":{"audience":["user"]}}]}`,
	} {
		f.Add(seed, 128)
		f.Add(seed+strings.Repeat(" ", 500), 0)
	}
	f.Fuzz(func(t *testing.T, result string, most int) {
		for _, o := range []ViewOptions{{MaxTokens: most}, {MaxTokens: most, More: result}} {
			v := NewView(json.RawMessage(result), o)
			if !utf8.ValidString(v.Text) || !json.Valid(v.Result()) {
				t.Errorf("%q of %q", v.Text, result)
			}
			if most > 0 && Tokens(len(v.Result())) > max(most, bounds.ViewTokens) {
				t.Errorf("%d tokens, %q of %q", Tokens(len(v.Result())), v.Text, result)
			}
			if !v.Cut && (v.LeftBytes > 0 || v.LeftLines > 0) {
				t.Error(v)
			}
		}
	})
}

func BenchmarkView(b *testing.B) {
	result := textResult(strings.Repeat("some words in a line of it\n", (32<<20)/28))
	b.SetBytes(int64(len(result)))
	for b.Loop() {
		NewView(result, ViewOptions{MaxTokens: 10_000})
	}
}
