package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Limits of models and hosts. The strictest provider counts.
const (
	manyTools   = 128    // OpenAI refuses a request with more tools
	manyTokens  = 10_000 // of definitions: above this number, hosts load tools on demand
	bytesAToken = 3.2    // of compact JSON
	longText    = 1024   // characters of a description that all clients pass on
)

var (
	// specName is the form that server/tools of 2025-11-25 asks for. modelName is the form that the APIs of Anthropic,
	// OpenAI and Gemini all accept.
	specName  = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,64}$`)
	modelName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,62}$`)
)

// lists reads the tools and examines each one. It uses the modern era only if there is no other. known reports whether
// the tools could be read.
func (e *examination) lists(ctx context.Context, modern bool) (tools []mcp.Tool, known bool) {
	e.doing("the list of tools")
	era := mcp.EraLegacy
	if modern {
		era = mcp.EraModern
	}
	starting, cancel := e.starting(ctx)
	defer cancel()
	s, err := e.session(starting, era, newAsker(nil))
	if err != nil {
		e.find("capability.tools", era, Mend, "another start failed: %s", words(err))
		return nil, false
	}
	ctx, done := e.patient(ctx)
	defer done()
	defer s.close()
	defer e.otherLists(ctx, era, s)
	if !s.Info().HasTools {
		e.find("capability.tools", era, Note, "it declares no tools")
		return nil, true
	}
	tools, err = s.ListTools(ctx)
	if err != nil {
		e.find("capability.tools", era, Mend, "the list of tools could not be read: %s", words(err))
		return nil, false
	}
	e.size(era, tools)
	e.tools(era, tools)
	return tools, true
}

func (e *examination) size(era string, tools []mcp.Tool) {
	size := 0
	for _, t := range tools {
		size += len(t.Raw)
		e.heard(t.Raw)
	}
	e.report.Tools, e.report.Tokens = len(tools), int(float64(size)/bytesAToken)
	level := Good
	switch {
	case len(tools) > manyTools:
		level = Mend
	case e.report.Tokens > manyTokens:
		level = Improve
	}
	e.find("list.size", era, level, "%d tools, %d bytes of definitions, about %d tokens in each request to a model",
		len(tools), size, e.report.Tokens)
}

// tools groups the tools by their faults, so that a server with a hundred bad names gets only one finding.
func (e *examination) tools(era string, tools []mcp.Tool) {
	seen := map[string]bool{}
	groups := map[string][]string{} // by check and fault
	var order []string
	add := func(check string, level Level, what, tool string) {
		key := check + "\x00" + string(level) + "\x00" + what
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], bounds.Printable(tool))
	}
	for _, t := range tools {
		if seen[t.Name] {
			add("list.duplicates", Mend, "come more than once", t.Name)
		}
		seen[t.Name] = true
		switch {
		case !specName.MatchString(t.Name):
			add("tool.name", Mend, "have names that MCP advises against, and that models refuse", t.Name)
		case !modelName.MatchString(t.Name):
			add("tool.name", Improve, "have names that not all models accept", t.Name)
		}
		switch n := len([]rune(t.Description)); {
		case strings.TrimSpace(t.Description) == "":
			add("tool.description", Improve, "have no description", t.Name)
		case n > longText:
			add("tool.description", Note, fmt.Sprintf("have descriptions of more than %d characters, which some hosts cut",
				longText), t.Name)
		}
		for _, refusal := range refused(t.InputSchema) {
			add("tool.schema", refusal.level, refusal.text, t.Name)
		}
		if jsontext.Get(t.Raw, "annotations") == nil {
			add("tool.annotations", Improve, "have no annotations", t.Name)
		}
	}
	for _, key := range order {
		part := strings.SplitN(key, "\x00", 3)
		e.find(part[0], era, Level(part[1]), "%d of %d tools %s: %s", len(groups[key]), len(tools), part[2],
			some(groups[key]))
	}
	if len(order) == 0 && len(tools) > 0 {
		e.find("tool.schema", era, Good, "all tools have names, descriptions and schemas that models accept")
	}
}

