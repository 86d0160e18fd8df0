package hostile

import (
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// LikeGood is a name that looks like that of the server good.
const LikeGood = "g\u043e\u043ed"

// longName is the name of a tool that fills every place where it is shown.
var longName = strings.Repeat("tool", 25_000)

// longNames has a tool with a name, title and description of 100,000 characters, and such names for the server itself.
func longNames(s *Server) {
	s.ToolWith(fmt.Sprintf(`{"name":%q,"title":%[1]q,"description":%[1]q,"inputSchema":{"type":"object"}}`, longName),
		func(c *fakeserver.CallContext) { c.Text("hello") })
}

func init() {
	behaviours["long-names"] = behaviour{
		about: "C9: names, a version and instructions of 100,000 characters", make: longNames,
		opts: []fakeserver.Option{
			fakeserver.WithName(longName, longName), fakeserver.WithInstructions(longName),
			fakeserver.WithCapabilities(`{"tools":{},"logging":{},"experimental":{"x":"` + longName + `"}}`),
		},
	}
}
