package hostile

import (
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// page is the size of a list page.
const page = 8 << 20

// changesAlways reports a change of its tools whenever they are listed, and lists another definition each time. Counts:
// lists, calls.
func changesAlways(s *Server) {
	s.Handle("tools/list", func(c *fakeserver.CallContext) {
		n := s.count("lists")
		_ = s.Notify("notifications/tools/list_changed", "")
		c.Result(fmt.Sprintf(`{"tools":[{"name":%q,"description":"version %d","inputSchema":{"type":"object"}}]}`, Tool, n))
	})
	s.Tool(Tool, func(c *fakeserver.CallContext) {
		s.count("calls")
		c.Text("done")
	})
}

// listsForever answers with an endless number of large pages. Counts: pages.
func listsForever(s *Server) {
	s.Handle("tools/list", func(c *fakeserver.CallContext) {
		n := s.count("pages")
		c.Result(fmt.Sprintf(`{"tools":[{"name":"t%d","description":%q,"inputSchema":{"type":"object"}}],"nextCursor":"%d"}`,
			n, strings.Repeat("x", page), n))
	})
}

// listsMany answers with an endless number of small pages. Counts: pages.
func listsMany(s *Server) {
	s.Handle("tools/list", func(c *fakeserver.CallContext) {
		n := s.count("pages")
		c.Result(fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{"type":"object"}}],"nextCursor":"%d"}`, n, n))
	})
}

// answersLarge answers a call with a text of the given size.
func answersLarge(bytes int) func(*Server) {
	return func(s *Server) {
		text := strings.Repeat("x", bytes)
		s.Tool(Tool, func(c *fakeserver.CallContext) { c.Text(text) })
	}
}

// startsSlowly never answers initialize. Counts: starts.
func startsSlowly(s *Server) {
	s.Handle("initialize", func(c *fakeserver.CallContext) {
		s.count("starts")
		_ = c.Hang()
	})
}

func init() {
	for name, b := range map[string]behaviour{
		"changes-always": {about: "A3: its tools change whenever it is asked for them", make: changesAlways},
		"list-forever":   {about: "A5: an endless list of pages of 8 MiB", make: listsForever},
		"list-many":      {about: "A5: an endless list of small pages", make: listsMany},
		"large-answer":   {about: "A15: an answer of 32 MiB", make: answersLarge(32 << 20)},
		"answer-2m":      {about: "A15: an answer of 2 MiB", make: answersLarge(2 << 20)},
		"start-never":    {about: "A14: it never answers initialize", make: startsSlowly},
	} {
		behaviours[name] = b
	}
}
