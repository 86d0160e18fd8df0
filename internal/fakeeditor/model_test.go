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

func snapshot() *mcphubv1.AttachResponse { return showing(&mcphubv1.Snapshot{}) }

func showing(s *mcphubv1.Snapshot) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Snapshot{Snapshot: s}}
}

func started(id string) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_McpRequestStarted{
		McpRequestStarted: &mcphubv1.McpRequestStarted{Request: &mcphubv1.Request{RequestId: id}},
	}}
}

func finished(id string) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_McpRequestFinished{
		McpRequestFinished: &mcphubv1.McpRequestFinished{RequestId: id},
	}}
}

func opened(id string) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_PromptOpened{PromptOpened: &mcphubv1.PromptOpened{
		Prompt: &mcphubv1.Prompt{PromptId: id, Question: &mcphubv1.Prompt_Sampling{Sampling: &mcphubv1.Sampling{}}},
	}}}
}

func closed(id string) *mcphubv1.AttachResponse {
	return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_PromptClosed{
		PromptClosed: &mcphubv1.PromptClosed{PromptId: id},
	}}
}

// Each check finds the fault that it is for. If the model found no faults, every test that uses it would pass.
func TestModelFindsFaults(t *testing.T) {
	type stream []*mcphubv1.AttachResponse // nil: it breaks, and the window comes back
	ended := &mcphubv1.Snapshot{History: []*mcphubv1.EndedRequest{{End: &mcphubv1.EndedRequest_Finished{
		Finished: &mcphubv1.McpRequestFinished{RequestId: "r"},
	}}}}
	asks := &mcphubv1.Snapshot{Prompts: []*mcphubv1.Prompt{{PromptId: "p"}}}
	cases := map[string]struct {
		stream stream
		fault  string // part of the only fault, "" = none
	}{
		"good": {stream{welcome(), snapshot(), started("r"), opened("p"), closed("p"),
			finished("r"), started("r"), finished("r")}, ""},
		"good return": {stream{welcome(), snapshot(), started("r"), opened("p"), nil, welcome(), showing(ended)}, ""},
		"an end is lost": {stream{welcome(), snapshot(), started("r"), nil, welcome(), snapshot()},
			"nothing of request r"},
		"open once more": {stream{welcome(), snapshot(), opened("p"), closed("p"), nil, welcome(), showing(asks)},
			"open again"},
		"before welcome":   {stream{snapshot()}, "before welcome"},
		"before the start": {stream{welcome(), started("r")}, "before the start"},
		"second snapshot":  {stream{welcome(), snapshot(), snapshot()}, "not the start"},
		"two ends": {stream{welcome(), snapshot(), started("r"), finished("r"), finished("r")},
			"ended twice"},
		"end without a start": {stream{welcome(), snapshot(), finished("r")}, "never started"},
		"started twice":       {stream{welcome(), snapshot(), started("r"), started("r")}, "started twice"},
		"prompt opened twice": {stream{welcome(), snapshot(), opened("p"), opened("p")}, "opened twice"},
		"prompt opened again": {stream{welcome(), snapshot(), opened("p"), closed("p"), opened("p")},
			"opened twice"},
		"prompt closed twice": {stream{welcome(), snapshot(), opened("p"), closed("p"), closed("p")},
			"closed twice"},
		"prompt closed unopened": {stream{welcome(), snapshot(), closed("p")}, "never opened"},
		"progress of the unknown": {stream{welcome(), snapshot(),
			{Event: &mcphubv1.AttachResponse_McpRequestProgressed{}}}, "not open"},
	}
	for name, c := range cases {
		m := newModel(true)
		var faults []string
		for _, r := range c.stream {
			if r == nil {
				m.started, m.welcomed = false, false
				continue
			}
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
