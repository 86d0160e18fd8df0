package hub

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"
)

// approvalID tells kept approvals apart.
type approvalID struct {
	approvalKey
	folders string // of scope workspace: see workspaceOf; "" = scope always
}

// approval is a yes that holds for longer than once.
type approval struct {
	time       time.Time
	definition string // as it was shown, "" = too large to keep
}

const (
	// maxDefinition is how large a definition may be, in bytes, to be kept besides its hash.
	maxDefinition = 64 << 10
	// maxApprovals bounds the file; of more the oldest are forgotten, which makes the hub ask again.
	maxApprovals = 4096
	// approvalsVersion is that of the file's format. Files without a version are of the first one: scope always, and no definitions.
	approvalsVersion = 2
)

// definitionKept is a definition as it is kept.
func definitionKept(text string) string {
	if len(text) > maxDefinition {
		return ""
	}
	return text
}

type storedApproval struct {
	Server     string    `json:"server"`
	Launch     string    `json:"launch"`
	Tool       string    `json:"tool"`
	Hash       string    `json:"definitionHash"`
	Scope      string    `json:"scope,omitempty"`
	Folders    []string  `json:"folders,omitempty"`
	Time       time.Time `json:"time"`
	Definition string    `json:"definition,omitempty"`
}

// openApprovals opens the approvals of scope always and workspace; they are read by Hub.recallAnswers. The user's config files are never written.
func openApprovals(dir string, log *slog.Logger) *kept[approvalID, approval] {
	k := &kept[approvalID, approval]{
		file: openOwnFile(dir, "approvals.json", log), aside: func(digest string) ownFile { return openOwnFile(dir, "approvals."+digest+".aside.json", log) },
		what: "approvals", log: log, decode: decodeApprovals, encode: encodeApprovals,
	}
	return k
}

func decodeApprovals(text []byte) (map[approvalID]approval, error) {
	var file struct {
		Version   int              `json:"version"`
		Approvals []storedApproval `json:"approvals"`
	}
	if err := decodeOwn(text, &file, &file.Version, approvalsVersion); err != nil {
		return nil, err
	}
	entries := map[approvalID]approval{}
	for _, a := range file.Approvals {
		id := approvalID{approvalKey: approvalKey{server: a.Server, launch: a.Launch, tool: a.Tool, hash: a.Hash}}
		switch {
		case a.Scope == "workspace" && len(a.Folders) > 0:
			id.folders = workspaceOf(a.Folders)
		case a.Scope == "always", a.Scope == "" && file.Version == 0:
		default: // to take it for more than it is would be an approval that nobody gave
			return nil, fmt.Errorf("an approval has the scope %q", boundReason(a.Scope))
		}
		entries[id] = approval{time: a.Time, definition: definitionKept(a.Definition)}
	}
	return entries, nil
}

func encodeApprovals(entries map[approvalID]approval) ([]byte, error) {
	order := func(a, b approvalID) int {
		return cmp.Or(entries[a].time.Compare(entries[b].time), cmp.Compare(a.server, b.server), cmp.Compare(a.tool, b.tool),
			cmp.Compare(a.launch, b.launch), cmp.Compare(a.hash, b.hash), cmp.Compare(a.folders, b.folders))
	}
	ids := slices.SortedFunc(maps.Keys(entries), order)
	for _, id := range ids[:max(0, len(ids)-maxApprovals)] {
		delete(entries, id)
	}
	ids = ids[max(0, len(ids)-maxApprovals):]
	newest := map[pinKey]string{} // a diff starts from the definition that was approved last
	for _, id := range ids {
		newest[id.pin()] = id.hash
	}
	stored := []storedApproval{}
	for _, id := range ids {
		e := entries[id]
		if newest[id.pin()] != id.hash {
			e.definition = ""
			entries[id] = e
		}
		a := storedApproval{Server: id.server, Launch: id.launch, Tool: id.tool, Hash: id.hash, Scope: "always", Time: e.time, Definition: e.definition}
		if id.folders != "" {
			a.Scope, a.Folders = "workspace", foldersOf(id.folders)
		}
		stored = append(stored, a)
	}
	return encodeOwn(map[string]any{"version": approvalsVersion, "approvals": stored})
}

// decodeOwn reads one of the hub's own files into v. version is the field of v that says in which format it is; a newer one cannot be read.
func decodeOwn(text []byte, v any, version *int, known int) error {
	if len(text) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, v); err != nil {
		return err
	}
	if *version < 0 || *version > known {
		return fmt.Errorf("it is of version %d, and this hub knows versions up to %d", *version, known)
	}
	return nil
}

func encodeOwn(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
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
