package grants

import (
	"slices"
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Kind is the kind of a grant.
type Kind uint8

// Kinds of grants.
const (
	Call       Kind = iota + 1 // a tool may be called
	Definition                 // the definition of a tool that was let through last
	Launch                     // a server may be started
)

// Key is the subject of a grant. The zero Key stands for no subject; no grant has it.
type Key struct {
	kind   Kind
	File   string // of a launch: the config file that has the server
	Server string
	Launch string // of a tool: the launch key of its server
	Tool   string
	Hash   string // of the definition, or of the form
}

// CallKey returns the key of a tool: the server, its launch key, and the hash of the tool's definition.
func CallKey(server, launch, tool, hash string) Key {
	return Key{kind: Call, Server: server, Launch: launch, Tool: tool, Hash: hash}
}

// As returns k with another kind.
func (k Key) As(kind Kind) Key {
	k.kind = kind
	return k
}

// subject returns k without the hash and the kind: it is the same for all forms and kinds of grants.
func (k Key) subject() Key {
	k.kind, k.Hash = 0, ""
	return k
}

// Grant is one consent of a person, or of the config.
type Grant struct {
	Key
	Scope      event.ApprovalScope
	Window     string   // with ScopeWindow: the only window that it is valid for
	Folders    []string // with ScopeWorkspace: the folders that must be open, sorted
	Time       time.Time
	Definition string // of a tool, as it was shown; "" if it is too large to keep

	fields []formField // of a launch, as they were shown
}

// Changes returns the differences between g and before, for the person who is asked again. It takes time that depends
// on the texts, which a stranger chooses.
func (g *Grant) Changes(before Grant) []event.DefinitionChange {
	if g.kind == Launch {
		return changesOf(before.fields, g.fields)
	}
	return toolChanges(before.Hash, before.Definition, g.Hash, g.Definition)
}

// remembered returns g as a person sees it. hub is the id of this hub.
func (g *Grant) remembered(hub string) event.Remembered {
	return event.Remembered{ID: kinds[g.kind].id(g, hub), Kind: kinds[g.kind].remembered, Server: g.Server, Tool: g.Tool,
		Scope: g.Scope, Folders: g.Folders, WindowID: g.Window, Time: g.Time, Hash: g.Hash}
}

// ofThisForm reports whether the consent to a launch was given to a form of the present version. A difference from a
// form of another version says nothing about the launch.
func (g *Grant) ofThisForm() bool {
	return slices.Contains(g.fields, formField{Path: "form", Text: strconv.Itoa(formVersion)})
}
