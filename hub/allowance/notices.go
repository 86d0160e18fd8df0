package allowance

import (
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// noticeKind is what a notice of a change is about.
type noticeKind uint32

const (
	noticeTools noticeKind = 1 << iota
	noticeResources
	noticePrompts
	noticeUpdate // of one resource
)

// ToolsChanged handles the notice that the tools have changed. outdate is called with the lock, and forgets the known
// tools, whether the windows are told now or later. ToolsChanged takes the lock.
func (a *Allowance) ToolsChanged(outdate func()) {
	tell := a.mayNotice(noticeTools)
	a.house.Update(func() {
		outdate()
		if tell {
			a.house.Emit(&event.ToolsChanged{Server: a.server})
		}
	})
}

// ResourcesChanged tells the windows that the resources have changed. It takes the lock.
func (a *Allowance) ResourcesChanged() {
	if a.mayNotice(noticeResources) {
		a.emit(&event.ResourcesChanged{Server: a.server})
	}
}

// PromptsChanged tells the windows that the prompt templates have changed. It takes the lock.
func (a *Allowance) PromptsChanged() {
	if a.mayNotice(noticePrompts) {
		a.emit(&event.McpPromptsChanged{Server: a.server})
	}
}

// ResourceUpdated tells the windows that a resource has changed. The server chooses the URI: it may be one below the
// URI that was subscribed to. ResourceUpdated takes the lock.
func (a *Allowance) ResourceUpdated(uri string) {
	switch {
	case !a.mayNotice(noticeUpdate):
	case len(uri) <= bounds.URIBytes:
		a.emit(&event.ResourceUpdated{Server: a.server, URI: uri})
	case a.complaints.Allow(time.Now()):
		a.log.Warn("an update of a resource was dropped: its URI is too long", "server", a.server, "bytes", len(uri))
	}
}

func (a *Allowance) emit(b event.Body) { a.house.Update(func() { a.house.Emit(b) }) }

// mayNotice reports whether a notice of a change may pass now. If it may not, the windows are told later, once for all
// notices that were held back, and look again then.
func (a *Allowance) mayNotice(kind noticeKind) bool {
	if a.notices.Allow(time.Now()) {
		return true
	}
	a.unsaid.Or(uint32(kind))
	a.soon()
	return false
}

// tellUnsaid tells the windows what has changed according to the notices that were held back. Of updated resources only
// the number is known. It is called with the lock.
func (a *Allowance) tellUnsaid() {
	kinds, n := noticeKind(a.unsaid.Swap(0)), a.notices.Dropped()
	if kinds == 0 {
		return
	}
	a.log.Warn("notices of changes are dropped: the server sends too many", "server", a.server, "count", n,
		"limit_per_second", bounds.NoticeRate)
	if kinds&noticeTools != 0 {
		a.house.Emit(&event.ToolsChanged{Server: a.server})
	}
	if kinds&noticeResources != 0 {
		a.house.Emit(&event.ResourcesChanged{Server: a.server})
	}
	if kinds&noticePrompts != 0 {
		a.house.Emit(&event.McpPromptsChanged{Server: a.server})
	}
	if kinds&noticeUpdate != 0 {
		a.Note("noticesDropped", map[string]string{
			"count": strconv.FormatInt(n, 10), "limitPerSecond": strconv.Itoa(bounds.NoticeRate),
		})
	}
}