// some returns the first few names of a list as text.
func some(names []string) string {
	const few = 8
	if len(names) > few {
		return strings.Join(names[:few], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// otherLists reads the lists of resources, templates and prompts, and records the number of entries, their size, and
// duplicates.
func (e *examination) otherLists(ctx context.Context, era string, s *session) {
	lists := []struct {
		what, key string
		declared  bool
		read      func() (names []string, size int, err error)
	}{
		{"resources", "URI", s.Info().HasResources, func() ([]string, int, error) {
			list, err := s.ListResources(ctx)
			return described(list, err, func(r mcp.Resource) (string, []byte) { return r.URI, r.Raw })
		}},
		{"resource templates", "URI", s.Info().HasResources, func() ([]string, int, error) {
			list, err := s.ListResourceTemplates(ctx)
			return described(list, err, func(r mcp.ResourceTemplate) (string, []byte) { return r.URITemplate, r.Raw })
		}},
		{"prompts", "name", s.Info().HasPrompts, func() ([]string, int, error) {
			list, err := s.ListPrompts(ctx)
			return described(list, err, func(p mcp.Prompt) (string, []byte) { return p.Name, p.Raw })
		}},
	}
	for _, l := range lists {
		if !l.declared {
			continue
		}
		e.doing("the list of %s", l.what)
		names, size, err := l.read()
		if number, answered := code(err); answered && number == jsonrpc.CodeMethodNotFound {
			continue // some servers have only templates, or none; other checks look at what was declared
		}
		if err != nil {
			e.find("list.read", era, Mend, "the list of %s could not be read: %s", l.what, words(err))
			continue
		}
		tokens := int(float64(size) / bytesAToken)
		level := Good
		if tokens > manyTokens {
			level = Note // models do not get these lists by default
		}
		e.find("list.size", era, level, "%d %s, %d bytes, about %d tokens", len(names), l.what, size, tokens)
		slices.Sort(names)
		var twice []string
		for i := 1; i < len(names); i++ {
			if names[i] == names[i-1] {
				twice = append(twice, bounds.Printable(names[i]))
			}
		}
		if twice = slices.Compact(twice); len(twice) > 0 {
			e.find("list.duplicates", era, Improve, "%d %s have a %s that comes more than once: %s", len(twice), l.what,
				l.key, some(twice))
		}
	}
}

// described returns the names or URIs of the items of a list, and the total size of the items.
func described[T any](list []T, err error, of func(T) (name string, raw []byte)) (names []string, size int, _ error) {
	for _, item := range list {
		name, raw := of(item)
		names, size = append(names, name), size+len(raw)
	}
	return names, size, err
}

// refusal is a property of a schema that the API of some model refuses.
type refusal struct {
	level Level
	text  string
}

// Bounds for one schema, which comes from the server.
const (
	schemaDepth = 32
	schemaNodes = 10_000
)

// refused returns what the APIs of models do not accept in an inputSchema, each kind once. One such tool makes an API
// refuse the whole request.
func refused(schema json.RawMessage) []refusal {
	if !jsontext.IsObject(schema) {
		return []refusal{{Mend, "have an inputSchema that is no object"}}
	}
	var found []refusal
	once := map[string]bool{}
	add := func(level Level, text string) {
		if !once[text] {
			once[text] = true
			found = append(found, refusal{level, text})
		}
	}
	if jsontext.String(jsontext.Get(schema, "type")) != "object" {
		add(Mend, `have a schema whose root does not say "type": "object"`)
	}
	for _, name := range []string{"oneOf", "anyOf", "allOf", "not", "enum"} {
		if jsontext.Get(schema, name) != nil {
			add(Mend, `have "`+name+`" at the root of the schema, which Anthropic and OpenAI refuse`)
		}
	}
	if jsontext.Get(schema, "properties") == nil {
		add(Mend, `have a schema without "properties", which OpenAI refuses`)
	}
	nodes := 0
	walk(schema, 0, &nodes, func(node json.RawMessage) {
		switch kind := jsontext.Get(node, "type"); {
		case jsontext.String(kind) == "array" && jsontext.Get(node, "items") == nil:
			add(Mend, `have an array without "items", which OpenAI and VS Code refuse`)
		case !jsontext.IsString(kind) && kind != nil:
			add(Note, `have several types for one value, which Gemini's older form does not take`)
		}
		if items := jsontext.Get(node, "items"); items != nil && jsontext.Elements(items, stop) {
			add(Improve, `have an array of schemas as "items", which JSON Schema 2020-12 calls "prefixItems"`)
		}
		if ref := jsontext.String(jsontext.Get(node, "$ref")); ref != "" && ref[0] != '#' {
			add(Mend, `have a "$ref" that leads out of the schema, which clients must not follow`)
		} else if ref != "" {
			add(Note, `have a "$ref", which Gemini's older form does not take`)
		}
		jsontext.Elements(jsontext.Get(node, "enum"), func(value json.RawMessage) bool {
			if !jsontext.IsString(value) {
				add(Mend, `have an "enum" of values that are no strings, which Gemini refuses`)
			}
			return jsontext.IsString(value)
		})
	})
	return found
}

func stop(json.RawMessage) bool { return false }

// walk calls visit for the schema and every schema inside it.
func walk(schema json.RawMessage, depth int, nodes *int, visit func(json.RawMessage)) {
	if *nodes++; depth > schemaDepth || *nodes > schemaNodes || !jsontext.IsObject(schema) {
		return
	}
	visit(schema)
	for _, name := range []string{"items", "additionalProperties", "not", "if", "then", "else", "contains",
		"propertyNames"} {
		walk(jsontext.Get(schema, name), depth+1, nodes, visit)
	}
	for _, name := range []string{"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"} {
		jsontext.Members(jsontext.Get(schema, name), func(_ []byte, value json.RawMessage) bool {
			walk(value, depth+1, nodes, visit)
			return *nodes <= schemaNodes
		})
	}
	for _, name := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		jsontext.Elements(jsontext.Get(schema, name), func(value json.RawMessage) bool {
			walk(value, depth+1, nodes, visit)
			return *nodes <= schemaNodes
		})
	}
}
