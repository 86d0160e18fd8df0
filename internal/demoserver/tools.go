//lint:file-ignore SA1019 logging is deprecated since 2026-07-28; the clients of older revisions still use it.

package demoserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// traits are those annotations that differ between the tools. No tool of the demo reaches the open world.
type traits int

const (
	readOnly traits = iota // changes nothing and may be repeated
	additive               // adds something
	harmful                // may destroy something, at worst the process
)

func (t traits) annotations(title string) *mcp.ToolAnnotations {
	closed, destructive := false, t == harmful
	return &mcp.ToolAnnotations{
		Title:           title,
		ReadOnlyHint:    t == readOnly,
		IdempotentHint:  t == readOnly,
		DestructiveHint: &destructive,
		OpenWorldHint:   &closed,
	}
}

// bound is the range of a numeric argument, and its default value.
type bound struct{ min, max, preset float64 }

// spec describes a tool to its clients.
type spec struct {
	name, title, description string
	traits                   traits
	bounds                   map[string]bound // by argument
	patterns                 map[string]string
}

// call is one call of a tool.
type call struct {
	*demo
	tool string
	req  *mcp.CallToolRequest
}

// handler does the work of a tool. Its error becomes a result with isError, but a *jsonrpc.Error a protocol error.
type handler[In, Out any] func(ctx context.Context, c *call, in In) (*mcp.CallToolResult, Out, error)

// add registers a tool whose calls are recorded. Only the decoding is generic: the SDK's generic AddTool and the code
// below would be compiled once for each tool, which is a fiftieth of the whole program.
func add[In, Out any](d *demo, s spec, h handler[In, Out]) {
	var out *jsonschema.Schema
	if t := reflect.TypeFor[Out](); t != reflect.TypeFor[any]() {
		out = schemaOf(s, t)
	}
	d.add(s, schemaOf(s, reflect.TypeFor[In]()), out,
		func(ctx context.Context, c *call, arguments json.RawMessage) (*mcp.CallToolResult, any, error) {
			var in In
			if err := json.Unmarshal(arguments, &in); err != nil {
				return nil, nil, err
			}
			return h(ctx, c, in)
		})
}

// add registers a tool whose arguments are not decoded. The SDK validates the arguments, and the result if there is a
// schema for it.
func (d *demo) add(s spec, in, out *jsonschema.Schema, h handler[json.RawMessage, any]) {
	s.bind(in)
	t := &mcp.Tool{
		Name: s.name, Title: s.title, Description: s.description,
		Annotations: s.traits.annotations(s.title), InputSchema: in,
	}
	if len(in.Properties) == 0 {
		t.InputSchema = noProperties
	}
	if out != nil {
		t.OutputSchema = out
	}
	run := func(ctx context.Context, req *mcp.CallToolRequest, in json.RawMessage) (*mcp.CallToolResult, any, error) {
		c := &call{demo: d, tool: s.name, req: req}
		c.note(EventStarted, "")
		// A closed HTTP session of the SDK waits for its tools, but does not cancel them.
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(d.ctx, func() { cancel(context.Cause(d.ctx)) })()
		done := watch(ctx, func() {
			cause := context.Cause(ctx)
			if d.ctx.Err() != nil {
				cause = context.Cause(d.ctx) // then connections break too, perhaps earlier
			}
			d.journal.note(Event{Event: EventCancelled, Tool: s.name, Reason: cause.Error()})
		})
		res, out, err := h(ctx, c, in)
		done()
		c.note(EventFinished, outcome(res, err))
		return res, out, err
	}
	mcp.AddTool(d.server, t, run)
}

// noProperties is the schema of a tool without arguments. OpenAI refuses a schema without "properties", and a
// [jsonschema.Schema] omits an empty "properties".
var noProperties = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)

func outcome(res *mcp.CallToolResult, err error) string {
	switch {
	case err != nil, res != nil && res.IsError:
		return "error"
	case res != nil && res.InputRequests != nil:
		return "input_required"
	}
	return "ok"
}

// schemaOf returns the schema of a type. It panics on a type without one: all types are fixed here.
func schemaOf(s spec, t reflect.Type) *jsonschema.Schema {
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{})
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", s.name, err))
	}
	return schema
}

