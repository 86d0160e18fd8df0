// Package handshake holds what a host and the hub must agree on before the first byte of gRPC: the cookie, the major
// version of the contract, and the names of environment variables.
//
// It is a leaf: a host program imports it through plugin/host without pulling in the hub. What must not live here:
// anything that starts, serves or connects.
package handshake

import goplugin "github.com/hashicorp/go-plugin"

const (
	// CookieKey is the environment variable by which a host says "I started you as a plugin". It is a courtesy to a
	// person who starts the binary by hand, no secret and no protection.
	CookieKey = "MCPHUB_PLUGIN_COOKIE"
	// CookieValue is the value of CookieKey. It is fixed for ever: hosts written in other languages carry a copy.
	CookieValue = "9f4c1be07d5a4e6c8a3b62d1f07e94ab51c3d8e26f7049b8a1e5c07d3b92f684"
	// ProtocolVersion is the major version of the contract. It rises only when a host of the version before could not
	// work any more; smaller growth is told by GetInfo and the hello of a window.
	ProtocolVersion = 1
	// PluginKey is the name of the one plugin in the plugin set. Only Go hosts see it.
	PluginKey = "hub"
	// EnvSocketDir names a directory for the hub's Unix socket. A host makes it for this one hub, with mode 0700, and
	// removes it when the hub has ended. A hub whose host is gone removes it itself when it is empty.
	EnvSocketDir = goplugin.EnvUnixSocketDir
	// EnvClientCert carries the host's certificate as PEM (AutoMTLS).
	EnvClientCert = "PLUGIN_CLIENT_CERT"
	// EnvPlaintext set to 1 says that a host gives no certificate on purpose, and that the hub may be served without TLS
	// over its Unix socket: whoever can open that is the host then. On Windows it changes nothing.
	EnvPlaintext = "MCPHUB_PLAINTEXT"
	// EnvHostPID names the host's process, so that a hub whose host died before the hub could look at its parent ends at
	// once and not only when nobody has connected for a minute. A host need not set it.
	EnvHostPID = "MCPHUB_HOST_PID"
	// EnvReturnGrace lets a hub outlive the restart of its host: for so long (a Go duration, at most 5m) it waits without
	// any connection after its host is gone, and its windows wait to be attached again. A host that wants this keeps the
	// socket's address, the hub's certificate and its own with the key (docs/adr/0023-host-comes-back.md). Not set: it
	// does not wait.
	EnvReturnGrace = "MCPHUB_RETURN_GRACE"
	// EnvLeftFile names a file, private to the user, where a hub that ends without its host writes which requests it
	// ended: the next hub with this file tells its windows. A host gives hubs of one workspace the same. Not set: nowhere.
	EnvLeftFile = "MCPHUB_LEFT_FILE"
	// EnvDumpable set to 1 leaves a hub on Linux open to debuggers, core dumps and /proc for all processes of its user,
	// its servers included, which read its environment there. Not set: only root looks into it.
	EnvDumpable = "MCPHUB_DUMPABLE"
	// EnvDesktop set to 1 says that the host was started from a desktop and not from a shell: the environment of the user
	// is what the login shell says, and not the hub's own. Without it the shell is asked when a command is not found.
	EnvDesktop = "MCPHUB_DESKTOP"
	// EnvLog sets how much the hub logs: debug, info, warn, error or off. Default info.
	EnvLog = "MCPHUB_LOG"
	// EnvStateDir sets where the hub keeps what it remembers over restarts. Set but empty: nowhere.
	EnvStateDir = "MCPHUB_STATE_DIR"
	// EnvTelemetry switches telemetry on: otlp sends a span of every request over OTLP (http/protobuf), to where the
	// OTEL_EXPORTER_OTLP_* variables of OpenTelemetry say. Default off.
	EnvTelemetry = "MCPHUB_TELEMETRY"
)

// Config is the handshake as go-plugin wants it, the same on both sides.
func Config() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		ProtocolVersion:  ProtocolVersion,
		MagicCookieKey:   CookieKey,
		MagicCookieValue: CookieValue,
	}
}
