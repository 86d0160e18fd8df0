package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// odd is what decoding and encoding again would not leave as it is: the order and repetition of members, spellings of
// strings and of numbers, blanks, and unknown members.
const odd = `"_meta" : { "io.modelcontextprotocol/ui":{"csp":["https:\/\/x"]},"ui/resourceUri":"ui:\u002f\u002fa" }, "icons":[ {"src":"data:,","sizes":["any"]} ],` +
	`"annotations":{"priority":0.10,"readOnlyHint":true}, "z":12345678901234567890123, "z":1.0E+2, "a":-0, "new":{"\u0041":null ,"<&>":"é\u00e9"},"execution":{}`

// TestPassedThroughUntouched: MCP Apps, icons, annotations, _meta and what will be invented later reach the host byte
// for byte, in definitions and in results.
func TestPassedThroughUntouched(t *testing.T) {
	bothEras(t, func(t *testing.T, f *fakeserver.Server) {
		entry := func(id string) string { return fmt.Sprintf(`{ %s ,%s}`, id, odd) }
		definitions := map[string]string{
			// A tool with a member twice is left out (finding B9): a user could be shown the one, and the server mean
			// the other.
			protocol.MethodListTools:             strings.Replace(entry(`"name":"t"`), `"z":1.0E+2`, `"y":1.0E+2`, 1),
			protocol.MethodListPrompts:           entry(`"name":"\u0070"`),
			protocol.MethodListResources:         entry(`"uri":"ui://app\/main","mimeType":"text/html;profile=mcp-app"`),
			protocol.MethodListResourceTemplates: entry(`"uriTemplate":"ui://{x}"`),
		}
		for _, l := range lists {
			f.Handle(l.method, func(c *fakeserver.CallContext) {
				c.Result(fmt.Sprintf("{%s, %q : [ %s ],\"resultType\":\"complete\"}", odd, l.member, definitions[l.method]))
			})
		}
		result := fmt.Sprintf(`{"contents":[ {"uri":"ui://app\/main","text":"<p>\u003c"} ],"structuredContent":null,%s}`, odd)
		for _, method := range []string{protocol.MethodCallTool, protocol.MethodReadResource, protocol.MethodGetPrompt} {
			f.Handle(method, func(c *fakeserver.CallContext) { c.Result(result) })
		}
		s := connect(t, f, &recorder{})
		same := func(what, want string, got json.RawMessage, err error) {
			t.Helper()
			if err != nil || string(got) != want {
				t.Errorf("%s: %v\n got %s\nwant %s", what, err, got, want)
			}
		}
		tools, err := s.ListTools(background)
		same("tool", definitions[protocol.MethodListTools], tools[0].Raw, err)
		prompts, err := s.ListPrompts(background)
		same("prompt", definitions[protocol.MethodListPrompts], prompts[0].Raw, err)
		if prompts[0].Name != "p" {
			t.Errorf("the prompt is called %q", prompts[0].Name)
		}
		resources, err := s.ListResources(background)
		same("resource", definitions[protocol.MethodListResources], resources[0].Raw, err)
		if resources[0].URI != "ui://app/main" {
			t.Errorf("the resource is %q", resources[0].URI)
		}
		templates, err := s.ListResourceTemplates(background)
		same("template", definitions[protocol.MethodListResourceTemplates], templates[0].Raw, err)

		called, err := s.CallTool(background, &CallRequest{Name: "t"})
		same("tool result", result, called.Raw, err)
		// A resource that is in no list can be read all the same.
		read, err := s.ReadResource(background, &CallRequest{Name: "ui://app/hidden"})
		same("contents", result, read.Raw, err)
		got, err := s.GetPrompt(background, &CallRequest{Name: "p"})
		same("prompt result", result, got.Raw, err)
	})
}

// TestExtensionsDeclared: extensions are declared in initialize and in each modern request, in their own spelling; what
// is no object is left out.
func TestExtensionsDeclared(t *testing.T) {
	extensions := map[string]json.RawMessage{
		"io.modelcontextprotocol/ui": json.RawMessage("{ \"mimeTypes\":[\"text\\/html;profile=mcp-app\"],\n \"n\":1.0 }"),
		"com.example/b":              json.RawMessage(`{}`),
		"com.example/broken":         json.RawMessage(`{`),
		"com.example/flag":           json.RawMessage(`true`),
	}
	const want = `{"roots":{"listChanged":true},"extensions":{"com.example/b":{},"io.modelcontextprotocol/ui":{"mimeTypes":["text\/html;profile=mcp-app"],"n":1.0}}}`
	for _, revision := range []string{Revision20241105, Revision20250618, Revision20251125} {
		if got := string(Capabilities{Roots: true, Extensions: extensions}.appendTo(nil, revision)); got != want {
			t.Errorf("%s declares %s", revision, got)
		}
	}
	bothEras(t, func(t *testing.T, f *fakeserver.Server) {
		f.Tool("t", func(c *fakeserver.CallContext) { c.Text("ok") })
		s := connect(t, f, &recorder{}, func(o *Options) {
			o.Capabilities = func() Capabilities { return Capabilities{Extensions: extensions} }
		})
		if _, err := s.CallTool(background, &CallRequest{Name: "t"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		declared := lines(f, protocol.MethodCallTool)[0].Param("_meta")
		declared = member(declared, protocol.MetaCapabilities)
		if s.Era() == Legacy {
			declared = lines(f, protocol.MethodInitialize)[0].Param("capabilities")
		}
		if got := string(declared); !strings.Contains(got,
			`"io.modelcontextprotocol/ui":{"mimeTypes":["text\/html;profile=mcp-app"],"n":1.0}`) ||
			strings.Contains(got, "broken") || strings.Contains(got, "flag") {
			t.Errorf("declared %s", got)
		}
	})
}