// bind puts the bounds and patterns of s into the schema of its arguments. It panics if an argument does not exist.
func (s spec) bind(schema *jsonschema.Schema) {
	for arg, b := range s.bounds {
		preset, err := json.Marshal(b.preset)
		if err != nil {
			panic(fmt.Sprintf("tool %s: %v", s.name, err))
		}
		p := schema.Properties[arg]
		p.Minimum, p.Maximum, p.Default = &b.min, &b.max, preset
	}
	for arg, pattern := range s.patterns {
		schema.Properties[arg].Pattern = pattern
	}
}

func (c *call) note(event, detail string) {
	c.journal.note(Event{Event: event, Tool: c.tool, Detail: detail})
}

// progress sends the progress of the call to the client, if the client asked for it. The work goes on if the send
// fails.
func (c *call) progress(ctx context.Context, done, total int, message string) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return
	}
	_ = c.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: token, Progress: float64(done), Total: float64(total), Message: message,
	})
}

// log sends a log message. The SDK drops it if the client's level excludes it.
func (c *call) log(ctx context.Context, level mcp.LoggingLevel, message string) {
	_ = c.req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: level, Logger: c.tool, Data: message})
}

// modern reports whether the session's era has input_required results for questions (2026-07-28).
func (c *call) modern() bool {
	p := c.req.Session.InitializeParams()
	return p == nil || p.ProtocolVersion >= "2026-07-28"
}

