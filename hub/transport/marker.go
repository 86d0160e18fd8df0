package transport

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// MarkerVariable is the environment variable by which the processes of a hub are
// found when they have left their process group. Its value is random for each
// hub, with "/" and the number of the server behind it. It is no secret.
const MarkerVariable = "MCPHUB_CONTAINED_BY"

func newMarker() string {
	b := make([]byte, 12)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}

func serverMarker(hub string, number int) string { return hub + "/" + strconv.Itoa(number) }

// withMarker puts the marker last: programs that write a title over their own
// arguments write on into the environment from its beginning.
func withMarker(env []string, marker string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, MarkerVariable+"=") })
	return append(env, MarkerVariable+"="+marker)
}

// A needle is what is looked for in /proc/N/environ, where variables end with a
// zero byte: all of a hub's servers, or just one.
func hubNeedle(hub string) string { return "\x00" + MarkerVariable + "=" + hub + "/" }

func serverNeedle(marker string) string { return "\x00" + MarkerVariable + "=" + marker + "\x00" }

// validMarker guards what was read from a file: a short one would fit too many.
func validMarker(hub string) bool {
	b, err := hex.DecodeString(hub)
	return err == nil && len(b) == 12
}
