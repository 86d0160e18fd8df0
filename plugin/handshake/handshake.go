// Package handshake defines what a host and the hub must agree on before the first byte of gRPC: the cookie, the major
// version of the contract, and the names of environment variables.
//
// It is a leaf: a host program imports it through plugin/host without importing the hub. What must not live here: code
// that starts, serves or connects.
package handshake

import (
	"fmt"

	goplugin "github.com/hashicorp/go-plugin"
)

const (
	// CookieKey is the environment variable with which a host says that it has started the process as a plugin. It helps a
	// person who starts the binary by hand. It is not a secret, and protects nothing.
	CookieKey = "MCPHUB_PLUGIN_COOKIE"
	// CookieValue is the value of CookieKey. It is fixed for ever: hosts written in other languages carry a copy.
	CookieValue = "9f4c1be07d5a4e6c8a3b62d1f07e94ab51c3d8e26f7049b8a1e5c07d3b92f684"
	// ProtocolVersion is the major version of the contract. It rises only if a host of the version before could no longer
	// work. Smaller additions are announced by GetInfo and in the hello of a window.
	ProtocolVersion = 1
	// PluginKey is the name of the only plugin in the plugin set. Only Go hosts see it.
	PluginKey = "hub"
	// EnvSocketDir names a directory for the hub's Unix socket. A host makes it for this hub alone, with mode 0700, and
	// removes it when the hub has ended. If the host is gone, the hub itself removes the directory if it is empty.
	EnvSocketDir = goplugin.EnvUnixSocketDir
	// EnvClientCert carries the host's certificate as PEM (AutoMTLS).
	EnvClientCert = "PLUGIN_CLIENT_CERT"
	// EnvPlaintext set to 1 says that a host gives no certificate on purpose, and that the hub may be served without TLS
	// over its Unix socket. Then whoever can open the socket is the host. On Windows it changes nothing.
	EnvPlaintext = "MCPHUB_PLAINTEXT"
	// EnvHostPID holds the id of the host's process. If the host died before the hub could look at its parent, the hub
	// then ends at once, and not only after nobody has connected for a minute. A host need not set it.
	EnvHostPID = "MCPHUB_HOST_PID"
	// EnvReturnGrace lets a hub outlive the restart of its host. It is how long (a Go duration, at most 5m) the hub waits
	// without any connection after its host is gone, and how long its windows may take to be attached again. A host that
	// wants this keeps the socket's address, the hub's certificate, and its own certificate with the key
	// (docs/adr/0023-host-comes-back.md). Not set: the hub does not wait.
	EnvReturnGrace = "MCPHUB_RETURN_GRACE"
	// EnvDumpable set to 1 leaves a hub on Linux open to debuggers, core dumps and /proc for all processes of its user.
	// These include its servers, which can then read its environment. Not set: only root can.
	EnvDumpable = "MCPHUB_DUMPABLE"
	// EnvDesktop set to 1 says that the host was started from a desktop and not from a shell: the environment of the user
	// is then that of the login shell, and not the hub's own. Without it the login shell is asked only if a command is not
	// found.
	EnvDesktop = "MCPHUB_DESKTOP"
	// EnvLog sets how much the hub logs: debug, info, warn, error or off. Default info.
	EnvLog = "MCPHUB_LOG"
	// EnvStateDir sets the folder in which the hub keeps its state over restarts. Set but empty: it keeps none.
	EnvStateDir = "MCPHUB_STATE_DIR"
	// EnvHostProgram names the host's program. The hubs of each program keep their state in a folder of its own,
	// hosts/NAME in that of the system, so that what a person has answered in one counts in no other. Not set: they share
	// one. Without effect where EnvStateDir is set.
	EnvHostProgram = "MCPHUB_HOST_PROGRAM"
	// EnvTelemetry switches telemetry on: with otlp, the hub sends a span of every request over OTLP (http/protobuf), to
	// the destination that the OTEL_EXPORTER_OTLP_* variables of OpenTelemetry set. Default off.
	EnvTelemetry = "MCPHUB_TELEMETRY"
)

// Config returns the handshake in go-plugin's form. It is the same on both sides.
func Config() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		ProtocolVersion:  ProtocolVersion,
		MagicCookieKey:   CookieKey,
		MagicCookieValue: CookieValue,
	}
}

// OldestHub is the oldest version of a hub that the hosts of this repository, including the one in TypeScript, work
// with. It rises when they begin to need something that an older hub does not have. They do without anything else that
// only newer hubs have.
const OldestHub = "0.1.0"

// Serves reports whether a hub of this version is new enough for a host that needs at least oldest. Anything after the
// three numbers is ignored. A version without three numbers is that of a build that somebody made for himself, and is
// new enough.
func Serves(version, oldest string) bool {
	var have, need [3]int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &have[0], &have[1], &have[2]); err != nil {
		return true
	}
	if _, err := fmt.Sscanf(oldest, "%d.%d.%d", &need[0], &need[1], &need[2]); err != nil {
		return true
	}
	for i := range need {
		if have[i] != need[i] {
			return have[i] > need[i]
		}
	}
	return true
}
