package list_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func TestResourcesTable(t *testing.T) {
	p := clitest.InBubbles(t)
	p.Fake = clitest.LibraryServer
	r := p.Run("resources", "--stdio", "fake")
	want := `URI             NAME  TYPE        ABOUT
file:///a       a     text/plain  First: Of all.
wait:forever    w     -           -
file:///{path}  any   -           -
`
	if r.Status != 0 || r.Stdout != want {
		t.Errorf("status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
	r = p.Run("resources", "--json", "--stdio", "fake")
	lines := strings.Split(strings.TrimSuffix(r.Stdout, "\n"), "\n")
	var resources mcphubv1.ListResourcesResponse
	var templates mcphubv1.ListResourceTemplatesResponse
	if len(lines) != 2 || protojson.Unmarshal([]byte(lines[0]), &resources) != nil ||
		protojson.Unmarshal([]byte(lines[1]), &templates) != nil ||
		len(resources.GetResources()) != 2 || len(templates.GetResourceTemplates()) != 1 {
		t.Errorf("--json: status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
	file := p.Config("mcp.json", `{"mcpServers":{"lib":{"command":"fake"},"other":{"command":"no-such-server-anywhere"}}}`)
	if r := p.Run("resources", "lib", "--config", file); r.Status != 0 || r.Stdout != want {
		t.Errorf("of a config: status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
	if r := p.Run("resources", "other", "--config", file); r.Status != 6 ||
		!strings.Contains(r.Stderr, "mcphub resources: ") {
		t.Errorf("of a server in trouble: status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
}

func TestPromptsTable(t *testing.T) {
	p := clitest.InBubbles(t)
	p.Fake = clitest.LibraryServer
	r := p.Run("prompts", "--stdio", "fake")
	if want := "PROMPT  ARGUMENTS  ABOUT\ngreet   who [how]  Greets.\n"; r.Status != 0 || r.Stdout != want {
		t.Errorf("status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
	r = p.Run("prompts", "--json", "--stdio", "fake")
	var list mcphubv1.ListMcpPromptsResponse
	if err := protojson.Unmarshal([]byte(r.Stdout), &list); r.Status != 0 || err != nil || len(list.GetPrompts()) != 1 {
		t.Errorf("--json: status %d, %v\n%s", r.Status, err, r.Stdout)
	}
}
