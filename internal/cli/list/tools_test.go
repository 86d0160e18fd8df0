package list

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/internal/cli/source"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestToolPage: the page has each argument with what the schema says of it, and a command line that a shell takes.
func TestToolPage(t *testing.T) {
	var source source.Flags
	c := new(cobra.Command)
	source.Register(c)
	if err := c.ParseFlags([]string{"--stdio", "it's x", "--env", "A=b"}); err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	writeTool(&page, &mcphubv1.Tool{Server: "s", Name: "plant", Description: "Plants.\n\x1b[31mRed",
		DefinitionJson: plantOfPage}, &source, "")
	for _, want := range []string{"plant (-)", `\x1b[31mRed`, "count  ", "integer, required, default 2",
		"\"oak\", \"elm\"",
		": Which tree", "place.x", `mcphub call --stdio 'it'\''s x' --env A plant -a count=2 -a kind=oak`} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q:\n%s", want, page.String())
		}
	}
	if strings.Contains(page.String(), "\x1b") {
		t.Errorf("the page recolours the terminal: %q", page.String())
	}
}

const plantOfPage = `{"name":"plant","inputSchema":{"type":"object","required":["kind","count"],"properties":{
	"kind":{"enum":["oak","elm"],"description":"Which\n tree"},
	"count":{"type":"integer","default":2},
	"depth":{"type":["number","null"]},
	"wet":{"type":"boolean"},
	"label":{"type":"string"},
	"tags":{"type":"array","items":{"type":"string"}},
	"sizes":{"type":"array","items":{"type":"integer"}},
	"any":{},
	"dotted.name":{"type":"string"},
	"place":{"$ref":"#/$defs/place"},
	"loop":{"$ref":"#/$defs/loop"},
	"either":{"anyOf":[{"type":"integer"},{"type":"string"}]}},
	"$defs":{"place":{"type":"object","properties":{"x":{"type":"number"},"in":{"type":"object"}}},
		"loop":{"$ref":"#/$defs/loop"}}}}`
