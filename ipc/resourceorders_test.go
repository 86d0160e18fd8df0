package ipc

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// browsed returns a server with resources, templates and prompts. It completes the value "now" at once; of any other it
// reports to heard that it was asked, and then the reason of the cancel, for which it waits.
func browsed(heard chan<- string) *fakeserver.Server {
	s := fakeserver.New(fakeserver.WithCapabilities(
		`{"resources":{"subscribe":true,"listChanged":true},"prompts":{},"completions":{}}`))
	s.Handle("resources/list", func(c *fakeserver.CallContext) {
		var list []string
		for i := range 3000 {
			list = append(list, fmt.Sprintf(`{"uri":"file:///%d","name":"n%d"}`, i, i))
		}
		c.Result(`{"resources":[` + strings.Join(list, ",") + `]}`)
	})
	s.Handle("resources/templates/list", func(c *fakeserver.CallContext) {
		c.Result(`{"resourceTemplates":[{"uriTemplate":"file:///{x}","name":"x"}]}`)
	})
	s.Handle("prompts/list", func(c *fakeserver.CallContext) { c.Result(`{"prompts":[{"name":"greet"}]}`) })
	s.Handle("prompts/get", func(c *fakeserver.CallContext) { c.Result(`{"messages":[]}`) })
	s.Handle("resources/subscribe", func(c *fakeserver.CallContext) { c.Result(`{}`) })
	s.Handle("resources/unsubscribe", func(c *fakeserver.CallContext) { c.Result(`{}`) })
	s.Handle("completion/complete", func(c *fakeserver.CallContext) {
		if string(c.Param("argument")) == `{"name":"who","value":"now"}` {
			c.Result(`{"completion":{"values":["nowhere"]}}`)
			return
		}
		heard <- "asked"
		heard <- <-c.Cancelled()
	})
	return s
}

func completing(id, value string) *mcphubv1.AttachRequest {
	return callOf(id, &mcphubv1.CompleteRequest{Server: "s", Argument: "who", Value: value,
		Reference: &mcphubv1.CompleteRequest_McpPrompt{McpPrompt: "greet"}})
}

func givingUp(id string) *mcphubv1.AttachRequest {
	return &mcphubv1.AttachRequest{MessageId: "w-" + id, Message: &mcphubv1.AttachRequest_GiveUp{
		GiveUp: &mcphubv1.GiveUp{MessageId: id}}}
}

