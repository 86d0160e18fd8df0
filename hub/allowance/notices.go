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

// ToolsChanged is the notice that the tools are others: outdate, with the lock, forgets those that are known, whether
// the windows are told at once or later. It takes the lock.
func (a *Allowance) ToolsChanged(outdate func()) {
	tell := a.mayNotice(noticeTools)
	a.house.Update(func() {
		outdate()
		if tell {
			a.house.Emit(&event.ToolsChanged{Server: a.server})
		}
	})
}

// ResourcesChanged tells the windows. It takes the lock, as those below it do.
func (a *Allowance) ResourcesChanged() {
	if a.mayNotice(noticeResources) {
		a.emit(&event.ResourcesChanged{Server: a.server})
	}
}

// PromptsChanged tells the windows.
func (a *Allowance) PromptsChanged() {
	if a.mayNotice(noticePrompts) {
		a.emit(&event.McpPromptsChanged{Server: a.server})
	}
}

// ResourceUpdated tells the windows. The URI is the server's word: it may be one below the one that was subscribed to.
func (a *Allowance) ResourceUpdated(uri string) {
	switch {
	case !a.mayNotice(noticeUpdate):
	case len(uri) <= bounds.URIBytes:
		a.emit(&event.ResourceUpdated{Server: a.server, URI: uri})
	case a.complaints.Allow(time.Now()):
		a.log.Warn("an update of a resource was dropped: its URI is too long", "server", a.server, "bytes", len(uri))
	}
}

// Noticed is for notifications that mean nothing to the hub yet.
func (a *Allowance) Noticed(string) {}

func (a *Allowance) emit(b event.Body) { a.house.Update(func() { a.house.Emit(b) }) }

// mayNotice tells whether a notice of a change may pass. One that may not is told later: the windows look again then,
// once for all that did not pass.
func (a *Allowance) mayNotice(kind noticeKind) bool {
	if a.notices.Allow(time.Now()) {
		return true
	}
	a.unsaid.Or(uint32(kind))
	a.soon(&a.noticesSoon, a.tellUnsaid)
	return false
}

// tellUnsaid tells the windows what has changed by notices that did not pass. Of resources that were updated only the
// number is known. The lock is held.
func (a *Allowance) tellUnsaid() {
	kinds, n := noticeKind(a.unsaid.Swap(0)), a.notices.Dropped()
	if kinds == 0 || a.gone {
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