func text(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

type sleepArgs struct {
	Seconds float64 `json:"seconds,omitempty" jsonschema:"how long to sleep, in seconds"`
	Steps   int     `json:"steps,omitempty" jsonschema:"how many progress notifications to send on the way"`
}

type longTaskArgs struct {
	Steps  int `json:"steps,omitempty" jsonschema:"how many steps there are"`
	StepMS int `json:"step_ms,omitempty" jsonschema:"how long a step takes, in milliseconds"`
}

type stubbornArgs struct {
	MS int `json:"ms,omitempty" jsonschema:"how long to work, in milliseconds, cancelled or not"`
}

// addTimed adds the tools that mostly wait.
func (d *demo) addTimed() {
	add(d, spec{
		name: "sleep", title: "Sleep",
		description: "Sleeps for some seconds and reports progress. Stops at once when it is cancelled.",
		bounds:      map[string]bound{"seconds": {0, 3600, 5}, "steps": {1, 1000, 10}},
	}, func(ctx context.Context, c *call, in sleepArgs) (*mcp.CallToolResult, any, error) {
		total := time.Duration(in.Seconds * float64(time.Second))
		for i := range in.Steps {
			// Each step ends at its share of the total, so that rounding errors do not add up.
			step := total*time.Duration(i+1)/time.Duration(in.Steps) - total*time.Duration(i)/time.Duration(in.Steps)
			if err := wait(ctx, step); err != nil {
				return nil, nil, fmt.Errorf("woken after %d of %d steps: %w", i, in.Steps, err)
			}
			c.progress(ctx, i+1, in.Steps, fmt.Sprintf("slept %v of %v", total*time.Duration(i+1)/time.Duration(in.Steps),
				total))
		}
		return text("slept %v", total), nil, nil
	})

	add(d, spec{
		name: "long_task", title: "Long task",
		description: "Works step by step, with a log message and progress for each step. A cancel is noticed in the middle of a step.",
		bounds:      map[string]bound{"steps": {1, 10000, 10}, "step_ms": {0, 600000, 500}},
	}, func(ctx context.Context, c *call, in longTaskArgs) (*mcp.CallToolResult, any, error) {
		for i := range in.Steps {
			c.log(ctx, "info", fmt.Sprintf("step %d of %d begins", i+1, in.Steps))
			if err := wait(ctx, ms(in.StepMS)); err != nil {
				c.note(EventPartial, fmt.Sprintf("%d of %d steps done", i, in.Steps))
				return nil, nil, fmt.Errorf("stopped in step %d of %d: %w", i+1, in.Steps, err)
			}
			c.progress(ctx, i+1, in.Steps, fmt.Sprintf("step %d of %d done", i+1, in.Steps))
		}
		return text("all %d steps done", in.Steps), nil, nil
	})

	add(d, spec{
		name: "stubborn", title: "Stubborn",
		description: "Ignores cancellation: works to its end and answers late.",
		bounds:      map[string]bound{"ms": {0, 600000, 5000}},
	}, func(ctx context.Context, c *call, in stubbornArgs) (*mcp.CallToolResult, any, error) {
		if err := wait(context.WithoutCancel(ctx), ms(in.MS)); err != nil {
			return nil, nil, err
		}
		if ctx.Err() != nil {
			return text("worked on for %d ms although it was cancelled", in.MS), nil, nil
		}
		return text("worked for %d ms", in.MS), nil, nil
	})
}

// errSearchTime is the cause with which search_stream ends a search whose budget is spent.
var errSearchTime = errors.New("the search's budget is spent")

type datasetArgs struct {
	Rows    int `json:"rows,omitempty" jsonschema:"how many rows there are"`
	Chunk   int `json:"chunk,omitempty" jsonschema:"how many rows are done between two looks for a cancel"`
	ChunkMS int `json:"chunk_ms,omitempty" jsonschema:"how long a chunk takes, in milliseconds"`
}

type searchArgs struct {
	Query    string `json:"query" jsonschema:"what to search for"`
	BudgetMS int    `json:"budget_ms,omitempty" jsonschema:"how long the search may take, in milliseconds"`
}

type searchResult struct {
	Results []string `json:"results" jsonschema:"what was found"`
	Partial bool     `json:"partial" jsonschema:"whether time was up before everything was searched"`
}

// A search finds searchHits results, one each searchHitMS milliseconds.
const (
	searchHits  = 10
	searchHitMS = 200
)

// addBatches adds the tools that process many items and can report their progress.
func (d *demo) addBatches() {
	add(d, spec{
		name: "process_dataset", title: "Process a dataset",
		description: "Processes rows in chunks and looks for a cancel between two chunks only, never inside one.",
		bounds:      map[string]bound{"rows": {1, 1e9, 10000}, "chunk": {1, 1e9, 1000}, "chunk_ms": {0, 600000, 300}},
	}, func(ctx context.Context, c *call, in datasetArgs) (*mcp.CallToolResult, any, error) {
		whole := context.WithoutCancel(ctx)
		for done := 0; done < in.Rows; {
			if ctx.Err() != nil {
				summary := fmt.Sprintf("%d of %d rows done", done, in.Rows)
				c.note(EventPartial, summary)
				return nil, nil, fmt.Errorf("%s: %w", summary, context.Cause(ctx))
			}
			if err := wait(whole, ms(in.ChunkMS)); err != nil {
				return nil, nil, err
			}
			done = min(done+in.Chunk, in.Rows)
			c.progress(ctx, done, in.Rows, fmt.Sprintf("%d rows done", done))
		}
		return text("all %d rows done", in.Rows), nil, nil
	})

	add(d, spec{
		name: "search_stream", title: "Search",
		description: "Finds results one after the other and reports each as progress. When its budget is spent, answers what it has, marked as partial.",
		bounds:      map[string]bound{"budget_ms": {1, 600000, 1000}},
	}, func(ctx context.Context, c *call, in searchArgs) (*mcp.CallToolResult, searchResult, error) {
		limited, stop := context.WithTimeoutCause(ctx, ms(in.BudgetMS), errSearchTime)
		defer stop()
		found := searchResult{Results: []string{}}
		for i := range searchHits {
			err := wait(limited, ms(searchHitMS))
			if errors.Is(err, errSearchTime) {
				found.Partial = true
				return nil, found, nil
			}
			if err != nil {
				return nil, found, fmt.Errorf("search stopped after %d results: %w", i, err)
			}
			hit := fmt.Sprintf("%s, result %d", in.Query, i+1)
			found.Results = append(found.Results, hit)
			c.progress(ctx, i+1, searchHits, hit)
		}
		return nil, found, nil
	})
}

// maxAnalyses limits how many analyses are kept.
const maxAnalyses = 1000

// analysis is background work that outlives its request. It is a span of time without a goroutine: its progress follows
// from the clock, so nothing has to be stopped when the server ends.
type analysis struct {
	started time.Time
	takes   time.Duration
}

type startArgs struct {
	MS int `json:"ms,omitempty" jsonschema:"how long the analysis takes, in milliseconds"`
}

type startResult struct {
	ID string `json:"id" jsonschema:"the name under which to ask for its state"`
}

type statusArgs struct {
	ID string `json:"id" jsonschema:"what start_analysis answered"`
}

type statusResult struct {
	ID      string `json:"id"`
	State   string `json:"state" jsonschema:"running or done"`
	Percent int    `json:"percent"`
}

// addAnalysis adds the pair of tools for background work that the client polls. A cancel of the request that started
// the work does not stop it.
func (d *demo) addAnalysis() {
	add(d, spec{
		name: "start_analysis", title: "Start an analysis",
		description: "Starts work in the background and answers its id at once. The work goes on whatever becomes of the request.",
		traits:      additive,
		bounds:      map[string]bound{"ms": {0, 3600000, 5000}},
	}, func(_ context.Context, c *call, in startArgs) (*mcp.CallToolResult, startResult, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.analyses) >= maxAnalyses {
			return nil, startResult{}, fmt.Errorf("there are %d analyses already", maxAnalyses)
		}
		id := "analysis-" + strconv.Itoa(len(c.analyses)+1)
		c.analyses[id] = analysis{started: time.Now(), takes: ms(in.MS)}
		return nil, startResult{ID: id}, nil
	})

	add(d, spec{
		name: "check_status", title: "Check an analysis",
		description: "Says how far an analysis is.",
	}, func(_ context.Context, c *call, in statusArgs) (*mcp.CallToolResult, statusResult, error) {
		c.mu.Lock()
		a, ok := c.analyses[in.ID]
		c.mu.Unlock()
		if !ok {
			return nil, statusResult{}, fmt.Errorf("there is no analysis %q", in.ID)
		}
		gone := time.Since(a.started)
		if gone >= a.takes {
			return nil, statusResult{ID: in.ID, State: "done", Percent: 100}, nil
		}
		return nil, statusResult{ID: in.ID, State: "running", Percent: int(100 * gone / a.takes)}, nil
	})
}

