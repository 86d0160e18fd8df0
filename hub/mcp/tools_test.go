package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func TestPagination(t *testing.T) {
	for _, option := range []fakeserver.Option{fakeserver.WithRevision(Revision20251125), fakeserver.WithModern()} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New(option, fakeserver.WithPageSize(2))
			for i := range 5 {
				f.Tool(fmt.Sprintf("t%d", i), nil)
			}
			s := connect(t, f, &recorder{})
			tools, err := s.ListTools(background)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range tools {
				names = append(names, tool.Name)
			}
			if diff := cmp.Diff([]string{"t0", "t1", "t2", "t3", "t4"}, names); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			if n := len(lines(f, protocol.MethodListTools)); n != 3 {
				t.Errorf("%d pages were asked for, want 3", n)
			}
		})
	}
}

func TestRepeatedCursor(t *testing.T) {
	for name, c := range map[string]struct {
		pages func(asked int) string
		want  string
		asked int
	}{
		"repeated": {func(int) string { return `{"tools":[],"nextCursor":"same"}` }, "repeats a cursor", 2},
		"endless": {func(n int) string {
			return fmt.Sprintf(`{"tools":[],"nextCursor":"%d"}`, n)
		}, "more than 1000 pages", 1000},
		"no text": {func(int) string { return `{"tools":[],"nextCursor":7}` }, "no string", 1},
		"no list": {func(int) string { return `{"tools":{}}` }, "malformed", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakeserver.New()
				asked := 0
				f.Handle(protocol.MethodListTools, func(call *fakeserver.CallContext) {
					asked++
					call.Result(c.pages(asked))
				})
				s := connect(t, f, &recorder{})
				_, err := s.ListTools(background)
				var wrong *ProtocolError
				if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) || asked != c.asked {
					t.Errorf("got %v after %d pages, want %q after %d", err, asked, c.want, c.asked)
				}
			})
		})
	}
}

// TestEmptyCursor: "" is a cursor, null is none.
func TestEmptyCursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		f.Handle(protocol.MethodListTools, func(c *fakeserver.CallContext) {
			if c.Param("cursor") == nil {
				c.Result(`{"tools":[{"name":"a"},{"no":"name"},7],"nextCursor":""}`)
				return
			}
			c.Result(`{"tools":[{"name":"b"}],"nextCursor":null}`)
		})
		s := connect(t, f, &recorder{})
		tools, err := s.ListTools(background)
		if err != nil || len(tools) != 2 || tools[1].Name != "b" {
			t.Errorf("got %+v, %v", tools, err)
		}
	})
}

func TestToolDefinition(t *testing.T) {
	read := func(raw string) Tool {
		t.Helper()
		tool, err := ReadTool(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		return tool
	}
	const raw = `{"name":"rm","description":"d","inputSchema":{"type":"object","properties":{"a":{"maximum":1.0}}},"annotations":{"title":"Remove","destructiveHint":false,"readOnlyHint":true},"icons":[]}`
	a := read(raw)
	if a.Title != "Remove" || !a.ReadOnly || a.Destructive || a.Idempotent || !a.OpenWorld || string(a.Raw) != raw ||
		len(a.Hash) != 64 {
		t.Errorf("read %+v", a)
	}
	if b := read(`{"name":"x"}`); b.ReadOnly || !b.Destructive || b.Idempotent || !b.OpenWorld {
		t.Errorf("defaults %+v", b)
	}
	same := `{ "annotations":{"readOnlyHint":true,"destructiveHint":false,"title":"\u0052emove"}, "inputSchema":{"properties":{"a":{"maximum":1.0}},"type":"object"},"description":"d","name":"rm"}`
	if read(same).Hash != a.Hash {
		t.Error("another spelling of the same definition has another hash")
	}
	for _, change := range [][2]string{{`"d"`, `"e"`}, {`1.0`, `2`}, {`"rm"`, `"rn"`}, {`Hint":true`, `Hint":false`},
		{`"inputSchema"`, `"outputSchema"`}} {
		if read(strings.Replace(raw, change[0], change[1], 1)).Hash == a.Hash {
			t.Errorf("%v does not change the hash", change)
		}
	}
}

// TestLongNamesAreNoNames (finding G11): what nobody can call, since the contract takes no name of more than 1 KiB, is
// not listed either.
func TestLongNamesAreNoNames(t *testing.T) {
	for n, good := range map[int]bool{1 << 10: true, 1<<10 + 1: false, 100_000: false} {
		raw := json.RawMessage(`{"name":"` + strings.Repeat("n", n) + `"}`)
		_, tool := ReadTool(raw)
		_, prompt := PromptOf(raw)
		if (tool == nil) != good || (prompt == nil) != good {
			t.Errorf("a name of %d bytes: %v, %v", n, tool, prompt)
		}
	}
}

// The hash covers what a user was shown: with any other text, hint, schema or title it differs. It does not depend on
// the spelling of the JSON, nor on icons, execution and _meta (docs/security.md says why).
func TestDefinitionHashIgnoresSpelling(t *testing.T) {
	hash := func(raw string) string {
		t.Helper()
		tool, err := ReadTool(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		return tool.Hash
	}
	const raw = `{"name":"rm","title":"Remove","description":"d","inputSchema":{"type":"object","required":["a","b"],"properties":{"a":{},"b":{}}},` +
		`"outputSchema":{"type":"object"},"annotations":{"title":"T","readOnlyHint":true},"icons":[],"_meta":{"n":1}}`
	for _, same := range []string{
		"\n{ \"annotations\" : {\"readOnlyHint\":true,\"title\":\"\\u0054\"},\t\"outputSchema\":{\"type\":\"object\"},\"icons\":[{}],\"_meta\":{\"n\":2},\"execution\":{\"taskSupport\":\"required\"}," +
			"\"inputSchema\":{\"properties\":{\"b\":{},\"a\":{}},\"required\":[\"a\",\"b\"],\"type\":\"object\"},\"description\":\"\\u0064\",\"title\":\"Remove\",\"name\":\"rm\"}",
		strings.NewReplacer(",", " , ", ":", " : ").Replace(raw),
	} {
		if hash(same) != hash(raw) {
			t.Errorf("another spelling has another hash: %s", same)
		}
	}
	for _, change := range [][2]string{
		{`"rm"`, `"rn"`}, {`"Remove"`, `"Read"`}, {`"title":"Remove",`, ``}, {`"d"`, `"D"`}, {`"a","b"`, `"b","a"`},
		{`"a":{}`, `"c":{}`},
		{`"outputSchema":{"type":"object"},`, ``}, {`"T"`, `"U"`}, {`true`, `false`},
		{`"readOnlyHint":true`, `"readOnlyHint":true,"x":null`},
	} {
		if hash(strings.Replace(raw, change[0], change[1], 1)) == hash(raw) {
			t.Errorf("%v does not change the hash", change)
		}
	}
}
