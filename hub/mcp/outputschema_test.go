package mcp

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// checkOutput calls CheckOutput of a session of the given era that has no server.
func checkOutput(t *testing.T, era Era, schema, result string) []string {
	t.Helper()
	s, err := newSession(Options{Logger: discardLogs})
	if err != nil {
		t.Fatal(err)
	}
	revision := Revision20251125
	if era == Modern {
		revision = Revision20260728
	}
	s.state.Store(&negotiated{era: era, revision: revision})
	if schema == "" {
		return s.CheckOutput(nil, json.RawMessage(result))
	}
	return s.CheckOutput(json.RawMessage(schema), json.RawMessage(result))
}

// TestCheckOutput: what conforms and what does not. An entry of the table is what the one text must contain, "" when
// there must be none.
func TestCheckOutput(t *testing.T) {
	const weather = `{"type":"object","properties":{"degrees":{"type":"number"},"sky":{"enum":["clear","grey"]}},"required":["degrees"],"additionalProperties":false}`
	const tree = `{"type":"object","properties":{"root":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","properties":{"n":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["n"]}}}`
	for name, c := range map[string]struct{ schema, result, legacy, modern string }{
		"conforms":        {weather, `{"structuredContent":{"degrees":7,"sky":"clear"}}`, "", ""},
		"wrong type":      {weather, `{"structuredContent":{"degrees":"7"}}`, "degrees", "degrees"},
		"missing":         {weather, `{"structuredContent":{"sky":"grey"}}`, "required", "required"},
		"too much":        {weather, `{"structuredContent":{"degrees":1,"x":2}}`, "additional", "additional"},
		"not in the enum": {weather, `{"structuredContent":{"degrees":1,"sky":"green"}}`, "enum", "enum"},
		"absent":          {weather, `{"content":[]}`, "absent", "absent"},
		"error":           {weather, `{"isError":true,"content":[]}`, "", ""},
		"wrong error":     {weather, `{"isError":true,"structuredContent":7}`, "", ""},
		"no error":        {weather, `{"isError":"true","content":[]}`, "absent", "absent"},
		"null":            {`{"type":"null"}`, `{"structuredContent":null}`, "no JSON object", ""},
		"null for object": {weather, `{"structuredContent":null}`, "no JSON object", "type"},
		"array": {`{"type":"array","items":{"type":"integer"}}`, `{"structuredContent":[1,2]}`, "no JSON object",
			""},
		"array, wrong": {`{"type":"array","items":{"type":"integer"}}`, `{"structuredContent":[1,"2"]}`, "no JSON object",
			"type"},
		"no schema":   {``, `{}`, "", ""},
		"null schema": {`null`, `{}`, "", ""},
		"recursive":   {tree, `{"structuredContent":{"root":{"n":1,"kids":[{"n":2,"kids":[{"n":3}]}]}}}`, "", ""},
		"recursive wrong": {tree, `{"structuredContent":{"root":{"n":1,"kids":[{"n":2,"kids":[{"n":"3"}]}]}}}`, "integer",
			"integer"},
		// 2020-12 has prefixItems, draft-07 an array of items; each ignores the other's.
		"2020-12": {`{"properties":{"a":{"prefixItems":[{"type":"string"}]}}}`, `{"structuredContent":{"a":[1]}}`,
			"string", "string"},
		"2020-12 said":     {`{"$schema":"https://json-schema.org/draft/2020-12/schema#","properties":{"a":{"prefixItems":[{"type":"string"}]}}}`, `{"structuredContent":{"a":[1]}}`, "string", "string"},
		"draft-07":         {`{"$schema":"http://json-schema.org/draft-07/schema","properties":{"a":{"items":[{"type":"string"}]}}}`, `{"structuredContent":{"a":[1]}}`, "string", "string"},
		"draft-07 ignores": {`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"prefixItems":[{"type":"string"}]}}}`, `{"structuredContent":{"a":[1]}}`, "", ""},
		"pointer": {`{"properties":{"a/b~c d":{"type":"string"},"x":{"$ref":"#/properties/a~1b~0c%20d"}}}`,
			`{"structuredContent":{"x":1}}`, "string", "string"},
	} {
		for era, want := range map[Era]string{Legacy: c.legacy, Modern: c.modern} {
			got := checkOutput(t, era, c.schema, c.result)
			switch {
			case want == "" && got != nil:
				t.Errorf("%s, %v: %q", name, era, got)
			case want != "" && (len(got) != 1 || !strings.Contains(got[0], want) || strings.HasPrefix(got[0], NotChecked)):
				t.Errorf("%s, %v: %q, want %s", name, era, got, want)
			}
		}
	}
}

