package plugin

import (
	"net"
	"strconv"
	"testing"
)

// variables look names up in a map.
func variables(set map[string]string) func(string) string {
	return func(name string) string { return set[name] }
}

// The host names the ports that a firewall lets through; one that is taken is passed over.
func TestListenInTheRange(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if l, err := listen("windows", variables(map[string]string{envMinPort: port, envMaxPort: port})); err == nil {
		t.Errorf("it listens at %v, which is taken", l.Addr())
	}
	first, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	last := min(first+20, 65535)
	l, err := listen("windows", variables(map[string]string{envMinPort: port, envMaxPort: strconv.Itoa(last)}))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := l.Addr().(*net.TCPAddr).Port; got <= first || got > last {
		t.Errorf("port %d is not in %d to %d", got, first+1, last)
	}
	anywhere, err := listen("windows", variables(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer anywhere.Close()
	if !anywhere.Addr().(*net.TCPAddr).IP.IsLoopback() {
		t.Errorf("other machines reach %v", anywhere.Addr())
	}
	for _, set := range []map[string]string{{envMinPort: "x", envMaxPort: "20"}, {envMinPort: "30", envMaxPort: "20"},
		{envMinPort: "70000", envMaxPort: "70001"}} {
		if l, err := listen("windows", variables(set)); err == nil {
			t.Errorf("%v: it listens at %v", set, l.Addr())
		}
	}
}

// The line has a seventh part for hosts that ask for it; those of old take that for a part of the certificate.
func TestHandshakeLine(t *testing.T) {
	addr := &net.UnixAddr{Net: "unix", Name: "/tmp/plugin1"}
	if got := handshakeLine(addr, "MIIB", variables(nil)); got != "1|1|unix|/tmp/plugin1|grpc|MIIB" {
		t.Errorf("%q", got)
	}
	if got := handshakeLine(addr, "", variables(map[string]string{envMultiplex: "true"})); got !=
		"1|1|unix|/tmp/plugin1|grpc||false" {
		t.Errorf("%q", got)
	}
}
