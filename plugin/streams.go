package plugin

import (
	"fmt"
	"net"
	"os"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// relay takes the place of the process's standard output and error once the host has read the handshake line. What is
// written to them from then on goes to the host by go-plugin's own stream, as hosts expect.
type relay struct{ stdout, stderr *os.File }

// newRelay makes one, and gives the ends that go-plugin reads.
func newRelay() (stdout, stderr *os.File, r *relay, err error) {
	r = &relay{}
	if stdout, r.stdout, err = os.Pipe(); err != nil {
		return nil, nil, nil, err
	}
	if stderr, r.stderr, err = os.Pipe(); err != nil {
		return nil, nil, nil, err
	}
	return stdout, stderr, r, nil
}

// begin writes the line, and takes the place. Nobody else writes to either before.
func (r *relay) begin(line string) error {
	if _, err := fmt.Fprintln(os.Stdout, line); err != nil {
		return err
	}
	os.Stdout, os.Stderr = r.stdout, r.stderr
	return nil
}

// envMultiplex is what a host sets that would put several connections on one socket.
const envMultiplex = "PLUGIN_MULTIPLEX_GRPC"

// handshakeLine is what the host reads. A host that would put several connections on one socket is told that this is
// not done here: it is for go-plugin's broker, which nothing of the contract needs.
func handshakeLine(addr net.Addr, certificate string, getenv func(string) string) string {
	line := fmt.Sprintf("%d|%d|%s|%s|%s|%s", goplugin.CoreProtocolVersion, handshake.ProtocolVersion, addr.Network(),
		addr.String(), goplugin.ProtocolGRPC, certificate)
	if getenv(envMultiplex) != "" {
		line += "|false"
	}
	return line
}
