package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	env := map[string]string{envName: "auth/pre-registration",
		envContext: `{"name":"x","client_id":"id","client_secret":"s","toolCalls":[{"name":"a","arguments":{"n":1.0}}]}`}
	s, err := Parse([]string{"http://127.0.0.1:1/mcp"}, func(k string) string { return env[k] })
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "auth/pre-registration" || s.URL != "http://127.0.0.1:1/mcp" || s.Context.ClientID != "id" ||
		s.Context.ClientSecret != "s" {
		t.Errorf("%+v", s)
	}
	if calls := s.Context.ToolCalls; len(calls) != 1 || calls[0].Name != "a" || string(calls[0].Arguments) != `{"n":1.0}` {
		t.Errorf("calls: %+v", calls)
	}
	for name, broken := range map[string]map[string]string{
		"no scenario":    {},
		"broken context": {envName: "x", envContext: "{"},
	} {
		if _, err := Parse([]string{"http://x"}, func(k string) string { return broken[k] }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Parse(nil, func(k string) string { return env[k] }); err == nil {
		t.Error("no URL: no error")
	}
}

func TestFormAnswer(t *testing.T) {
	tests := []struct{ name, schema, want, err string }{
		{"defaults",
			`{"properties":{"a":{"type":"number","default":95.50},"b":{"type":"boolean","default":false},"c":{"type":"string"}},"required":["a"]}`, `{"a":95.50,"b":false}`, ""},
		{"a required yes", `{"properties":{"ok":{"type":"boolean"}},"required":["ok"]}`, `{"ok":true}`, ""},
		{"a required text", `{"properties":{"name":{"type":"string"}},"required":["name"]}`, "", `requires "name"`},
		{"nothing asked", `{}`, `{}`, ""},
		{"no schema", `[`, "", "schema"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := FormAnswer(json.RawMessage(tt.schema))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("%s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

// recorder is a fake client with two tools, a resource and a prompt. It records the operations that it is asked for.
type recorder struct {
	did  []string
	fail string // the operation that fails
}

var errRecorder = errors.New("it does not work")

func (r *recorder) do(what string) error {
	r.did = append(r.did, what)
	if what == r.fail {
		return errRecorder
	}
	return nil
}

func (r *recorder) ListTools(context.Context) ([]Tool, error) {
	tools := []Tool{{Name: "add_numbers"}, {Name: "test-tool"},
		{Name: "json_schema_2020_12_tool", InputSchema: json.RawMessage(`{"$anchor":"x"}`)}}
	return tools, r.do("list tools")
}
func (r *recorder) CallTool(_ context.Context, name string, a json.RawMessage) error {
	return r.do("call " + name + " " + string(a))
}
func (r *recorder) ListResources(context.Context) ([]string, error) {
	return []string{"file:///a"}, r.do("list resources")
}
func (r *recorder) ReadResource(_ context.Context, uri string) error { return r.do("read " + uri) }
func (r *recorder) ListPrompts(context.Context) ([]string, error) {
	return []string{"p"}, r.do("list prompts")
}
func (r *recorder) GetPrompt(_ context.Context, name string) error { return r.do("get " + name) }

func TestRun(t *testing.T) {
	var calls Context
	if err := json.Unmarshal([]byte(`{"toolCalls":[{"name":"a","arguments":{"x":1}},{"name":"b","arguments":{}}]}`),
		&calls); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		scenario string
		given    Context
		fail     string
		want     []string
		err      string
	}{
		{scenario: "initialize", want: []string{"list tools"}},
		{scenario: "tools_call", want: []string{"list tools", `call add_numbers {"a":5,"b":3}`}},
		{scenario: "auth/anything", want: []string{"list tools", "call test-tool {}"}},
		{scenario: "auth/anything", fail: "call test-tool {}", want: []string{"list tools", "call test-tool {}"},
			err: errRecorder.Error()},
		{scenario: "sse-retry", want: []string{"list tools"}, err: "not listed"},
		{scenario: "json-schema-2020-12-preservation", want: []string{"list tools",
			`call json_schema_echo {"schema":{"$anchor":"x"}}`}},
		{scenario: "http-custom-headers", given: calls, want: []string{"list tools", `call a {"x":1}`, "call b {}"}},
		{scenario: "http-custom-headers", given: calls, fail: `call a {"x":1}`,
			want: []string{"list tools", `call a {"x":1}`, "call b {}"}, err: errRecorder.Error()},
		{scenario: "http-custom-headers", err: "no calls"},
		{scenario: "http-standard-headers", want: []string{"list tools", "list resources", "list prompts",
			"call add_numbers {}", "read file:///a", "get p"}},
		{scenario: "brand-new", err: "not known"},
	}
	for _, tt := range tests {
		r := &recorder{fail: tt.fail}
		err := Run(t.Context(), Scenario{Name: tt.scenario, Context: tt.given}, r)
		if !slices.Equal(r.did, tt.want) {
			t.Errorf("%s: did %q, want %q", tt.scenario, r.did, tt.want)
		}
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: error %v, want %q", tt.scenario, err, tt.err)
		}
	}
}
