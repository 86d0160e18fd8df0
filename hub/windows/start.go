package windows

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// snapshot returns what w is sent first. w is not in the table yet.
func (t *Table) snapshot(w *Window, maxHistory int) *Start {
	servers, problems := t.House.Servers()
	snap := &event.Snapshot{Time: time.Now(), Problems: problems, History: t.History.Latest(maxHistory),
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
		case !w.kinds.Has(p.Info.Kind, p.WithTools):
		case size > room: // sent after the snapshot, as if they opened now
			start.Events = append(start.Events, event.Event{Body: &event.PromptOpened{Prompt: p.Info}})
			snap.LaterPrompts = append(snap.LaterPrompts, p.Info.ID)
		default:
			room -= size
			snap.Prompts = append(snap.Prompts, p.Info)
		}
	}
	for i, e := range start.Events {
		start.Events[i] = t.numbered(e.Body)
	}
	return start
}
