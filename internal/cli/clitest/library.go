package clitest

import (
	"encoding/json"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// LibraryServer has resources and prompt templates. A read of wait:forever is never answered.
func LibraryServer() *fakeserver.Server {
	s := fakeserver.New(fakeserver.WithCapabilities(`{"resources":{},"prompts":{}}`))
	s.Handle("resources/list", func(c *fakeserver.CallContext) {
		c.Result(
			`{"resources":[{"uri":"file:///a","name":"a","title":"First","description":"Of all.\nMore.","mimeType":"text/plain"},{"uri":"wait:forever","name":"w"}]}`)
	})
	s.Handle("resources/templates/list", func(c *fakeserver.CallContext) {
		c.Result(`{"resourceTemplates":[{"uriTemplate":"file:///{path}","name":"any"}]}`)
	})
	s.Handle("resources/read", func(c *fakeserver.CallContext) {
		switch string(c.Param("uri")) {
		case `"file:///a"`:
			c.Result(`{"contents":[{"uri":"file:///a","text":"the text"},{"uri":"file:///a","blob":"AA=="}]}`)
		case `"wait:forever"`:
			_ = c.Hang()
		default:
			c.Error(-32002, "no such thing")
		}
	})
	s.Handle("prompts/list", func(c *fakeserver.CallContext) {
		c.Result(
			`{"prompts":[{"name":"greet","description":"Greets.","arguments":[{"name":"who","required":true},{"name":"how"}]}]}`)
	})
	s.Handle("prompts/get", func(c *fakeserver.CallContext) {
		var arguments map[string]string
		if err := json.Unmarshal(c.Param("arguments"), &arguments); err != nil {
			c.Error(-32602, err.Error())
			return
		}
		c.Result(`{"messages":[{"role":"user","content":{"type":"text","text":"Greet ` + arguments["who"] + `!"}}]}`)
	})
	return s
}
