package toolset

import (
	"cmp"
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
	return cmp.Or(cmp.Compare(id.Server, other.Server), cmp.Compare(id.Name, other.Name))
}

// Name returns the name of a tool or a prompt for models, of at most longest bytes (ModelName, GatewayName). It depends
// on nothing else, so it stays the same when other servers are added or removed.
//
// The plain form is server__tool. It is used only if it can be read in one way: both parts are legal, neither is empty,
// the server's does not contain "__" or end with "_", the tool's does not begin with "_", the whole is not too long and
// does not end like a hash. Therefore two different identities never have the same plain form, and no plain form equals
// the name of another identity with a hash. Every other name is made legal, cut, and gets a hash of the identity. Two
// of these can only be equal if their hashes are.
func Name(id Identity, longest int) string {
	raw := id.Server + "__" + id.Name
	name := legal(raw)
	if name == raw && len(name) <= longest && id.Server != "" && id.Name != "" && !strings.Contains(id.Server, "__") &&
		!strings.HasSuffix(id.Server, "_") && !strings.HasPrefix(id.Name, "_") && !endsAsHash(name) {
		return name
	}
	return name[:min(len(name), longest-1-hashLength)] + "_" + hashOf(id)
}

func hashOf(id Identity) string {
	// A byte that no UTF-8 text contains separates the two, so that no other pair results in the same text.
	sum := sha256.Sum256([]byte(id.Server + "\xff" + id.Name))
	n := bits.Rem64(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16]), hashCount)
	digits := strconv.FormatUint(n, 36)
	// The first of 12 digits is below 10 since n is below hashCount.
	return strings.Repeat("0", hashLength-len(digits)) + digits
}

// legal replaces characters that no model's name may contain by "_", and makes the name begin with a letter or "_".
func legal(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, s)
	if s == "" || s[0] == '-' || s[0] >= '0' && s[0] <= '9' {
		s = "_" + s
	}
	return s
}

// Composed reports whether a name has the form of those that Name makes, so that another tool may need it.
func Composed(name string) bool { return strings.Contains(name, "__") || endsAsHash(name) }

func endsAsHash(name string) bool {
	at := len(name) - hashLength - 1
	return at >= 0 && name[at] == '_' && name[at+1] >= '0' && name[at+1] <= '9' &&
		strings.Trim(name[at+1:], "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}
