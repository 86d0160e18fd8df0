//go:build unix

package e2e

import (
	"encoding/json"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// variable asks a teller for a variable of its environment.
func (d *door) variable(server, name string) *call {
	d.t.Helper()
	return d.call(server, "environment", `{"name":"`+name+`"}`)
}

// fill answers the open prompt for an input.
func fill(t *testing.T, w *fakeeditor.Window, id, value string) *mcphubv1.Prompt {
	t.Helper()
	p := w.WaitPrompt(inputPrompt)
	if p.GetConfigInput().GetInputId() != id {
		t.Fatalf("the question is for %v, want %s", p.GetConfigInput(), id)
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	takes(t, w.Accept(p.GetPromptId(), string(text)))
	return p
}
