//go:build unix

package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/doortest"
)

// The least number of scenarios that must have run against the gateway, so that a suite that runs fewer is noticed.
var leastScenarios = map[string]int{legacy: 33, modern: 50}

// noAggregator lists checks that no program between a client and several servers can pass. The hub declares to each
// server all that any client or window might answer, because it connects to servers before it knows the clients. So a
// server that checks the declared capabilities runs a tool that it would refuse to this client.
var noAggregator = []string{"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"}

// TestConformanceGateway runs the server scenarios of both revisions against the gateway, with the everything-server of
// the Go SDK behind it. All scenarios must pass, except for those in expected-failures.yml.
func TestConformanceGateway(t *testing.T) {
	dir := t.TempDir()
	server := filepath.Join(dir, "everything-server")
	const source = "github.com/modelcontextprotocol/go-sdk/conformance/everything-server"
	if out, err := exec.Command("go", "build", "-o", server, source).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	failed := map[string]bool{}
	for _, line := range []struct{ revision, era string }{{legacy, "legacy"}, {modern, "modern"}} {
		t.Run(line.revision, func(t *testing.T) {
			for name, err := range newest(t).serverVerdicts(t, startGateway(t, server, line.era), line.revision) {
				failed[name] = failed[name] || err != nil
				if reason, known := expectedOfGateway(t)[name]; known && err != nil {
					t.Logf("%s fails as expected (%s)", name, reason)
				} else if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	for name, reason := range expectedOfGateway(t) {
		if !failed[name] {
			t.Errorf("%s passes or is not run, although expected-failures.yml says: %s. Remove its entry", name, reason)
		}
	}
}

// startGateway serves one server as the gateway, and returns an address that needs no token.
func startGateway(t *testing.T, server, era string) string {
	t.Helper()
	dir := t.TempDir()
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"everything": map[string]any{
		"command": server, "era": era, "approvals": map[string]string{"*": "allow"}}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(doortest.Binary(t), "mcp", file, "--plain-names", "--http", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "MCPHUB_STATE_DIR="+filepath.Join(dir, "state"))
	lines := doortest.Serve(t, cmd)
	address, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	header, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return forward(t, strings.TrimSpace(address), strings.TrimSpace(strings.TrimPrefix(header, "Authorization:")))
}

// forward serves a reverse proxy that adds the token to the requests of the suite and changes nothing else.
func forward(t *testing.T, address, authorization string) string {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{Transport: transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = to.Scheme, to.Host, r.In.Host
		r.Out.Header.Set("Authorization", authorization)
	}}
	forwarder := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// net/http closes the body of the request when the answer begins. If the transport has not read the body to its
		// end by then, it aborts the answer.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(forwarder.Close)
	return forwarder.URL + to.Path
}

// ranServer finds the name of a scenario in the name of its folder: server-NAME-DATE.
var ranServer = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT`)

// gatewayLimit is the time limit for all scenarios of one revision.
const gatewayLimit = 5 * time.Minute

// serverVerdicts runs all scenarios that a revision requires of a server, and returns the error of each, nil if it
// passed.
func (s suite) serverVerdicts(t *testing.T, address, revision string) map[string]error {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeoutCause(t.Context(), gatewayLimit, errors.New("the suite took too long"))
	defer cancel()
	_, log, _ := s.within(ctx, "server", "--url", address, "--requirements", revision, "-o", dir)
	found, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]error{}
	for _, file := range found {
		m := ranServer.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
		text, err := os.ReadFile(file)
		var checks []check
		if err == nil {
			err = json.Unmarshal(text, &checks)
		}
		if m == nil || err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		verdicts[m[1]] = failures(checks)
	}
	if len(verdicts) < leastScenarios[revision] {
		t.Errorf("%d scenarios of %s ran, known are %d\n%s", len(verdicts), revision, leastScenarios[revision], tail(log))
	}
	return verdicts
}

// failures returns the failed checks of a scenario as an error. Warnings do not count, as in the suite's own verdict on
// servers.
func failures(checks []check) error {
	var bad []string
	for _, c := range checks {
		if c.Status == "FAILURE" && !slices.Contains(noAggregator, c.ID) {
			bad = append(bad, c.ID+": "+c.ErrorMessage)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return errors.New(strings.Join(bad, "\n"))
}
