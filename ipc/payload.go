package ipc

import "github.com/mcphub-go/mcphub/hub"

// eventOverhead is what an event takes besides its text.
const eventOverhead = 256

// payload is about how many bytes an event holds. It looks at what can be large only: it is called under the hub's lock.
func payload(b hub.EventBody) int {
	n := eventOverhead
	switch b := b.(type) {
	case *hub.ServerChanged:
		n += len(b.Server.Instructions) + len(b.Server.Capabilities) + len(b.Server.LastError)
		for _, line := range b.Server.Stderr {
			n += len(line)
		}
	case *hub.PromptOpened:
		if a := b.Prompt.Approval; a != nil {
			n += len(a.Arguments) + len(a.Tool.Definition) + len(a.Tool.Description)
		}
		if q := b.Prompt.Question; q != nil {
			n += len(q.Payload) + len(q.Schema) + len(q.Message) + len(q.URL)
		}
		if s := b.Prompt.SignIn; s != nil {
			n += len(s.URL)
		}
	case *hub.ResourceUpdated:
		n += len(b.URI)
	case *hub.RequestProgressed:
		if b.Progress != nil {
			n += len(b.Progress.Message)
		}
	case *hub.RequestFinished:
		n += len(b.Result)
		if b.McpError != nil {
			n += len(b.McpError.Message) + len(b.McpError.Data)
		}
	case *hub.LogMessage:
		n += len(b.Data)
	}
	return n
}
