package plugin

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

const pemCertificate = `-----BEGIN CERTIFICATE-----
MIIBtjCCAVugAwIBAgITBmyf1XSXNmY/Owua2eiedgPySjAKBggqhkjOPQQDAjA5
MQswCQYDVQQGEwJVUzEPMA0GA1UEChMGQW1hem9uMRkwFwYDVQQDExBBbWF6b24g
Um9vdCBDQSAzMB4XDTE1MDUyNjAwMDAwMFoXDTQwMDUyNjAwMDAwMFowOTELMAkG
A1UEBhMCVVMxDzANBgNVBAoTBkFtYXpvbjEZMBcGA1UEAxMQQW1hem9uIFJvb3Qg
Q0EgMzBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCmXp8ZBf8ANm+gBG1bG8lKl
ui2yEujSLtf6ycXYqm0fc4E7O5hrOXwzpcVOho6AF2hiRVd9RFgdszflZwjrZt6j
QjBAMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgGGMB0GA1UdDgQWBBSr
ttvXBp43rDCGB5Fwx5zEGbF4wDAKBggqhkjOPQQDAgNJADBGAiEA4IWSoxe3jfkr
BqWTrBqYaGFy+uGh0PsceGCmQ5nFuMQCIQCcAu/xlJyzlvnrxir4tiz+OpAUFteM
YyRIHN8wfdVoOw==
-----END CERTIFICATE-----
`

// TestStartProblem: what must not be served is refused before a listener is open, with a line that says what to do.
func TestStartProblem(t *testing.T) {
	tests := []struct {
		name, goos, cookie, cert string
		want                     string // part of the problem; "" = none
	}{
		{"no cookie", "linux", "", "", handshake.CookieKey + " is not set"},
		{"wrong cookie", "linux", "BasicPlugin", "", "another value"},
		{"no TLS over a Unix socket", "linux", handshake.CookieValue, "", "switch AutoMTLS on"}, // Finding C9.
		{"no TLS over a Unix socket, on purpose", "linux", handshake.CookieValue, "", ""},
		{"no TLS over TCP, on purpose", "windows", handshake.CookieValue, "", "switch AutoMTLS on"},
		{"no TLS over TCP", "windows", handshake.CookieValue, "", "switch AutoMTLS on"},
		{"TLS over TCP", "windows", handshake.CookieValue, pemCertificate, ""},
		{"TLS over a Unix socket", "linux", handshake.CookieValue, pemCertificate, ""},
		{"a certificate on one line", "linux", handshake.CookieValue, strings.ReplaceAll(pemCertificate, "\n", " "),
			"no certificate"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			env := map[string]string{handshake.CookieKey: test.cookie, handshake.EnvClientCert: test.cert}
			if strings.HasSuffix(test.name, "on purpose") {
				env[handshake.EnvPlaintext] = "1"
			}
			got := startProblem(test.goos, func(name string) string { return env[name] })
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("problem %q, want %q", got, test.want)
			}
		})
	}
}

func TestStartedByHost(t *testing.T) {
	for value, want := range map[string]bool{"": false, "something": false, handshake.CookieValue: true} {
		t.Setenv(handshake.CookieKey, value)
		if got := StartedByHost(); got != want {
			t.Errorf("with cookie %q: %v, want %v", value, got, want)
		}
	}
}
