package toolset

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"strconv"
	"strings"
)

// Lengths of names, in bytes.
const (
	// ModelName is the length that all providers accept: Gemini's documents say 63 and 64 in different places.
	ModelName = 63
	// GatewayName leaves room for VS Code's client, which adds up to 18 bytes before a name and cuts at 64 without a hash.
	GatewayName = 46
	// mcpName is the longest name that MCP allows (2025-11-25, server/tools, "Tool Names").
	mcpName = 128
)

// The hash that distinguishes names that had to be changed: a digit and 11 digits or small letters, which are 60 bits.
// 32 bits can be tried out in minutes by a server that wants the name of another one's tool. It begins with a digit, so
// that hardly a name ends in this way by itself, as names end in words of 12 letters.
const (
	hashLength = 12
	hashCount  = 10 * 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36
)

// Identity identifies a tool or a prompt in the hub: by its server and by its name there.
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
	// Display is the name of the server within the tool's name; "" means Server.
	Display string
}

// Style determines the form of names.
type Style struct {
	Bytes int // the longest name, ModelName or GatewayName
	// Single is for the tools of one server: their names stay as they are if MCP allows them, and no name has the server's
	// name before it.
	Single bool
}

// Name returns the name for n. It depends only on n and the style, so it stays the same when other servers are added or
// removed.
//
// The plain form is server__tool. It is used only if it can be read in one way: both parts are legal, neither is empty,
// the server's does not contain "__" or end with "_", the tool's does not begin with "_", the whole is not too long and
// does not end like a hash. Therefore two different identities never have the same plain form, and no plain form equals
// the name of another identity with a hash. Every other name is made legal, cut, and gets a hash of the raw identity.
// Two of these can only be equal if their hashes are; see [NewTable].
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
	// A byte that no UTF-8 text contains separates the two, so that no other pair results in the same text.
	sum := sha256.Sum256([]byte(id.Server + "\xff" + id.Name))
	n := bits.Rem64(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16]), hashCount)
	digits := strconv.FormatUint(n, 36)
	// The first of 12 digits is below 10 since n is below hashCount.
	return name[:min(len(name), s.Bytes-1-hashLength)] + "_" + strings.Repeat("0", hashLength-len(digits)) + digits
}

// legal replaces characters that no model's name may contain by "_", and makes the name begin with a letter or "_".
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

// legalInMCP reports whether MCP allows a name: SEP-986 also allows dots and slashes.
func legalInMCP(s string) bool {
	return s != "" && len(s) <= mcpName && !strings.ContainsFunc(s, func(r rune) bool {
		return !legalRune(r) && r != '.' && r != '/'
	})
}

// Composed reports whether a name has the form of those that Name makes, so that another tool may need it.
func Composed(name string) bool { return strings.Contains(name, "__") || endsAsHash(name) }

func endsAsHash(name string) bool {
	at := len(name) - hashLength - 1
	return at >= 0 && name[at] == '_' && name[at+1] >= '0' && name[at+1] <= '9' &&
		strings.Trim(name[at+1:], "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}
