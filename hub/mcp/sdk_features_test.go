package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// newSDKFeatures is a server of the official Go SDK with resources, templates, prompts, completion and subscriptions.
func newSDKFeatures() *sdkPeer {
	p := &sdkPeer{server: sdk.NewServer(&sdk.Implementation{Name: "sdk", Version: "1.8.0"}, &sdk.ServerOptions{
		PageSize: 2,
		CompletionHandler: func(_ context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			settled := ""
			if r.Params.Context != nil {
				settled = r.Params.Context.Arguments["lang"]
			}
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{
				Values: []string{r.Params.Ref.Type, r.Params.Argument.Name + "=" + r.Params.Argument.Value, settled},
			}}, nil
		},
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})}
	read := func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: "contents of " +
			r.Params.URI}}}, nil
	}
	for _, name := range []string{"a", "b", "c"} {
		p.server.AddResource(&sdk.Resource{URI: "file:///" + name, Name: name, Size: 7}, read)
	}
	p.server.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "db:///{row}", Name: "rows"}, read)
	p.addPrompt("greet")
	return p
}

func (p *sdkPeer) addPrompt(name string) {
	p.server.AddPrompt(&sdk.Prompt{Name: name, Arguments: []*sdk.PromptArgument{{Name: "who", Required: true}}},
		func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "Hello " +
				r.Params.Arguments["who"]}}}}, nil
		})
}

func TestGoSDKServerFeatures(t *testing.T) {
	for era, want := range map[string]Era{EraLegacy: Legacy, EraAuto: Modern} {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testGoSDKFeatures(t, era, want) })
		})
	}
}

func testGoSDKFeatures(t *testing.T, era string, want Era) {
	p := newSDKFeatures()
	h := &recorder{}
	s, err := Connect(background, Options{Server: "sdk", Open: p.open(t), Era: era, Client: testClient, Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(nil)
	info := s.Info()
	if s.Era() != want || !info.HasPrompts || !info.HasResources || !info.HasCompletions || !info.ResourcesSubscribe ||
		!info.PromptsListChanged || !info.ResourcesListChanged {
		t.Fatalf("era %v, info %+v", s.Era(), info)
	}

	resources, err := s.ListResources(background)
	uris, _ := names(resources, nil, func(r Resource) string { return r.URI })
	if err != nil || !slices.Equal(uris, []string{"file:///a", "file:///b", "file:///c"}) || resources[0].Size != 7 {
		t.Errorf("resources %v, %v", uris, err)
	}
	templates, err := s.ListResourceTemplates(background)
	if err != nil || len(templates) != 1 || templates[0].URITemplate != "db:///{row}" {
		t.Errorf("templates %+v, %v", templates, err)
	}
	for _, uri := range []string{"file:///b", "db:///7"} {
		if got, err := s.ReadResource(background, &CallRequest{Name: uri}); err != nil ||
			!strings.Contains(string(got.Raw), `"contents of `+uri+`"`) {
			t.Errorf("read %s: %+v, %v", uri, got, err)
		}
	}
	if _, err := s.ReadResource(background, &CallRequest{Name: "file:///none"}); rpcError(err) == nil {
		t.Errorf("a resource that does not exist: %v", err)
	}
	prompts, err := s.ListPrompts(background)
	if err != nil || len(prompts) != 1 || prompts[0].Name != "greet" || !prompts[0].Arguments[0].Required {
		t.Errorf("prompts %+v, %v", prompts, err)
	}
	got, err := s.GetPrompt(background, &CallRequest{Name: "greet", Arguments: json.RawMessage(`{"who":"Ada"}`)})
	if err != nil || !strings.Contains(string(got.Raw), "Hello Ada") {
		t.Errorf("prompt: %+v, %v", got, err)
	}
	completed, err := s.Complete(background, CompletionRequest{Prompt: "greet", Argument: "who", Value: "A",
		Context: map[string]string{"lang": "de"}})
	if err != nil || !strings.Contains(string(completed), `["ref/prompt","who=A","de"]`) {
		t.Errorf("completion: %s, %v", completed, err)
	}

	// Two subscriptions at once, then one is ended: the SDK has one registration for each session and kind, which must
	// survive each change of the stream.
	var work sync.WaitGroup
	for _, uri := range []string{"file:///a", "file:///b"} {
		work.Go(func() {
			if err := s.Subscribe(background, uri); err != nil {
				t.Errorf("Subscribe: %v", err)
			}
		})
	}
	work.Wait()
	if err := s.Unsubscribe(background, "file:///b"); err != nil {
		t.Error(err)
	}
	pass(time.Minute)
	synctest.Wait()
	h.heard()
	for _, uri := range []string{"file:///a", "file:///b"} {
		if err := p.server.ResourceUpdated(background, &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
			t.Error(err)
		}
	}
	synctest.Wait()
	if told := h.heard(); !slices.Equal(told, []string{"file:///a"}) {
		t.Errorf("updates: %v", told)
	}
	p.addPrompt("late")
	pass(time.Minute)
	synctest.Wait()
	if told := h.heard(); !slices.Equal(told, []string{"prompts"}) {
		t.Errorf("changes: %v", told)
	}
	if prompts, err := s.ListPrompts(background); err != nil || len(prompts) != 2 {
		t.Errorf("prompts %+v, %v", prompts, err)
	}
	p.server.RemoveResources("file:///c")
	pass(time.Minute)
	synctest.Wait()
	if told := h.heard(); !slices.Equal(told, []string{"resources"}) {
		t.Errorf("changes: %v", told)
	}
	if n := h.lateResponses(); n != 0 {
		t.Errorf("%d late responses were told", n)
	}
}
