package fakeeditor

import (
	"strings"
	"testing"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func welcome() *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Welcome{Welcome: &mcphubv1.Welcome{HubId: "h",
		WindowId: "w"}}}
}

func snapshot(sequence uint64) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Sequence: sequence,
		Event: &mcphubv1.AttachResponse_Snapshot{Snapshot: &mcphubv1.Snapshot{}}}
}

func started(sequence uint64, id string) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Sequence: sequence, Event: &mcphubv1.AttachResponse_McpRequestStarted{
		McpRequestStarted: &mcphubv1.McpRequestStarted{Request: &mcphubv1.Request{RequestId: id}},
	}}
}

func finished(sequence uint64, id string) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Sequence: sequence, Event: &mcphubv1.AttachResponse_McpRequestFinished{
		McpRequestFinished: &mcphubv1.McpRequestFinished{RequestId: id},
	}}
}

func opened(sequence uint64, id string) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Sequence: sequence,
		Event: &mcphubv1.AttachResponse_PromptOpened{PromptOpened: &mcphubv1.PromptOpened{
			Prompt: &mcphubv1.Prompt{PromptId: id, Question: &mcphubv1.Prompt_Sampling{Sampling: &mcphubv1.Sampling{}}},
		}}}
}

func closed(sequence uint64, id string) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Sequence: sequence,
		Event: &mcphubv1.AttachResponse_PromptClosed{PromptClosed: &mcphubv1.PromptClosed{PromptId: id}}}
}

// Each check finds the fault that it is for. If the model found no faults, every test that uses it would pass.
func TestModelFindsFaults(t *testing.T) {
	type stream []*mcphubv1.AttachResponse
	cases := map[string]struct {
		stream stream
		fault  string // part of the only fault, "" = none
	}{
		"good": {stream{welcome(), snapshot(3), started(4, "r"), opened(9, "p"), closed(10, "p"),
			finished(11, "r"), started(12, "r"), finished(13, "r")}, ""},
		"before welcome":   {stream{snapshot(3)}, "before welcome"},
		"before the start": {stream{welcome(), started(4, "r")}, "before the start"},
		"second snapshot":  {stream{welcome(), snapshot(3), snapshot(4)}, "not the start"},
		"same number":      {stream{welcome(), snapshot(3), started(3, "r")}, "number 3 after 3"},
		"falling number":   {stream{welcome(), snapshot(3), started(5, "r"), finished(4, "r")}, "number 4 after 5"},
		"two ends": {stream{welcome(), snapshot(3), started(4, "r"), finished(5, "r"), finished(6, "r")},
			"ended twice"},
		"end without a start": {stream{welcome(), snapshot(3), finished(5, "r")}, "never started"},
		"started twice":       {stream{welcome(), snapshot(3), started(4, "r"), started(5, "r")}, "started twice"},
		"prompt opened twice": {stream{welcome(), snapshot(3), opened(4, "p"), opened(5, "p")}, "opened twice"},
		"prompt opened again": {stream{welcome(), snapshot(3), opened(4, "p"), closed(5, "p"), opened(6, "p")},
			"opened twice"},
		"prompt closed twice": {stream{welcome(), snapshot(3), opened(4, "p"), closed(5, "p"), closed(6, "p")},
			"closed twice"},
		"prompt closed unopened": {stream{welcome(), snapshot(3), closed(5, "p")}, "never opened"},
		"numbered message": {stream{welcome(), snapshot(3), {Sequence: 4, Event: &mcphubv1.AttachResponse_Dropped{}}},
			"is no event"},
		"progress of the unknown": {stream{welcome(), snapshot(3),
			{Sequence: 4, Event: &mcphubv1.AttachResponse_McpRequestProgressed{}}}, "not open"},
	}
	for name, c := range cases {
		m := newModel(true)
		var faults []string
		for _, r := range c.stream {
			faults = append(faults, m.apply(r)...)
		}
		switch {
		case c.fault == "" && len(faults) > 0:
			t.Errorf("%s: found %q", name, faults)
		case c.fault != "" && (len(faults) != 1 || !strings.Contains(faults[0], c.fault)):
			t.Errorf("%s: found %q, want %q", name, faults, c.fault)
		}
	}
}
