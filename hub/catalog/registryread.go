package catalog

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/outbound"
	"github.com/mcphub-go/mcphub/hub/proposal"
)

// Status is what a registry says about a version.
type Status string

// The values of Status in the API.
const (
	Active     Status = "active"
	Deprecated Status = "deprecated"
	Deleted    Status = "deleted"
)

// Server is one version of a server.
type Server struct {
	Name          string
	Title         string
	Description   string
	Version       string
	Status        Status // "" or another word if it is unknown
	StatusMessage string
	Repository    string // http or https, or ""
	Website       string // http or https, or ""
	Published     time.Time
	Kinds         []string
}

// Publisher returns the part of the name that the official registry reserves for its owner.
func (s *Server) Publisher() string {
	who, _, _ := strings.Cut(s.Name, "/")
	return who
}

// Bounds of what is shown of a server. By schema 2025-12-11, a name has at most 200 characters, a title and a
// description 100. Other registries are not so strict.
const (
	maxName    = 200
	maxVersion = 255
	maxKinds   = 8
)

// nameForm is the form of a name in the schema: reverse DNS and one slash.
var nameForm = regexp.MustCompile(`^[a-zA-Z0-9.-]{1,199}/[a-zA-Z0-9._-]{1,199}$`)

const official = "io.modelcontextprotocol.registry/official"

// readPage parses the answer to a search. It leaves out what exceeds the requested page.
func readPage(body json.RawMessage, size int) (p Page, ok bool) {
	list := jsontext.Get(body, "servers")
	ok = jsontext.IsNull(list) || jsontext.Elements(list, func(v json.RawMessage) bool { // Go marshals a nil slice as null
		s, ok := readServer(v)
		switch {
		case !ok || len(p.Servers) == size:
			p.LeftOut++
		case s.Status != Deleted:
			p.Servers = append(p.Servers, s)
		}
		return true
	})
	p.Next = text(jsontext.Get(body, "metadata"), "nextCursor")
	if len(p.Next) > maxCursor {
		p.Next = ""
	}
	return p, ok
}

// readServer parses a server.json and what the registry says about it.
func readServer(v json.RawMessage) (s Server, ok bool) {
	in, meta := jsontext.Get(v, "server"), jsontext.Get(jsontext.Get(v, "_meta"), official)
	s = Server{
		Name: text(in, "name"), Title: bounds.Cut(text(in, "title"), maxText),
		Description: bounds.Cut(text(in, "description"), maxText), Version: text(in, "version"),
		Status: Status(text(meta, "status")), StatusMessage: bounds.Cut(text(meta, "statusMessage"), maxText),
		Website: page(text(in, "websiteUrl")), Repository: page(text(jsontext.Get(in, "repository"), "url")),
	}
	if len(s.Name) > maxName || !nameForm.MatchString(s.Name) || len(s.Version) > maxVersion {
		return s, false
	}
	s.Published, _ = time.Parse(time.RFC3339, text(meta, "publishedAt"))
	add := func(kind string) {
		if kind = bounds.Cut(kind, 64); kind != "" && len(s.Kinds) < maxKinds && !slices.Contains(s.Kinds, kind) {
			s.Kinds = append(s.Kinds, kind)
		}
	}
	jsontext.Elements(jsontext.Get(in, "packages"), func(p json.RawMessage) bool {
		add(text(p, "registryType"))
		return len(s.Kinds) < maxKinds
	})
	jsontext.Elements(jsontext.Get(in, "remotes"), func(json.RawMessage) bool {
		add(proposal.KindRemote)
		return false
	})
	return s, true
}

// page returns s if it is an address that a person may open, else "".
func page(s string) string {
	if _, err := outbound.CheckPage(s); err != nil {
		return ""
	}
	return s
}
