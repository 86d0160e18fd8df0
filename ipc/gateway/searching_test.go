package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/toolset"
)

func manyToolInfos(n, bytes int) (all []event.ToolInfo) {
	for i := range n {
		name := fmt.Sprint("tool_", i)
		all = append(all, event.ToolInfo{Server: fmt.Sprint("server-", i%30), Name: name, Policy: event.PolicyAsk,
			Definition: fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"},"description":%q}`, name,
				strings.Repeat("x", bytes))})
	}
	return all
}

// TestAutoSearches: from 100 tools or 10,000 tokens on, three tools are listed instead of all.
func TestAutoSearches(t *testing.T) {
	for _, tt := range []struct {
		mode     string
		n, bytes int
		searched bool
	}{
		{ToolsAuto, 99, 10, false}, {ToolsAuto, 100, 10, true}, {ToolsAuto, 10, 2900, false}, {ToolsAuto, 10, 3300, true},
		{ToolsAll, 200, 3300, false}, {ToolsSearch, 1, 1, true}, {ToolsSearch, 0, 0, true},
	} {
		s := newShelf(nil, &Options{Tools: tt.mode}, nil, nil)
		l := s.toolsOf(manyToolInfos(tt.n, tt.bytes))
		if len(l.names) != tt.n || l.own[searchTools] != tt.searched || !json.Valid(l.result("tools")) {
			t.Errorf("%s of %d tools with %d bytes: %d names, searched %v", tt.mode, tt.n, tt.bytes, len(l.names),
				l.own[searchTools])
		}
		var listed struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(l.result("tools"), &listed); err != nil || tt.searched != (len(listed.Tools) == 3) {
			t.Errorf("%s of %d tools lists %d, %v", tt.mode, tt.n, len(listed.Tools), err)
		}
	}
}

// TestSearchIsSmall: 150 tools of 150,000 tokens become at most 5,000, whatever the servers are called.
func TestSearchIsSmall(t *testing.T) {
	all := manyToolInfos(150, 3200)
	for i := range all {
		all[i].Server = strings.Repeat("\u202e\"", 300) + fmt.Sprint(i)
	}
	whole := newShelf(nil, &Options{Tools: ToolsAll}, nil, nil).toolsOf(all)
	small := newShelf(nil, &Options{Tools: ToolsSearch}, nil, nil).toolsOf(all)
	before, after := toolset.Tokens(len(whole.entries)), toolset.Tokens(len(small.entries))
	if before < 150_000 || after > 5000 {
		t.Errorf("%d tokens became %d", before, after)
	}
}

// FuzzFound: what a search says of a tool is bounded and valid JSON, whatever the tool's definition is.
func FuzzFound(f *testing.F) {
	f.Add(`{"inputSchema":{"properties":{"a":{"type":"string"},"b":{}},"required":["a"]}}`, "name", "text")
	f.Add(`{"inputSchema":[]}`, "", "\x00\u202e")
	f.Fuzz(func(t *testing.T, definition, name, description string) {
		var b strings.Builder
		found := toolset.Found{ToolInfo: event.ToolInfo{Name: name, Description: description, Definition: definition}}
		describeFound(&b, "s__t", &found)
		if b.Len() > foundDescription+foundArguments+200 || !json.Valid(said(b.String())) {
			t.Errorf("%d bytes: %q", b.Len(), b.String())
		}
		if whole := json.RawMessage(definition); json.Valid(whole) && !json.Valid(without(whole, named("inputSchema"))) {
			t.Errorf("%s without inputSchema is %s", whole, without(whole, named("inputSchema")))
		}
	})
}
