package hostile

import (
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Schemas that are more expensive than they look.
const (
	// SelfReference refers to itself without going deeper into the value.
	SelfReference = `{"$ref":"#"}`
	// SelfAllOf does the same through a keyword.
	SelfAllOf = `{"type":"object","properties":{"name":{"type":"string"}},"allOf":[{"$ref":"#"}]}`
	// SelfDynamic does the same through a dynamic reference.
	SelfDynamic = `{"$dynamicAnchor":"a","type":"object","allOf":[{"$dynamicRef":"#a"}]}`
)

// Doubling returns a schema of some hundred bytes that leads to the same value in 2^n ways.
func Doubling(n int) string {
	defs := []string{`"d0":{"type":"object"}`}
	for i := 1; i <= n; i++ {
		defs = append(defs, fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i-1, i-1))
	}
	return fmt.Sprintf(`{"type":"object","properties":{"name":{"type":"string"}},"$defs":{%s},"$ref":"#/$defs/d%d"}`,
		strings.Join(defs, ","), n)
}

// formOf asks with a form that has the given schema, and answers when the form was answered. Counts: asked, answered.
func formOf(schema string) func(*Server) {
	return func(s *Server) {
		s.Tool(Tool, func(c *fakeserver.CallContext) {
			q := c.Request("elicitation/create", `{"message":"Your name?","requestedSchema":`+schema+`}`)
			if q == nil {
				return
			}
			s.count("asked")
			if a, ok := <-q.Response(); ok {
				s.count("answered")
				c.Text("thanks: " + string(a.Result))
			}
		})
	}
}

// outputOf has a tool with the given output schema, and answers with structured content.
func outputOf(schema string) func(*Server) {
	return func(s *Server) {
		s.ToolWith(`{"name":"`+Tool+`","inputSchema":{"type":"object"},"outputSchema":`+schema+
			`}`, func(c *fakeserver.CallContext) {
			c.Result(`{"content":[{"type":"text","text":"{}"}],"structuredContent":{"name":"x"}}`)
		})
	}
}

func init() {
	for name, b := range map[string]behaviour{
		"form-self-ref":     {about: "A1: a form whose schema refers to itself", make: formOf(SelfReference)},
		"form-self-allof":   {about: "A1: a form whose schema refers to itself in allOf", make: formOf(SelfAllOf)},
		"form-self-dynamic": {about: "A1: a form whose schema refers to itself dynamically", make: formOf(SelfDynamic)},
		"form-doubling":     {about: "A2: a form whose schema leads to its value on 2^22 ways", make: formOf(Doubling(22))},
		"form-forever":      {about: "A2: a form whose schema leads to its value on 2^40 ways", make: formOf(Doubling(40))},
		"output-self-ref":   {about: "A1: a tool whose output schema refers to itself", make: outputOf(SelfReference)},
		"output-forever": {about: "A2: a tool whose output schema leads to its value on 2^40 ways",
			make: outputOf(Doubling(40))},
	} {
		behaviours[name] = b
	}
}
