package source

import (
	"testing"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func TestProblemLine(t *testing.T) {
	got := ProblemLineOf(&mcphubv1.ConfigProblem{File: "mcp.json", Line: 3, Column: 7,
		Server: "a", Key: "args", Message: "is no array", Fatal: true})
	if want := `mcp.json:3:7: error: server "a": key "args": is no array`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
