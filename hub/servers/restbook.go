package servers

import (
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// Rest is what a server offers beside its tools.
type Rest struct {
	Resources []mcp.Resource
	Templates []mcp.ResourceTemplate
	Prompts   []mcp.Prompt
}

// restList is one record of the file, like toolList.
type restList struct {
	Server    string    `json:"server"`
	Launch    string    `json:"launch"`
	Time      time.Time `json:"time"`
	Resources []string  `json:"resources,omitempty"`
	Templates []string  `json:"templates,omitempty"`
	Prompts   []string  `json:"prompts,omitempty"`
}

func (l restList) Key() toolKey    { return toolKey{server: l.Server, launch: l.Launch} }
func (l restList) When() time.Time { return l.Time }

func (l *restList) bytes() (n int) {
	for _, list := range [][]string{l.Resources, l.Templates, l.Prompts} {
		for _, s := range list {
			n += len(s)
		}
	}
	return n
}

var restForm = statefile.ListForm[restList]{File: "offers.json", Member: "servers", Version: 1,
	Max: maxToolLists, Room: maxToolBytes}

// restBook stores the resources, templates and prompts of servers on disk, for when a server is not connected.
type restBook struct {
	*statefile.List[toolKey, restList]
	load func() // reads the file, once
}

func openRest(dir string, log *slog.Logger) *restBook {
	k := statefile.OpenList(dir, restForm, log)
	return &restBook{k, sync.OnceFunc(k.Refresh)}
}

// KeepRest stores what s has listed. It takes the lock, and writes a file.
func (s *Server) KeepRest(r *Rest) {
	b := s.table.rest
	b.load()
	l := restList{Time: time.Now().UTC()}
	for _, one := range r.Resources {
		l.Resources = append(l.Resources, string(one.Raw))
	}
	for _, one := range r.Templates {
		l.Templates = append(l.Templates, string(one.Raw))
	}
	for _, one := range r.Prompts {
		l.Prompts = append(l.Prompts, string(one.Raw))
	}
	var key toolKey
	s.table.House.Update(func() { key = keyOfTools(s) })
	l.Server, l.Launch = key.server, key.launch
	was, had := b.Get(key)
	switch {
	case l.bytes() > maxToolListBytes: // too long to be kept; the stored lists are outdated all the same
		b.Drop(func(k toolKey, _ restList) bool { return k == key })
	case had && slices.Equal(was.Resources, l.Resources) && slices.Equal(was.Templates, l.Templates) &&
		slices.Equal(was.Prompts, l.Prompts) && l.Time.Sub(was.Time) < toolListFresh:
		return
	default:
		b.Put(l)
	}
	b.Save()
}

// RecallRest returns what s listed last under its present launch key, perhaps to an earlier hub, or nil if there is no
// such record. It takes the lock, and may read a file.
func (s *Server) RecallRest() *Rest {
	b := s.table.rest
	b.load()
	var key toolKey
	s.table.House.Update(func() { key = keyOfTools(s) })
	l, ok := b.Get(key)
	if !ok {
		return nil
	}
	return &Rest{Resources: recalled(l.Resources, mcp.ResourceOf),
		Templates: recalled(l.Templates, mcp.ResourceTemplateOf),
		Prompts:   recalled(l.Prompts, mcp.PromptOf)}
}

// recalled decodes texts, and leaves out those that cannot be decoded.
func recalled[T any](texts []string, read func(json.RawMessage) (T, error)) (list []T) {
	for _, raw := range texts {
		if one, err := read(json.RawMessage(raw)); err == nil {
			list = append(list, one)
		}
	}
	return list
}
