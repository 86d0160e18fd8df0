package hostile

import (
	"fmt"
	"io"
	"strings"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// deepJSON is a nesting that is deeper than any reader should follow.
const deepJSON = 20_000

// longLine is longer than a message may be (maxMessageBytes, by default 64 MiB); a test lowers that setting.
const longLine = 3 << 20

func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// answersDeep answers a call with a result that is nested too deep.
func answersDeep(s *Server) {
	s.Tool(Tool, func(c *fakeserver.CallContext) { c.Result(`{"content":[],"deep":` + deep(deepJSON) + `}`) })
}

// listsDeep answers tools/list with a result that is nested too deep.
func listsDeep(s *Server) {
	s.Handle("tools/list", func(c *fakeserver.CallContext) { c.Result(`{"tools":[],"deep":` + deep(deepJSON) + `}`) })
}

// logsLong prints a line that is not a message and is longer than a message may be, and then answers. Counts: logged.
func logsLong(s *Server) {
	s.Tool(Tool, func(c *fakeserver.CallContext) {
		_ = s.SendLine("DEBUG " + strings.Repeat("x", longLine))
		s.count("logged")
		c.Text("the real answer")
	})
}

// storms sends n log messages, each together with a change of its tools and progress, and then answers. Counts: storms.
func storms(n int) func(*Server) {
	return func(s *Server) {
		s.Tool(Tool, func(c *fakeserver.CallContext) {
			for i := range n {
				c.Log("error", strings.Repeat("log ", 50))
				c.Progress(float64(i), float64(n), strings.Repeat("progress ", 20))
				_ = s.NotifyToolsChanged()
			}
			s.count("storms")
			c.Text("phew")
		})
	}
}

// floods writes to stderr until done is closed.
func floods(s *Server) {
	s.Tool(Tool, func(c *fakeserver.CallContext) { c.Text("see stderr") })
	s.Stderr = func(w io.Writer, done <-chan struct{}) {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			if _, err := fmt.Fprintf(w, "%d %s\n", i, strings.Repeat("stderr ", 20)); err != nil {
				return
			}
		}
	}
}

func init() {
	for name, b := range map[string]behaviour{
		"deep-answer": {about: "A8: an answer that nests 20,000 deep", make: answersDeep},
		"deep-list":   {about: "A8: a list of tools that nests 20,000 deep", make: listsDeep},
		"long-log":    {about: "A9: a log line on stdout that is longer than a message may be", make: logsLong},
		"storm":       {about: "A6: 3,000 logs, changes of its tools and progress in one call", make: storms(3_000)},
		"stderr":      {about: "A6: an endless stderr", make: floods},
	} {
		behaviours[name] = b
	}
}