// TestCheckOutputLarge_amount: honest results of honest tools are checked, large ones too.
func TestCheckOutputLarge_amount(t *testing.T) {
	const schema = `{"type":"object","properties":{"rows":{"type":"array","items":{"$ref":"#/$defs/row"}}},"required":["rows"],
		"$defs":{"row":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string","pattern":"^[a-z ]+$"},"note":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}},"required":["id","name"],"additionalProperties":false}}}`
	// Each row has seven values, names among them; bounds.CheckedValues is 50,000.
	rows := strings.Repeat(`{"id":123456,"name":"some name of a row","note":null},`, 7_000)
	if got := checkOutput(t, Legacy, schema, `{"structuredContent":{"rows":[`+rows+
		`{"id":1,"name":"last"}]}}`); got != nil {
		t.Errorf("got %q", got)
	}
	if got := checkOutput(t, Legacy, schema, `{"structuredContent":{"rows":[`+rows+`{"id":1}]}}`); len(got) != 1 ||
		strings.HasPrefix(got[0], NotChecked) {
		t.Errorf("got %q", got)
	}
}

// TestCheckOutputBounded: a violation's text is bounded and printable, whatever the result says.
func TestCheckOutputBounded(t *testing.T) {
	got := checkOutput(t, Legacy, `{"properties":{"x":{"type":"integer"}}}`,
		`{"structuredContent":{"x":"\u0000\u001b[31m\n`+strings.Repeat("x", 100<<10)+`"}}`)
	if len(got) != 1 || utf8.RuneCountInString(got[0]) > 512 || strings.ContainsAny(got[0], "\x00\x1b\n") {
		t.Errorf("got %.600q", got)
	}
}

// TestCheckOutputBesideResult: a violation does not touch the result of the call; the tool's definition has what is
// needed.
func TestCheckOutputBesideResult(t *testing.T) {
	bothEras(t, func(t *testing.T, f *fakeserver.Server) {
		const schema = `{ "type":"object","required":["n"] }`
		const result = `{"resultType":"complete","content":[],"structuredContent":{"m":1.0}}`
		f.ToolWith(`{"name":"t","inputSchema":{"type":"object"},"outputSchema":`+schema+
			`,"execution":{"taskSupport":"optional"}}`, func(c *fakeserver.CallContext) {
			c.Result(result)
		})
		s := connect(t, f, &recorder{})
		tools, err := s.ListTools(background)
		if err != nil || len(tools) != 1 || tools[0].TaskSupport != "optional" || !json.Valid(tools[0].OutputSchema) {
			t.Fatalf("tools %+v, %v", tools, err)
		}
		got, err := s.CallTool(background, &CallRequest{Name: "t"})
		if err != nil || string(got.Raw) != result {
			t.Errorf("got %+v, %v", got, err)
		}
		if problems := s.CheckOutput(tools[0].OutputSchema, got.Raw); len(problems) != 1 ||
			!strings.Contains(problems[0], "required") {
			t.Errorf("problems %q", problems)
		}
		s.Close(nil)
		synctest.Wait()
		if problems := s.CheckOutput(tools[0].OutputSchema,
			json.RawMessage(`{"structuredContent":{"n":1}}`)); problems != nil {
			t.Errorf("problems %q", problems)
		}
	})
}

var discardLogs = slog.New(slog.DiscardHandler)

// TestCheckOutputNotChecked: what cannot be checked gives one note, which says whether the schema or the result is the
// reason; package schema tests all the reasons.
func TestCheckOutputNotChecked(t *testing.T) {
	const object = `{"structuredContent":{"a":"b"}}`
	for name, c := range map[string]struct{ schema, result, want string }{
		"schema": {`{"$schema":"http://json-schema.org/draft-04/schema#"}`, object, "the outputSchema: its dialect"},
		"itself": {`{"$ref":"#"}`, object, "the structuredContent: checking it would take too long"},
	} {
		if got := checkOutput(t, Modern, c.schema, c.result); len(got) != 1 || !strings.HasPrefix(got[0], NotChecked+c.want) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
