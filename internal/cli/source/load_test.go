package source

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/internal/cli/console"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func TestProblemLine(t *testing.T) {
	got := ProblemLineOf(&mcphubv1.ConfigProblem{File: "mcp.json", Line: 3, Column: 7,
		Server: "a", Key: "args", Message: "is no array", Fatal: true})
	if want := `mcp.json:3:7: error: server "a": key "args": is no array`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// loads is a hub that takes every config.
type loads struct {
	mcphubv1.McpServerServiceClient
}

func (loads) ReloadConfig(context.Context, *mcphubv1.ReloadConfigRequest,
	...grpc.CallOption) (*mcphubv1.ReloadConfigResponse, error) {
	return &mcphubv1.ReloadConfigResponse{}, nil
}

// TestLoadNamesUnsetVariables: each variable that is not set is named once for a server, with the file, and no value of
// another one. What is no reference in its dialect, and what another server refers to, is not.
func TestLoadNamesUnsetVariables(t *testing.T) {
	t.Setenv("MCPHUB_TEST_SET", "the value")
	file := filepath.Join(t.TempDir(), ".mcp.json")
	if err := os.WriteFile(file, []byte(`{"mcpServers": {
		"a": {"command": "x", "args": ["${MCPHUB_TEST_NONE}", "${MCPHUB_TEST_SET}"], "env": {"A": "${MCPHUB_TEST_NONE}"}},
		"b": {"url": "https://example.com/${MCPHUB_TEST_OTHER}"}, "c": {"command": "$HOME"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for server, want := range map[string][]string{"": {"MCPHUB_TEST_NONE", "MCPHUB_TEST_OTHER"}, "a": {"MCPHUB_TEST_NONE"},
		"b": {"MCPHUB_TEST_OTHER"}, "c": nil} {
		var said bytes.Buffer
		whole, err := Load(t.Context(), console.Streams{Err: &said}, loads{},
			[]*mcphubv1.ConfigSource{{Path: file, Scope: "host"}}, server)
		if err != nil || !whole || strings.Contains(said.String(), "the value") {
			t.Errorf("%q: %v, %v\n%s", server, whole, err, said.String())
		}
		for _, name := range want {
			if !strings.Contains(said.String(), "\""+name+"\" is not set") {
				t.Errorf("%q: %s is not named:\n%s", server, name, said.String())
			}
		}
		if got := strings.Count(said.String(), "\n"); got != len(want) || got != strings.Count(said.String(), file) {
			t.Errorf("%q: want %d lines with the file:\n%s", server, len(want), said.String())
		}
	}
}
