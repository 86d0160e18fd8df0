package process

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// MarkerVariable is the environment variable by which the processes of a hub are found after they have left their
// process group. Its value is a random text for each hub, followed by "/" and the number of the server. It is no
// secret.
const MarkerVariable = "MCPHUB_CONTAINED_BY"

func newMarker() string {
	b := make([]byte, 12)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}

func serverMarker(hub string, number int) string { return hub + "/" + strconv.Itoa(number) }

// withMarker appends the marker to env. The marker has to be the last variable: programs that write a title over their
// arguments go on into the environment from its beginning.
func withMarker(env []string, marker string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, MarkerVariable+"=") })
	return append(env, MarkerVariable+"="+marker)
}

// hubNeedle and serverNeedle return the text that is searched for in /proc/N/environ, where each variable ends with a
// zero byte: for all servers of a hub, and for one server.
func hubNeedle(hub string) string { return "\x00" + MarkerVariable + "=" + hub + "/" }

func serverNeedle(marker string) string { return "\x00" + MarkerVariable + "=" + marker + "\x00" }

// validMarker reports whether hub is a complete marker. It checks what was read from a file or a pipe: a short marker
// would match too many processes.
func validMarker(hub string) bool {
	b, err := hex.DecodeString(hub)
	return err == nil && len(b) == 12
}
