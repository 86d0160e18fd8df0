package event

// Overhead is about how many bytes an event takes besides its texts.
const Overhead = 256

// PayloadSize returns about how many bytes an event takes, so that queues of events can be bounded. It counts only what
// can be large, and may be called with a lock held.
func PayloadSize(b Body) int {
	n := Overhead
	switch b := b.(type) {
	case *ServerChanged:
		n += len(b.Server.Instructions) + len(b.Server.Capabilities) + len(b.Server.LastError)
		for _, line := range b.Server.Stderr {
			n += len(line)
		}
	case *PromptOpened:
		n += b.Prompt.Size()
	case *ResourceUpdated:
		n += len(b.URI)
	case *RequestStarted:
		n += len(b.Request.Subject)
	case *RequestProgressed:
		if b.Progress != nil {
			n += len(b.Progress.Message)
		}
	case *RequestCancelled:
		n += len(b.RequestID) + len(b.Tool) + len(b.Subject) + len(b.WireID) + len(b.Cancellation.Reason) +
			len(b.Sending.Err) + b.Err.Size()
	case *RequestCancelDelivery:
		n += len(b.RequestID) + len(b.Sending.Err)
	case *RequestFinished:
		n += len(b.RequestID) + len(b.Tool) + len(b.Subject) + len(b.Result) + b.ErrorSize()
	case *ConfigReloaded:
		for _, p := range b.Problems {
			n += len(p.Message)
		}
	case *LogMessage:
		n += len(b.Data)
	}
	return n
}

func (p *PromptInfo) Size() (n int) {
	if a := p.Approval; a != nil {
		n += len(a.Arguments) + len(a.Tool.Definition) + len(a.Tool.Description) + len(a.Previous)
		for _, c := range a.Changes {
			n += len(c.Path) + len(c.Before) + len(c.After)
		}
	}
	if q := p.Question; q != nil {
		n += len(q.Payload) + len(q.Schema) + len(q.Message) + len(q.URL)
	}
	if s := p.SignIn; s != nil {
		n += len(s.URL)
	}
	if l := p.Launch; l != nil {
		for _, arg := range l.Args {
			n += len(arg)
		}
		for _, c := range l.Changes {
			n += len(c.Path) + len(c.Before) + len(c.After)
		}
	}
	return n
}

// ErrorSize returns about how many bytes the error of a request takes, whether it is the server's or the hub's.
func (b *RequestFinished) ErrorSize() int {
	n := b.Err.Size()
	if e := b.McpError; e != nil {
		n += len(e.Message) + len(e.Data)
	}
	return n
}

// Size returns about how many bytes an error takes; 0 for nil.
func (e *Error) Size() int {
	if e == nil {
		return 0
	}
	n := len(e.Message)
	for k, v := range e.Meta {
		n += len(k) + len(v)
	}
	return n
}
