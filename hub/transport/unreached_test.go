package transport

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestUnreachedHint: the hint fits what failed; if it was a proxy, the hint is about the proxy, not about the server.
func TestUnreachedHint(t *testing.T) {
	refused := func(op string) error {
		return &net.OpError{Op: op, Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"refused":           {refused("dial"), `correct its "url"`},
		"by a proxy":        {&net.OpError{Op: "proxyconnect", Net: "tcp", Err: refused("dial")}, "HTTPS_PROXY"},
		"refused (Windows)": {&net.OpError{Op: "dial", Net: "tcp", Err: syscall.Errno(10061)}, "start the server"},
		"no such host":      {&net.DNSError{Err: "no such host", Name: "h", IsNotFound: true}, "no such host"},
		"no answer of DNS":  {&net.DNSError{Err: "timeout", Name: "h", IsTimeout: true}, ""},
		"another":           {errors.New("EOF"), ""},
	} {
		if got := unreachedHint(tt.err); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
