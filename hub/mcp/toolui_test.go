package mcp

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Both spellings of a view's address are read, the nested one first; an address without ui:// or too long is ignored.
// visibility says who may call a tool, in the words of MCP Apps; a list without a known word allows nobody.
func TestToolUI(t *testing.T) {
	long := "ui://" + strings.Repeat("x", 2<<10)
	for meta, want := range map[string]ToolUI{
		`{"ui":{"resourceUri":"ui://a"},"ui/resourceUri":"ui://b"}`: {Resource: "ui://a"},
		`{"ui/resourceUri":"ui://b"}`:                               {Resource: "ui://b"},
		`{"ui":{"resourceUri":7},"ui/resourceUri":"ui://b"}`:        {Resource: "ui://b"},
		`{"ui":{"resourceUri":"https://a.example/"}}`:               {},
		`{"ui":{"resourceUri":"` + long + `"}}`:                     {},
		`{"ui":[]}`:                                                 {},
		`7`:                                                         {},
		`{"ui":{"visibility":["app"]}}`:                             {HiddenFromModels: true},
		`{"ui":{"visibility":["model"]}}`:                           {HiddenFromApps: true},
		`{"ui":{"visibility":["app","model",7]}}`:                   {},
		`{"ui":{"visibility":["nobody"]}}`:                          {HiddenFromModels: true, HiddenFromApps: true},
		`{"ui":{"visibility":[]}}`:                                  {HiddenFromModels: true, HiddenFromApps: true},
		`{"ui":{"visibility":"app"}}`:                               {},
	} {
		tool, err := ReadTool([]byte(`{"name":"t","inputSchema":{},"_meta":` + meta + `}`))
		if err != nil {
			t.Errorf("%.80s: %v", meta, err)
		}
		if diff := cmp.Diff(want, tool.UI); diff != "" {
			t.Errorf("%.80s (-want +got):\n%s", meta, diff)
		}
	}
}