// errScanTime is the cause with which scan_directory ends at its own time limit.
var errScanTime = errors.New("the scan's own time limit is over")

type scanArgs struct {
	Path      string `json:"path,omitempty" jsonschema:"the directory to scan; the working directory when left out"`
	TimeoutMS int    `json:"timeout_ms,omitempty" jsonschema:"the tool's own time limit, in milliseconds"`
	EntryMS   int    `json:"entry_ms,omitempty" jsonschema:"how long each entry takes, in milliseconds"`
}

type processFileArgs struct {
	Path    string `json:"path,omitempty" jsonschema:"the file to process"`
	Content string `json:"content,omitempty" jsonschema:"the text to process, when there is no path"`
	HoldMS  int    `json:"hold_ms,omitempty" jsonschema:"how long to hold the temporary file, in milliseconds"`
}

// addFiles adds the tools that use the file system.
func (d *demo) addFiles() {
	add(d, spec{
		name: "scan_directory", title: "Scan a directory",
		description: "Counts the entries below a directory under a time limit of its own. When that expires, answers an error that says how far it came.",
		bounds:      map[string]bound{"timeout_ms": {1, 600000, 2000}, "entry_ms": {0, 10000, 20}},
	}, scanDirectory)

	add(d, spec{
		name: "process_file", title: "Process a file",
		description: "Copies a file or a text into a temporary file, holds it for a while and counts its lines. The temporary file is removed however the call ends.",
		traits:      additive,
		bounds:      map[string]bound{"hold_ms": {0, 600000, 2000}},
	}, processFile)
}

