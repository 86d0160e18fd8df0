package windows

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// start returns the events that w missed, or a snapshot. w is not in the table yet. before is the window that has had
// its id until now, nil if there is none.
func (t *Table) start(w *Window, hello *Hello, before *Window) *Start {
	if resume := hello.Resume; resume != nil && before != nil && resume.HubID == t.HubID && resume.After <= t.seq {
		if missed, ok := t.missed.After(resume.After, w.id); ok {
			return t.resumed(w, before, missed)
		}
	}
	return t.snapshot(w, hello.MaxHistory)
}

// resumed returns a Start with the events that were missed, the prompts that w can show and before could not, and the
// progress of open requests.
func (t *Table) resumed(w, before *Window, missed []event.Event) *Start {
	s := &Start{Resumed: true}
	told := map[string]bool{}
	for _, e := range missed {
		opened, ok := e.Body.(*event.PromptOpened)
		if !w.wants(e.Body) || ok && told[opened.Prompt.ID] {
			continue
		}
		if ok {
			told[opened.Prompt.ID] = true
		}
		s.Events = append(s.Events, e)
	}
	for _, p := range t.House.Prompts() { // it may not have been sent those of kinds that are new to it
		if w.Shows(p.Info.Kind, p.WithTools) && !before.Shows(p.Info.Kind, p.WithTools) && !told[p.Info.ID] {
			s.Events = append(s.Events, t.private(w, &event.PromptOpened{Prompt: p.Info}))
		}
	}
	for _, r := range t.House.Requests() { // progress is not journaled
		s.Events = append(s.Events, t.private(w, &event.RequestProgressed{RequestID: r.ID, Server: r.Server,
			State: r.State, Progress: r.Progress, WireID: r.WireID, Task: r.Task}))
	}
	return s
}

func (t *Table) snapshot(w *Window, maxHistory int) *Start {
	servers, problems := t.House.Servers()
	snap := &event.Snapshot{Seq: t.seq, Time: time.Now(), Problems: problems, History: t.History.Latest(maxHistory),
		Requests: t.House.Requests(), Subscriptions: t.House.Subscriptions(w.id)}
	start := &Start{Snapshot: snap}
	room := bounds.SnapshotServers / max(len(servers), 1)
	for _, info := range servers {
		if event.PayloadSize(&event.ServerChanged{Server: info}) > room { // sent in full right after the snapshot
			start.Events = append(start.Events, event.Event{Body: &event.ServerChanged{Server: info}})
			info.Instructions, info.Capabilities, info.Stderr = "", "", nil
		}
		snap.Servers = append(snap.Servers, info)
	}
	room = bounds.SnapshotPrompts
	for _, p := range t.House.Prompts() {
		switch size := p.Info.Size(); {
		case !w.Shows(p.Info.Kind, p.WithTools):
		case size > room: // sent after the snapshot, as if they opened now
			start.Events = append(start.Events, event.Event{Body: &event.PromptOpened{Prompt: p.Info}})
		default:
			room -= size
			snap.Prompts = append(snap.Prompts, p.Info)
		}
	}
	for i, e := range start.Events { // their numbers must follow that of the snapshot
		start.Events[i] = t.private(w, e.Body)
	}
	return start
}
