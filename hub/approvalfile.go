package hub

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/statefile"
)

// approvalID tells kept approvals apart.
type approvalID struct {
	approvalKey
	folders string // of scope workspace: see workspaceOf; "" = scope always
}

// approval is a yes that holds for longer than once.
type approval struct {
	Server     string    `json:"server"`
	Launch     string    `json:"launch"`
	Tool       string    `json:"tool"`
	Hash       string    `json:"definitionHash"`
	Scope      string    `json:"scope,omitempty"`   // "always", "workspace"; "" = a window's, which no file has
	Folders    []string  `json:"folders,omitempty"` // of scope workspace
	Time       time.Time `json:"time"`
	Definition string    `json:"definition,omitempty"` // as it was shown; "" = too large to keep
}

func (a approval) Key() approvalID {
	return approvalID{approvalKey{server: a.Server, launch: a.Launch, tool: a.Tool, hash: a.Hash}, workspaceOf(a.Folders)}
}

func (a approval) When() time.Time { return a.Time }

const (
	// maxDefinition is how large a definition may be, in bytes, to be kept besides its hash.
	maxDefinition = 64 << 10
	// maxDefinitions bounds a file with definitions, in bytes; of more the oldest entries keep only their hash.
	maxDefinitions = 2 << 20
)

// definitionKept is a definition as it is kept.
func definitionKept(text string) string {
	if len(text) > maxDefinition {
		return ""
	}
	return text
}

// approvalForm is that of the approvals of scope always and workspace. The user's config files are never written.
var approvalForm = statefile.ListForm[approval]{
	File: "approvals.json", Member: "approvals", What: "approvals", Version: 2,
	Max:  4096, // of more the oldest are forgotten, which makes the hub ask again
	Room: maxDefinitions, Shorten: func(a *approval) { a.Definition = "" },
	Check: func(a *approval, version int) error {
		switch {
		case a.Scope == "" && version == 0:
			a.Scope, a.Folders = "always", nil // version 0 knew no other
		case a.Scope == "always" && len(a.Folders) == 0, a.Scope == "workspace" && len(a.Folders) > 0:
		default: // to take it for more than it is would be an approval that nobody gave
			return errors.New("it has an approval of a scope that this hub does not know")
		}
		a.Definition = definitionKept(a.Definition)
		return nil
	},
}

// workspaceOf names a set of workspace folders, whatever their order; "" = none.
func workspaceOf(uris []string) string {
	if len(uris) == 0 {
		return ""
	}
	uris = slices.Compact(slices.Sorted(slices.Values(uris)))
	text, err := json.Marshal(uris)
	if err != nil {
		return "" // cannot be: strings marshal
	}
	return string(text)
}

// foldersOf gives the folders that workspaceOf named.
func foldersOf(workspace string) (uris []string) {
	_ = json.Unmarshal([]byte(workspace), &uris) // written by workspaceOf
	return uris
}
