package hostile

import (
	"fmt"
	"strings"
)

// Config files of a hostile folder: JSON texts for a source of scope workspace.

// ManyServers is a file with n servers that a launch would start at once.
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

// ManyVariables is a file with one server that sets n variables of the environment.
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

// ManyArguments is a file with one server of n arguments.
func ManyArguments(n int) string {
	return `{"servers":{"args":{"command":"none","args":[` + strings.TrimSuffix(strings.Repeat(`"a",`, n), ",") + `]}}}`
}

// ManyLazyServers is a file with n servers that start when they are needed.
func ManyLazyServers(n int) string {
	return strings.ReplaceAll(ManyServers(n), `,"start":"eager"`, "")
}
