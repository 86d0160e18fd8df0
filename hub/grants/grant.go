package grants

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/statefile"
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

// LaunchKey returns the key of a launch: the server, the file that has its entry, and the hash of the form.
func LaunchKey(server, file, hash string) Key {
	return Key{kind: Launch, Server: server, File: file, Hash: hash}
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

// kinds has what distinguishes the kinds of grants. Their files are older than this package, and are read by hubs of
// other versions: see entry.
var kinds = map[Kind]struct {
	file       statefile.ListForm[entry]
	session    bool // consent for once is valid as long as the hub lives
	remembered event.RememberedKind
	id         func(g *Grant, hub string) string // for Forget; it reveals nothing about the grant
}{
	Call: {
		file: statefile.ListForm[entry]{
			File: "approvals.json", Member: "approvals", Version: 2,
			Max:  4096, // beyond that the oldest are forgotten, and the hub asks again
			Room: maxDefinitions, Shorten: withoutDefinition, Check: checkCall,
		},
		remembered: event.RememberedApproval,
		id: func(g *Grant, hub string) string {
			parts := []string{g.Server, g.Launch, g.Tool, g.Hash}
			if g.Window != "" {
				parts = append(parts, hub, g.Window)
			} else {
				parts = append(parts, workspaceOf(g.Folders))
			}
			return "approval-" + statefile.Sum(parts...)[:24]
		},
	},
	// A config that allows a tool gives only its name, and a server may give the name another meaning later
	// (CVE-2025-54136). So the first definition of such a tool is recorded without a question, and the user is asked when
	// it changes.
	Definition: {
		file: statefile.ListForm[entry]{
			File: "definitions.json", Member: "definitions", Version: 1, Max: 4096,
			Room: maxDefinitions, Shorten: withoutDefinition,
			Check: func(e *entry) error {
				e.kind, e.Definition = Definition, definitionKept(e.Definition)
				return nil
			},
		},
	},
	Launch: {
		file: statefile.ListForm[entry]{
			File: "launches.json", Member: "entries", Version: 1, Max: 1000, Room: 8 << 20,
			Check: func(e *entry) error {
				e.kind = Launch
				return nil
			},
		},
		session: true, remembered: event.RememberedLaunch,
		id: func(g *Grant, _ string) string {
			where := ""
			if g.Window != "" {
				where = "window " + g.Window
			}
			return "launch-" + statefile.Sum(append([]string{g.File, g.Server, g.Hash, where}, g.Folders...)...)[:16]
		},
	},
}

const (
	// maxDefinition is the size up to which a definition is kept in addition to its hash, in bytes.
	maxDefinition = 64 << 10
	// maxDefinitions bounds a file with definitions, in bytes; beyond it the oldest entries keep only their hash.
	maxDefinitions = 2 << 20
)

// definitionKept returns the definition in the form in which it is kept: "" if it is too large.
func definitionKept(text string) string {
	if len(text) > maxDefinition {
		return ""
	}
	return text
}

func withoutDefinition(e *entry) { e.Definition = "" }

// checkCall refuses an approval of a scope that this hub does not know: if it took the scope for a wider one, it would
// act on an approval that nobody gave.
func checkCall(e *entry) error {
	e.kind, e.Definition = Call, definitionKept(e.Definition)
	switch {
	case e.Scope == "always" && len(e.Folders) == 0, e.Scope == "workspace" && len(e.Folders) > 0:
	default:
		return errors.New("it has an approval of a scope that this hub does not know")
	}
	return nil
}

// entry is a grant in the form of its file. Each kind uses some of the members.
type entry struct {
	kind Kind // set by the code that makes or reads the entry

	File           string      `json:"file,omitempty"`
	Server         string      `json:"server"`
	Launch         string      `json:"launch,omitempty"`
	Tool           string      `json:"tool,omitempty"`
	DefinitionHash string      `json:"definitionHash,omitempty"`
	FormHash       string      `json:"hash,omitempty"`
	Scope          string      `json:"scope,omitempty"`          // of a call: "always" or "workspace"
	Folders        []string    `json:"folders,omitempty"`        // that must be open, sorted
	Bound          bool        `json:"boundToFolders,omitempty"` // of a launch: the folders must be open
	Form           []formField `json:"form,omitempty"`
	Time           time.Time   `json:"time"`
	Definition     string      `json:"definition,omitempty"` // "" if it is too large to keep
}

// slot is the key of an entry within its file.
type slot struct {
	Key
	workspace string // see workspaceOf; "" if it is valid everywhere
}

// slotOf returns the slot of a grant for k. For definitions there is one slot for each tool.
func slotOf(k Key, workspace string) slot {
	if k.kind == Definition {
		k.Hash = ""
	}
	return slot{k, workspace}
}

// Key implements statefile.Entry.
func (e entry) Key() slot { return slotOf(e.granted(), workspaceOf(e.Folders)) }

// When implements statefile.Entry.
func (e entry) When() time.Time { return e.Time }

// granted returns the key of the grant.
func (e *entry) granted() Key {
	k := Key{kind: e.kind, File: e.File, Server: e.Server, Launch: e.Launch, Tool: e.Tool, Hash: e.DefinitionHash}
	if e.kind == Launch {
		k.Hash = e.FormHash
	}
	return k
}

// bound reports whether the grant is valid only while its folders are open.
func (e *entry) bound() bool { return e.Bound || e.Scope == "workspace" }

// grant converts e to a Grant.
func (e *entry) grant() Grant {
	g := Grant{Key: e.granted(), Scope: event.ScopeAlways, Folders: e.Folders, Time: e.Time, Definition: e.Definition,
		fields: e.Form}
	if e.bound() {
		g.Scope = event.ScopeWorkspace
	}
	return g
}

// entryOf converts g to the form of its file.
func entryOf(g *Grant) entry {
	e := entry{kind: g.kind, File: g.File, Server: g.Server, Launch: g.Launch, Tool: g.Tool, Folders: g.Folders,
		Form: g.fields, Time: g.Time, Definition: g.Definition}
	switch g.kind {
	case Launch:
		e.FormHash, e.Bound = g.Hash, g.Scope == event.ScopeWorkspace
	case Call:
		e.DefinitionHash, e.Scope = g.Hash, "always"
		if g.Scope == event.ScopeWorkspace {
			e.Scope = "workspace"
		}
	default:
		e.DefinitionHash = g.Hash
	}
	return e
}

// workspaceOf returns a name for a set of workspace folders, whatever their order; "" if there are none.
func workspaceOf(uris []string) string {
	if len(uris) == 0 {
		return ""
	}
	text, err := json.Marshal(sorted(uris))
	if err != nil {
		return "" // cannot happen: strings marshal
	}
	return string(text)
}

func sorted(uris []string) []string { return slices.Compact(slices.Sorted(slices.Values(uris))) }