func scanDirectory(ctx context.Context, c *call, in scanArgs) (*mcp.CallToolResult, any, error) {
	root := in.Path
	if root == "" {
		root = "."
	}
	limited, stop := context.WithTimeoutCause(ctx, ms(in.TimeoutMS), errScanTime)
	defer stop()
	var dirs, files, unreadable int
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return err
		case err != nil:
			unreadable++
			return nil
		case e.IsDir():
			dirs++
		default:
			files++
		}
		c.progress(ctx, dirs+files, 0, fmt.Sprintf("%d entries", dirs+files))
		return wait(limited, ms(in.EntryMS))
	})
	seen := fmt.Sprintf("%d directories, %d files, %d unreadable", dirs, files, unreadable)
	switch {
	case errors.Is(err, errScanTime):
		return nil, nil, fmt.Errorf("gave up after %d ms (timeout_ms): %s so far", in.TimeoutMS, seen)
	case err != nil:
		if ctx.Err() != nil {
			c.note(EventPartial, seen)
		}
		return nil, nil, fmt.Errorf("scan ended after %s: %w", seen, err)
	}
	return text("%s", seen), nil, nil
}

func processFile(ctx context.Context, c *call, in processFileArgs) (_ *mcp.CallToolResult, _ any, err error) {
	content := []byte(in.Content)
	if in.Path != "" {
		if content, err = os.ReadFile(in.Path); err != nil {
			return nil, nil, err
		}
	}
	f, err := os.CreateTemp(c.opts.TempDir, "mcphub-demo-*")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	c.note(EventTempFile, f.Name())
	if _, err := f.Write(content); err != nil {
		return nil, nil, err
	}
	const steps = 10
	for i := range steps {
		if err := wait(ctx, ms(in.HoldMS)/steps); err != nil {
			return nil, nil, fmt.Errorf("stopped with the temporary file still there, which is removed now: %w", err)
		}
		c.progress(ctx, i+1, steps, "processing")
	}
	return text("%d bytes, %d lines", len(content), strings.Count(string(content), "\n")), nil, nil
}

type echoArgs struct {
	Text string `json:"text" jsonschema:"what to say back"`
}

type crashArgs struct {
	Code int `json:"code,omitempty" jsonschema:"the exit status"`
}

type bigArgs struct {
	Bytes int `json:"bytes,omitempty" jsonschema:"the length of the text to answer"`
}

type addToolArgs struct {
	Name string `json:"name" jsonschema:"the name of the new tool"`
}

// addTroubles adds the simplest tool, and the tools that cause trouble on purpose.
func (d *demo) addTroubles() {
	add(d, spec{
		name: "echo", title: "Echo",
		description: "Says the text back.",
	}, echo)

	add(d, spec{
		name: "crash", title: "Crash",
		description: "Ends the server's process in the middle of the call.",
		traits:      harmful,
		bounds:      map[string]bound{"code": {0, 125, 1}},
	}, func(_ context.Context, c *call, in crashArgs) (*mcp.CallToolResult, any, error) {
		c.opts.Exit(in.Code)
		return nil, nil, fmt.Errorf("still alive after exit %d", in.Code)
	})

	add(d, spec{
		name: "big", title: "Big result",
		description: "Answers a text of exactly so many bytes.",
		bounds:      map[string]bound{"bytes": {0, 512 << 20, 1 << 20}},
	}, func(_ context.Context, _ *call, in bigArgs) (*mcp.CallToolResult, any, error) {
		const row = "0123456789abcdef"
		return text("%s", strings.Repeat(row, in.Bytes/len(row)+1)[:in.Bytes]), nil, nil
	})

	add(d, spec{
		name: "add_tool", title: "Add a tool",
		description: "Adds a tool to this server that says its text back, or puts it in the place of one that is there; clients are told that the list changed.",
		traits:      additive,
		patterns:    map[string]string{"name": "^[A-Za-z0-9_.-]{1,64}$"},
	}, func(_ context.Context, c *call, in addToolArgs) (*mcp.CallToolResult, any, error) {
		add(c.demo, spec{
			name: in.Name, title: "Added: " + in.Name,
			description: "Says the text back. Was added while the server ran.",
		}, echo)
		return text("added %s", in.Name), nil, nil
	})
}

func echo(_ context.Context, _ *call, in echoArgs) (*mcp.CallToolResult, any, error) {
	return text("%s", in.Text), nil, nil
}
