package hostile

import (
	"fmt"
	"strings"
)

// Config files of a hostile folder: JSON texts for a source of scope workspace.

// ManyServers returns a file with n servers that would all be started at once.
func ManyServers(n int) string {
	var b strings.Builder
	b.WriteString(`{"servers":{`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"s%d":{"command":"none","args":["%d"],"start":"eager"}`, i, i)
	}
	b.WriteString(`}}`)
	return b.String()
}

// ManyVariables returns a file with one server that sets n environment variables.
func ManyVariables(n int) string {
	var b strings.Builder
	b.WriteString(`{"servers":{"vars":{"command":"none","env":{`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"V%d":"%d"`, i, i)
	}
	b.WriteString(`}}}}`)
	return b.String()
}

// ManyArguments returns a file with one server that has n arguments.
func ManyArguments(n int) string {
	return `{"servers":{"args":{"command":"none","args":[` + strings.TrimSuffix(strings.Repeat(`"a",`, n), ",") + `]}}}`
}

// ManyLazyServers returns a file with n servers that start when they are needed.
func ManyLazyServers(n int) string {
	return strings.ReplaceAll(ManyServers(n), `,"start":"eager"`, "")
}
