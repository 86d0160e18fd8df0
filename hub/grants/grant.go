package grants

import (
	"slices"
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Kind is what a grant is about.
type Kind uint8

// Kinds of grants.
const (
	Call       Kind = iota + 1 // a tool may be called
	Definition                 // of a tool: it was let through last
	Launch                     // a server may be started
)

// Key is what a grant holds for. The zero Key stands for nothing, and nobody agrees to it.
type Key struct {
	kind   Kind
	File   string // of a launch: the file of the config that has the server
	Server string
	Launch string // of a tool: the launch key of its server
	Tool   string
	Hash   string // of the definition, or of the form
}

// CallKey is a tool of a server that is started just so, with the hash of its definition.
func CallKey(server, launch, tool, hash string) Key {
	return Key{kind: Call, Server: server, Launch: launch, Tool: tool, Hash: hash}
}

// As is k for another kind of grant.
func (k Key) As(kind Kind) Key {
	k.kind = kind
	return k
}

// subject is k in whatever form it is shown, and for all kinds.
func (k Key) subject() Key {
	k.kind, k.Hash = 0, ""
	return k
}

// Grant is one yes.
type Grant struct {
	Key
	Scope      event.ApprovalScope
	Window     string   // that it holds for: ScopeWindow
	Folders    []string // that have to be open, sorted: ScopeWorkspace
	Time       time.Time
	Definition string // of a tool, as it was shown; "" = too large to keep

	Policies map[string]config.Policy // of a launch: what its file says about calling tools

	fields []formField // of a launch, as they were shown
}

// Changes tells how g differs from what was agreed to before: for the person who is asked again. It takes time that a
// stranger chooses.
func (g *Grant) Changes(before Grant) []event.DefinitionChange {
	if g.kind == Launch {
		return changesOf(before.fields, g.fields)
	}
	return toolChanges(before.Hash, before.Definition, g.Hash, g.Definition)
}

// remembered is g as a person sees it; hub is the id of this hub.
func (g *Grant) remembered(hub string) event.Remembered {
	return event.Remembered{ID: kinds[g.kind].id(g, hub), Kind: kinds[g.kind].remembered, Server: g.Server, Tool: g.Tool,
		Scope: g.Scope, Folders: g.Folders, WindowID: g.Window, Time: g.Time, Hash: g.Hash}
}

// ofThisForm tells whether the yes to a launch was given to a form of the present version: what differs from one of
// another version says nothing of the launch.
func (g *Grant) ofThisForm() bool {
	return slices.Contains(g.fields, formField{Path: "form", Text: strconv.Itoa(formVersion)})
}
