package plugin

import (
	"crypto/x509"
	"fmt"
	"os"
	"time"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// StartedByHost reports whether a host spawned this process as a plugin. An executable that is also a command for
// people calls it first, and prints its usage if it returns false.
func StartedByHost() bool {
	return os.Getenv(handshake.CookieKey) == handshake.CookieValue
}

// startProblem returns the reason why this process must not serve, or "".
func startProblem(goos string, getenv func(string) string) string {
	switch got := getenv(handshake.CookieKey); got {
	case handshake.CookieValue:
	case "":
		return "no host started it (" + handshake.CookieKey + " is not set); it is a plugin of an editor"
	default:
		return handshake.CookieKey + " has another value than this hub knows; the host is made for another program"
	}
	cert := getenv(handshake.EnvClientCert)
	if cert == "" {
		switch {
		case goos == "windows": // on Windows the hub listens on TCP, where every local user could call it
			return handshake.EnvClientCert +
				" is not set; on Windows a hub is served over TLS only, switch AutoMTLS on in the host"
		case getenv(handshake.EnvPlaintext) != "1": // the host may have forgotten it, and others may reach the socket
			return handshake.EnvClientCert +
				" is not set; switch AutoMTLS on in the host, or, where nobody else reaches the socket, set " +
				handshake.EnvPlaintext + "=1 to be served without TLS"
		}
		return ""
	}
	// With another text the hub would start, but refuse every connection.
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(cert)) {
		return handshake.EnvClientCert + " is no certificate in PEM; the host must pass it whole, line breaks included"
	}
	return ""
}

// maxReturnGrace limits the wait for a host to return, since a hub to which nobody returns keeps its servers running.
const maxReturnGrace = 5 * time.Minute

// returnGrace returns how long the hub waits for a host to return, 0 for not at all. problem is a problem with the
// setting, for the log; the hub does not wait then.
func returnGrace(lookup func(string) (string, bool)) (grace time.Duration, problem string) {
	text, set := lookup(handshake.EnvReturnGrace)
	if !set || text == "" {
		return 0, ""
	}
	grace, err := time.ParseDuration(text)
	if err != nil || grace < 0 || grace > maxReturnGrace {
		return 0,
			fmt.Sprintf(
				"%s is %q, which is no duration from 0s to %v such as 20s: the hub does not wait for a host to come back",
				handshake.EnvReturnGrace, text, maxReturnGrace)
	}
	return grace, ""
}
