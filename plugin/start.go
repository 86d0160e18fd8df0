package plugin

import (
	"crypto/x509"
	"os"

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
