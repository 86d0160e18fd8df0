//lint:file-ignore SA1019 sampling, roots and logging are deprecated since 2026-07-28; the clients of older revisions still use them.

package demoserver_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/internal/demoserver"
)

func TestEveryToolIsDescribed(t *testing.T) {
	inBubble(t, clientOptions{}, func(t *testing.T, _ *served, c *client) {
		res, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range res.Tools {
			names = append(names, tool.Name)
			if tool.Title == "" || tool.Description == "" || tool.Annotations == nil || tool.InputSchema == nil {
				t.Errorf("%s lacks a title, a description, annotations or a schema", tool.Name)
				continue
			}
			props, ok := tool.InputSchema.(map[string]any)["properties"].(map[string]any)
			if !ok {
				t.Errorf("the schema of %s has no properties, which some models refuse", tool.Name)
			}
			for arg, p := range props {
				if d, _ := p.(map[string]any)["description"].(string); d == "" {
					t.Errorf("argument %s of %s has no description", arg, tool.Name)
				}
			}
		}
		slices.Sort(names)
		want := []string{
			"add_tool", "ask_name", "ask_then_withdraw", "big", "check_status", "crash", "echo", "list_roots", "long_task",
			"open_page", "process_dataset", "process_file", "sample_then_withdraw", "scan_directory", "search_stream", "sleep",
			"start_analysis", "stubborn", "summarize",
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
	})
}

func TestEchoSaysTheTextBack(t *testing.T) {
	for _, rev := range []string{legacy, modern} {
		t.Run(rev, func(t *testing.T) {
			inBubble(t, clientOptions{revision: rev}, func(t *testing.T, _ *served, c *client) {
				if got, isErr := c.text("echo", map[string]any{"text": "häl\nlo"}); got != "häl\nlo" || isErr {
					t.Errorf("got %q, isError %v", got, isErr)
				}
			})
		})
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	inBubble(t, clientOptions{}, func(t *testing.T, s *served, c *client) {
		for tool, args := range map[string]map[string]any{
			"sleep":    {"seconds": -1},
			"big":      {"bytes": 1e12},
			"echo":     {},
			"add_tool": {"name": "no blanks"},
		} {
			if got, isErr := c.text(tool, args); !isErr {
				t.Errorf("%s %v answered %q, want an error", tool, args, got)
			}
		}
		for _, e := range s.events() {
			if e.Event == demoserver.EventStarted {
				t.Errorf("%s ran with bad arguments", e.Tool)
			}
		}
	})
}

func TestSleepReportsProgress(t *testing.T) {
	inBubble(t, clientOptions{}, func(t *testing.T, _ *served, c *client) {
		begin := time.Now()
		if got, _ := c.text("sleep", map[string]any{"seconds": 3, "steps": 3}); got != "slept 3s" {
			t.Errorf("got %q", got)
		}
		if d := time.Since(begin); d != 3*time.Second {
			t.Errorf("took %v, want 3s", d)
		}
		synctest.Wait()
		if n := len(c.progress); n != 3 {
			t.Fatalf("%d progress notifications, want 3", n)
		}
		for i := range 3 {
			if p := <-c.progress; p.Progress != float64(i+1) || p.Total != 3 || p.ProgressToken != "token-sleep" {
				t.Errorf("progress %d is %+v", i, p)
			}
		}
	})
}

func TestLongTaskLogsEachStep(t *testing.T) {
	inBubble(t, clientOptions{}, func(t *testing.T, _ *served, c *client) {
		if err := c.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
			t.Fatal(err)
		}
		if got, _ := c.text("long_task", map[string]any{"steps": 2, "step_ms": 10}); got != "all 2 steps done" {
			t.Errorf("got %q", got)
		}
		synctest.Wait()
		if len(c.logs) != 2 || len(c.progress) != 2 {
			t.Fatalf("%d logs, %d progress; want 2 and 2", len(c.logs), len(c.progress))
		}
		if l := <-c.logs; l.Data != "step 1 of 2 begins" || l.Logger != "long_task" {
			t.Errorf("log %+v", l)
		}
	})
}

func TestScanDirectoryCounts(t *testing.T) {
	inBubble(t, clientOptions{}, func(t *testing.T, _ *served, c *client) {
		if got,
			isErr := c.text("scan_directory",
			map[string]any{"path": "testdata/tree"}); got != "2 directories, 3 files, 0 unreadable" || isErr {
			t.Errorf("got %q, isError %v", got, isErr)
		}
		if got, isErr := c.text("scan_directory", map[string]any{"path": "testdata/missing"}); !isErr {
			t.Errorf("a missing directory gave %q", got)
		}
	})
}

func TestScanDirectoryExpires(t *testing.T) {
	inBubble(t, clientOptions{}, func(t *testing.T, s *served, c *client) {
		got, isErr := c.text("scan_directory", map[string]any{"path": "testdata/tree", "timeout_ms": 250, "entry_ms": 100})
		if want := "gave up after 250 ms (timeout_ms): 2 directories, 1 files, 0 unreadable so far"; got != want || !isErr {
			t.Errorf("got %q, isError %v", got, isErr)
		}
		for _, e := range s.events() {
			if e.Event == demoserver.EventCancelled {
				t.Errorf("its own time limit was taken for a cancel: %+v", e)
			}
		}
	})
}

func TestAnalysisOutlivesItsRequest(t *testing.T) {
	inBubble(t, clientOptions{}, func(t *testing.T, _ *served, c *client) {
		if got, _ := c.text("start_analysis", map[string]any{"ms": 1000}); got != `{"id":"analysis-1"}` {
			t.Fatalf("got %q", got)
		}
		for _, want := range []string{
			`{"id":"analysis-1","percent":0,"state":"running"}`,
			`{"id":"analysis-1","percent":60,"state":"running"}`,
			`{"id":"analysis-1","percent":100,"state":"done"}`,
		} {
			if got, _ := c.text("check_status", map[string]any{"id": "analysis-1"}); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if err := sleep(t, 600*time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		if got, isErr := c.text("check_status", map[string]any{"id": "analysis-9"}); !isErr {
			t.Errorf("an unknown analysis gave %q", got)
		}
	})
}

func TestSearchStreamAnswersWhatItHas(t *testing.T) {
	for budget, want := range map[int]struct {
		results int
		partial bool
	}{500: {2, true}, 5000: {10, false}} {
		inBubble(t, clientOptions{}, func(t *testing.T, _ *served, c *client) {
			res, err := c.call(t.Context(), "search_stream", map[string]any{"query": "go", "budget_ms": budget})
			if err != nil {
				t.Fatal(err)
			}
			m, ok := res.StructuredContent.(map[string]any)
			if !ok || res.IsError {
				t.Fatalf("result %+v", res)
			}
			if got := m["results"].([]any); len(got) != want.results || got[0] != "go, result 1" ||
				m["partial"] != want.partial {
				t.Errorf("budget %d: %v", budget, m)
			}
		})
	}
}

func TestBigIsExactlyThatBig(t *testing.T) {
	inBubble(t, clientOptions{}, func(t *testing.T, _ *served, c *client) {
		for _, n := range []int{0, 1, 15, 16, 17, 100_003} {
			if got, _ := c.text("big", map[string]any{"bytes": n}); len(got) != n {
				t.Errorf("asked for %d bytes, got %d", n, len(got))
			}
		}
	})
}

func TestAddToolTellsTheClient(t *testing.T) {
	for _, rev := range []string{legacy, modern} {
		t.Run(rev, func(t *testing.T) {
			inBubble(t, clientOptions{revision: rev}, func(t *testing.T, s *served, c *client) {
				if got, isErr := c.text("add_tool", map[string]any{"name": "brand_new"}); got != "added brand_new" || isErr {
					t.Errorf("got %q, isError %v", got, isErr)
				}
				<-c.changed
				if got, _ := c.text("brand_new", map[string]any{"text": "hi"}); got != "hi" {
					t.Errorf("got %q", got)
				}
				s.event(demoserver.EventStarted, "brand_new")
			})
		})
	}
}