// A window browses through its stream: the first entries of a list and how many there are, a search, templates, prompts
// and their completion.
func TestWindowBrowses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, conn := realHub(t, browsed(nil))
		w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
		list := func(query string, limit int32) *mcphubv1.ListResourcesResponse {
			asks := &mcphubv1.ListResourcesRequest{Server: "s", Query: query, Limit: limit}
			return responseOf[*mcphubv1.ListResourcesResponse](w.Ask(callOf("", asks)))
		}
		for _, c := range []struct {
			query          string
			limit          int32
			given, matched int
		}{{"", 0, 1000, 3000}, {"", 5000, 1000, 3000}, {"n299", 0, 11, 11}, {"file 2999", 0, 1, 1}, {"", 2, 2, 3000}} {
			if l := list(c.query, c.limit); len(l.GetResources()) != c.given || int(l.GetMatched()) != c.matched {
				t.Errorf("%+v: %d of %d", c, len(l.GetResources()), l.GetMatched())
			}
		}
		templates := responseOf[*mcphubv1.ListResourceTemplatesResponse](w.Ask(callOf("", &mcphubv1.ListResourceTemplatesRequest{Server: "s"})))
		if diff := cmp.Diff([]string{"x"}, templates.GetResourceTemplates()[0].GetVariables()); diff != "" {
			t.Errorf("variables: %s", diff)
		}
		expanded := w.Ask(callOf("", &mcphubv1.ExpandUriTemplateRequest{UriTemplate: "file:///{x}",
			Values: map[string]string{"x": "a b"}}))
		if uri := responseOf[*mcphubv1.ExpandUriTemplateResponse](expanded).GetUri(); uri != "file:///a%20b" {
			t.Errorf("expanded: %v", expanded)
		}
		listed := w.Ask(callOf("", &mcphubv1.ListMcpPromptsRequest{Server: "s"}))
		prompts := responseOf[*mcphubv1.ListMcpPromptsResponse](listed)
		if len(prompts.GetPrompts()) != 1 || prompts.GetMatched() != 1 {
			t.Errorf("prompts: %v", prompts)
		}
		if r := w.Ask(completing("", "now")); responseOf[*mcphubv1.CompleteResponse](r).GetResultJson() != `{"completion":{"values":["nowhere"]}}` {
			t.Errorf("completed: %v", r)
		}
		w.Ask(callOf("", &mcphubv1.GetMcpPromptRequest{RequestId: "r", Server: "s", Name: "greet",
			Arguments: map[string]string{"who": "Ada"}}))
		if end := w.WaitTerminal("r").GetMcpRequestFinished(); end.GetResultJson() != `{"messages":[]}` ||
			end.GetArgumentsPreview() != `who: "Ada"` || end.GetSubject() != "greet" {
			t.Errorf("the prompt ended so: %v", end)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A completion that is given up is cancelled at the server, and its reply says so; to give up an order that is over or
// unknown is no error.
func TestCompletionIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan string)
		_, conn := realHub(t, browsed(heard))
		w := openRaw(t, conn, &mcphubv1.Hello{})
		w.send(completing("a", "x"))
		if got := <-heard; got != "asked" {
			t.Fatal(got)
		}
		w.send(givingUp("a"), givingUp("none"))
		<-heard
		got := w.replies(3)
		if diff := cmp.Diff([]string{"w-a 0 ", "w-none 0 "}, without(got, "a 0 "+event.ReasonCancelled)); diff != "" ||
			len(got) != 3 {
			t.Errorf("%v (-want +got):\n%s", got, diff)
		}
		w.send(givingUp("a")) // over by now
		if diff := cmp.Diff([]string{"w-a 0 "}, w.replies(1)); diff != "" {
			t.Errorf("given up again (-want +got):\n%s", diff)
		}
		w.close()
	})
}

// What a window subscribed to is in its snapshot and in no other's. The server is told of the first subscription to a
// resource, and of the end of the last.
func TestSubscriptionsOfAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := browsed(nil)
		_, conn := realHub(t, server)
		subscribe := func(w rawWindow, uri string) {
			t.Helper()
			w.send(callOf(uri, &mcphubv1.SubscribeResourceRequest{Server: "s", Uri: uri}))
			if r := w.reply(uri); r.GetError() != nil {
				t.Fatal(r)
			}
		}
		w := openRaw(t, conn, &mcphubv1.Hello{WindowId: "one"})
		subscribe(w, "file:///a")
		subscribe(w, "file:///b")
		w.send(callOf("no", &mcphubv1.UnsubscribeResourceRequest{Server: "s", Uri: "file:///b"}))
		if r := w.reply("no"); r.GetError() != nil {
			t.Fatal(r)
		}
		w.snap(nil) // it may come back
		synctest.Wait()
		again := openRaw(t, conn, &mcphubv1.Hello{WindowId: "one"})
		if diff := cmp.Diff([]*mcphubv1.SubscribeResourceRequest{{Server: "s", Uri: "file:///a"}},
			again.snapshot().GetSubscriptions(), protocmp.Transform()); diff != "" {
			t.Errorf("back again (-want +got):\n%s", diff)
		}
		other := openRaw(t, conn, &mcphubv1.Hello{WindowId: "two"})
		if got := other.snapshot().GetSubscriptions(); len(got) != 0 {
			t.Errorf("another window has %v", got)
		}
		subscribe(other, "file:///a") // the server is not asked again, nor told while one is left
		again.close()
		synctest.Wait()
		told := func(want ...string) {
			t.Helper()
			var got []string
			for _, m := range server.Received() {
				if m.Method == "resources/subscribe" || m.Method == "resources/unsubscribe" {
					got = append(got, strings.TrimPrefix(m.Method, "resources/")+" "+string(m.Param("uri")))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the server was told (-want +got):\n%s", diff)
			}
		}
		before := []string{`subscribe "file:///a"`, `subscribe "file:///b"`, `unsubscribe "file:///b"`}
		told(before...)
		other.close()
		synctest.Wait()
		told(append(before, `unsubscribe "file:///a"`)...)
	})
}
