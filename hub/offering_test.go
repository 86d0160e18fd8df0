package hub_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// offer is a server with resources, templates and prompt templates.
type offer struct {
	*fakeserver.Server
	modern bool
}

const offered = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{},"logging":{}}`

// offering returns an offer. Reading "file:///hang" hangs, "file:///none" is an error, and "file:///ask" asks a
// question. So does getting a prompt template with such a name.
func offering(opts ...fakeserver.Option) *offer {
	s := &offer{Server: hanging(append([]fakeserver.Option{fakeserver.WithCapabilities(offered)}, opts...)...)}
	complete := `"resultType":"complete","ttlMs":0,"cacheScope":"private",`
	s.Handle("resources/list", func(c *fakeserver.CallContext) {
		c.Result(`{` + complete +
			`"resources":[{"uri":"file:///a","name":"a","title":"A","description":"d","mimeType":"text/plain","size":0,"icons":[]},{"uri":"file:///b","name":"b"}]}`)
	})
	s.Handle("resources/templates/list", func(c *fakeserver.CallContext) {
		c.Result(`{` + complete +
			`"resourceTemplates":[{"uriTemplate":"file:///{x}","name":"x","title":"X","description":"d","mimeType":"text/plain"}]}`)
	})
	s.Handle("prompts/list", func(c *fakeserver.CallContext) {
		c.Result(`{` + complete +
			`"prompts":[{"name":"greet","title":"Greet","description":"d","arguments":[{"name":"who","title":"Who","description":"w","required":true}]}]}`)
	})
	s.Handle("resources/read", func(c *fakeserver.CallContext) {
		s.act(c, "uri", `{`+complete+`"contents":[{"uri":"file:///a","text":"abc"}]}`)
	})
	s.Handle("prompts/get", func(c *fakeserver.CallContext) {
		s.act(c, "name", `{`+complete+`"messages":[{"role":"user","content":{"type":"text","text":`+
			string(c.Param("arguments"))+`}}]}`)
	})
	s.Handle("completion/complete", func(c *fakeserver.CallContext) {
		if strings.Contains(string(c.Params), "none") {
			c.Error(-32602, "no such argument")
			return
		}
		c.Result(`{` + complete + `"completion":{"values":["Ada"]}}`)
	})
	s.Handle("resources/subscribe", func(c *fakeserver.CallContext) {
		if strings.Contains(string(c.Param("uri")), "none") {
			c.Error(-32002, "no such resource")
			return
		}
		c.Result(`{}`)
	})
	s.Handle("resources/unsubscribe", func(c *fakeserver.CallContext) { c.Result(`{}`) })
	return s
}

// tell sends a notification, in the modern era on each open subscription.
func (s *offer) tell(method, params string) (err error) {
	if !s.modern {
		return s.Notify(method, params)
	}
	for _, sub := range s.Subscriptions() {
		err = errors.Join(err, sub.Notify(method, params))
	}
	return err
}

// act does what the name of the subject says: hang, fail, or ask. Otherwise it answers with result.
func (s *offer) act(c *fakeserver.CallContext, key, result string) {
	switch subject := string(c.Param(key)); {
	case strings.Contains(subject, "hang"):
		c.Progress(1, 2, "half")
		_ = c.Hang()
	case strings.Contains(subject, "none"):
		c.ErrorData(-32002, "not found", `{"uri":"x"}`)
	case strings.Contains(subject, "ask") && c.Param("inputResponses") == nil && s.modern:
		c.InputRequired(fmt.Sprintf(`{"q":{"method":"elicitation/create","params":%s}}`, formParams), "state")
	case strings.Contains(subject, "ask") && !s.modern:
		if m, ok := <-c.Request(elicitation, formParams).Response(); ok && m.Result != nil {
			c.Result(result)
		}
	default:
		c.Result(result)
	}
}
