package toolset

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Lengths of names, in bytes.
const (
	// ModelName is what all providers take: Gemini's limits differ between 63 and 64 in its documents.
	ModelName = 63
	// GatewayName leaves room for VS Code's client, which puts up to 18 before a name and cuts at 64 without a hash.
	GatewayName = 46
	// mcpName is the longest name that MCP allows (2025-11-25, server/tools, "Tool Names").
	mcpName = 128
)

// hashDigits is how many hexadecimal digits tell apart what had to be changed.
const hashDigits = 8

// Identity is a tool or a prompt as the hub knows it: by its server and by its name there.
type Identity struct{ Server, Name string }

func (id Identity) compare(other Identity) int {
	if c := strings.Compare(id.Server, other.Server); c != 0 {
		return c
	}
	return strings.Compare(id.Name, other.Name)
}

// Named is something that needs a name for a model.
type Named struct {
	Identity
	// Display is what the server is called in the name; "" is Server.
	Display string
}

// Style says how names look.
type Style struct {
	Bytes int // the longest name, ModelName or GatewayName
	// Single is for the tools of one server: their names stay as they are, where MCP allows them, and no other gets the
	// server's name before it.
	Single bool
}

// Name makes the name. It depends on n and the style alone, never on what else there is, so it stays the same when
// other servers come and go.
//
// The plain form is server__tool. It is used only where it can be read in one way: both parts are legal, neither is
// empty, the server's does not contain "__" or end with "_", the tool's does not begin with "_", the whole is not too
// long and does not end as a hash does. Two different identities therefore never have the same plain form, nor one
// the plain form that is another's name with a hash. Every other name is made legal, cut, and given a hash of the raw
// identity. Only two of these can be alike, where their hashes are; see [NewTable].
func (s Style) Name(n Named) string {
	if s.Single {
		if legalInMCP(n.Name) {
			return n.Name
		}
		return s.hashed(legal(n.Name), n.Identity)
	}
	display := n.Display
	if display == "" {
		display = n.Server
	}
	raw := display + "__" + n.Name
	name := legal(raw)
	if name == raw && len(name) <= s.Bytes && display == n.Server && display != "" && n.Name != "" &&
		!strings.Contains(display, "__") && !strings.HasSuffix(display, "_") && !strings.HasPrefix(n.Name, "_") &&
		!endsAsHash(name) {
		return name
	}
	return s.hashed(name, n.Identity)
}

func (s Style) hashed(name string, id Identity) string {
	// A byte that no UTF-8 text contains separates the two, so that no other pair gives the same text.
	sum := sha256.Sum256([]byte(id.Server + "\xff" + id.Name))
	return name[:min(len(name), s.Bytes-1-hashDigits)] + "_" + hex.EncodeToString(sum[:])[:hashDigits]
}

// legal replaces by "_" what no model's name may contain, and makes it begin with a letter or "_".
func legal(s string) string {
	s = strings.Map(func(r rune) rune {
		if legalRune(r) {
			return r
		}
		return '_'
	}, s)
	if s == "" || s[0] == '-' || s[0] >= '0' && s[0] <= '9' {
		s = "_" + s
	}
	return s
}

func legalRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// legalInMCP: SEP-986 also takes dots and slashes.
func legalInMCP(s string) bool {
	return s != "" && len(s) <= mcpName && !strings.ContainsFunc(s, func(r rune) bool {
		return !legalRune(r) && r != '.' && r != '/'
	})
}

func endsAsHash(name string) bool {
	at := len(name) - hashDigits - 1
	return at >= 0 && name[at] == '_' && strings.Trim(name[at+1:], "0123456789abcdef") == ""
}
