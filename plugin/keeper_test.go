//go:build unix

package plugin_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The variables by which the keeper gets its orders, and its files in keeperDir.
const (
	keeperBinary = "MCPHUB_KEEPER_BINARY" // the real hub; set: this test binary is the keeper
	keeperDir    = "MCPHUB_KEEPER_DIR"    // 0700: for the socket, what is kept, and the server's record
	keptFile     = "kept.json"
	recordFile   = "record.jsonl"
)

// kept is what a host needs to come back to its hub. Whoever can read it can act as the host.
type kept struct {
	HubPID, ServerPID int
	Target            string
	HubCert           []byte // DER
	Cert, Key         []byte // PEM
	WindowID, HubID   string
	PromptID          string
}

func TestMain(m *testing.M) {
	if binary := os.Getenv(keeperBinary); binary != "" {
		if err := beKeeper(context.Background(), binary, os.Getenv(keeperDir)); err != nil {
			log.Fatal(err)
		}
		return
	}
	if os.Getenv(brokenHub) != "" {
		os.Exit(beBroken())
	}
	doortest.Main(m)
}

// beKeeper is a host that prepares for a return: it spawns the real hub as an editor does, begins a call that runs and
// one that opens a prompt in its window, writes keptFile, prints "kept", and waits to be killed.
func beKeeper(ctx context.Context, binary, dir string) error {
	cert, key, err := hostCert()
	if err != nil {
		return err
	}
	hub := exec.Command(binary)
	hub.Env = append(os.Environ(),
		handshake.CookieKey+"="+handshake.CookieValue, "PLUGIN_PROTOCOL_VERSIONS=1", handshake.EnvClientCert+"="+string(cert),
		handshake.EnvSocketDir+"="+dir, handshake.EnvHostPID+"="+fmt.Sprint(os.Getpid()), handshake.EnvLog+
			"=debug", handshake.EnvStateDir+"=")
	stdout, err := hub.StdoutPipe()
	if err != nil {
		return err
	}
	stderr, err := hub.StderrPipe()
	if err != nil {
		return err
	}
	if err := hub.Start(); err != nil {
		return err
	}
	go func() { _, _ = bufio.NewReader(stderr).WriteTo(os.Stderr) }() // ends with this process, and then nobody reads
	line, err := bufio.NewReader(stdout).ReadString('\n')
	parts := strings.Split(strings.TrimSpace(line), "|")
	if err != nil || len(parts) != 6 {
		return fmt.Errorf("handshake %q: %w", line, err)
	}
	k := &kept{HubPID: hub.Process.Pid, Target: "unix:" + parts[3], Cert: cert, Key: key}
	if k.HubCert, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil {
		return err
	}
	if err := k.begin(ctx, binary, dir); err != nil {
		return err
	}
	text, err := json.Marshal(k)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, keptFile), text, 0o600)
	}
	if err != nil {
		return err
	}
	fmt.Println("kept")
	<-time.After(time.Hour) // whoever started this kills it
	return nil
}

// begin gives the hub a server, attaches a window, and makes two calls through it: one that keeps running, and one
// whose prompt stays open. It returns when both have come that far.
func (k *kept) begin(ctx context.Context, binary, dir string) error {
	conn, err := k.dial()
	if err != nil {
		return err
	}
	servers := mcphubv1.NewMcpServerServiceClient(conn)
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"s": map[string]any{
		"command": binary, "args": []string{"demo-server", "--record", filepath.Join(dir, recordFile)}, "era": "legacy",
		"approvals": map[string]string{"*": "allow"},
	}}})
	if err != nil {
		return err
	}
	if _,
		err := servers.ReloadConfig(ctx,
		&mcphubv1.ReloadConfigRequest{Sources: []*mcphubv1.ConfigSource{{Scope: "host", Path: "config",
			Json: string(config)}}}); err != nil {
		return err
	}
	stream, err := mcphubv1.NewEditorServiceClient(conn).Attach(ctx)
	if err != nil {
		return err
	}
	if err := stream.Send(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{Hello: &mcphubv1.Hello{
		Title: "side bar", PromptKinds: []mcphubv1.PromptKind{mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM},
	}}}); err != nil {
		return err
	}
	for _, r := range []*mcphubv1.CallToolRequest{
		{RequestId: "call", Server: "s", Tool: "long_task", ArgumentsJson: `{"steps":10000,"step_ms":100}`},
		{RequestId: "asks", Server: "s", Tool: "ask_name", ArgumentsJson: `{}`},
	} {
		m, err := mcphubv1.NewCall(mcphubv1.McpHubService_CallTool_FullMethodName, r)
		if err == nil {
			err = stream.Send(m)
		}
		if err != nil {
			return err
		}
	}
	for runs := false; !runs || k.PromptID == ""; {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		if w := m.GetWelcome(); w != nil {
			k.WindowID, k.HubID = w.GetWindowId(), w.GetHubId()
		}
		if p := m.GetMcpRequestProgressed(); p.GetRequestId() == "call" && p.GetProgress() != nil {
			runs = true
		}
		if p := m.GetPromptOpened().GetPrompt(); p != nil {
			k.PromptID = p.GetPromptId()
		}
	}
	list, err := servers.ListServers(ctx, &mcphubv1.ListServersRequest{})
	if err != nil {
		return err
	}
	k.ServerPID = int(list.GetServers()[0].GetProcessId())
	return nil
}

// dial connects to the hub as the host that it was started for.
func (k *kept) dial() (*grpc.ClientConn, error) {
	pair, err := tls.X509KeyPair(k.Cert, k.Key)
	if err != nil {
		return nil, err
	}
	hub, err := x509.ParseCertificate(k.HubCert)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(hub)
	return grpc.NewClient(k.Target, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{pair}, RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12,
	})))
}

// hostCert makes the certificate and the key that AutoMTLS needs from a host.
func hostCert() (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		IsCA:        true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}), nil
}

// keptHub is a hub whose host was killed with SIGKILL while a call ran and a prompt was open.
type keptHub struct {
	kept
	dir         string
	hub, server *doortest.Death
}

// leaveBehind starts a keeper with this return grace, and kills it once it has kept what a host needs to come back.
func leaveBehind(t *testing.T, grace string) *keptHub {
	t.Helper()
	dir, _ := socketDir(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), keeperBinary+"="+doortest.Binary(t), keeperDir+"="+dir, handshake.EnvReturnGrace+"="+
		grace)
	var said strings.Builder
	cmd.Stderr = &said
	cmd.WaitDelay = faketime.Long
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(faketime.Long, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	h := &keptHub{dir: dir}
	if line == "kept\n" {
		text, err := os.ReadFile(filepath.Join(dir, keptFile))
		if err == nil {
			err = json.Unmarshal(text, &h.kept)
		}
		if err != nil {
			t.Fatal(err)
		}
		h.hub, h.server = doortest.Watch(t, h.HubPID), doortest.Watch(t, h.ServerPID)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if h.hub == nil {
		t.Fatalf("the keeper did not come so far:\n%s", said.String())
	}
	return h
}

// back connects to the hub as a host that comes back.
func (h *keptHub) back(t *testing.T) *grpc.ClientConn {
	t.Helper()
	conn, err := h.dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// bounded returns the context of a call that must end.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), faketime.Long, errors.New("the bound of the test"))
	t.Cleanup(cancel)
	return ctx
}
