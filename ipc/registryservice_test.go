package ipc

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/internal/fakeregistry"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// bundleBytes is a bundle of one server with a secret.
func bundleBytes(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range map[string]string{"manifest.json": `{"manifest_version": "0.3", "name": "notes", "version": "1.0.0",
		"description": "Notes", "author": {"name": "Somebody"}, "server": {"type": "node", "entry_point": "index.js",
		"mcp_config": {"command": "node", "args": ["${__dirname}/index.js"], "env": {"KEY": "${user_config.key}"}}},
		"user_config": {"key": {"type": "string", "title": "Key", "sensitive": true}}}`, "index.js": "1"} {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// finding serves a hub with a config file and a state directory. It reaches registries over real sockets, so it cannot
// be used in a synctest bubble.
func finding(t *testing.T) (conn *grpc.ClientConn, config, state string) {
	t.Helper()
	state = t.TempDir()
	h := hub.New(hub.Options{Version: "9.9.9", StateDir: state})
	t.Cleanup(func() { _ = h.Close(context.WithoutCancel(t.Context())) })
	conn = serve(t, wholeHub{h}, Options{})
	config = filepath.Join(t.TempDir(), "mcp.json")
	_, err := mcphubv1.NewMcpServerServiceClient(conn).ReloadConfig(t.Context(), &mcphubv1.ReloadConfigRequest{
		Sources: []*mcphubv1.ConfigSource{{Scope: "user", Path: config, Dialect: "vscode"}}, WatchedByHost: true})
	if err != nil {
		t.Fatal(err)
	}
	return conn, config, state
}

// A server of a registry is found, its inputs are filled in, and it is added.
func TestRegistryService(t *testing.T) {
	conn, config, _ := finding(t)
	find := mcphubv1.NewRegistryServiceClient(conn)
	r := fakeregistry.Open(t, fakeregistry.Entry{Server: `{"name": "io.example/weather", "version": "1.2.0",
		"description": "Weather", "packages": [{"registryType": "cargo", "identifier": "w"}, {"registryType": "npm",
		"identifier": "weather", "version": "1.2.0", "environmentVariables": [{"name": "KEY", "isRequired": true,
		"isSecret": true}, {"name": "UNIT", "choices": ["c", "f"], "isRequired": true}]}]}`})
	found, err := find.SearchRegistry(t.Context(), &mcphubv1.SearchRegistryRequest{RegistryUrl: r.URL, Query: "weather"})
	if err != nil || len(found.GetServers()) != 1 {
		t.Fatal(found, err)
	}
	s := found.GetServers()[0]
	if s.GetPublisher() != "io.example" || s.GetStatus() != mcphubv1.RegistryStatus_REGISTRY_STATUS_ACTIVE ||
		s.GetPublishTime().GetSeconds() == 0 || !cmp.Equal(s.GetKinds(), []string{"cargo", "npm"}) {
		t.Error(s)
	}
	got, err := find.GetRegistryServer(t.Context(),
		&mcphubv1.GetRegistryServerRequest{RegistryUrl: r.URL, Name: s.GetName()})
	if err != nil || len(got.GetProposals()) != 2 || got.GetProposals()[1].GetUnusable() == "" {
		t.Fatal(got, err)
	}
	p := got.GetProposals()[0]
	key, unit := p.GetInputs()[0].GetId(), p.GetInputs()[1].GetId()
	want := &mcphubv1.ServerForm{Command: "npx", Args: []string{"-y", "weather@1.2.0"},
		Environment: map[string]string{"KEY": "${input:" + key + "}", "UNIT": "${input:" + unit + "}"}}
	if diff := cmp.Diff(want, p.GetForm(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	fill := &mcphubv1.FillProposalRequest{ProposalId: p.GetProposalId()}
	filled, err := find.FillProposal(t.Context(), fill)
	if err != nil || !cmp.Equal(filled.GetMissing(), []string{unit}) {
		t.Error(filled, err)
	}
	fill.Values = map[string]*mcphubv1.InputValues{unit: {Values: []string{"k"}}}
	if _, err = find.FillProposal(t.Context(), fill); status.Code(err) != codes.InvalidArgument {
		t.Error(err)
	}
	fill.Values = map[string]*mcphubv1.InputValues{unit: {Values: []string{"c"}}, key: {Values: []string{"k3y"}}}
	if filled, err = find.FillProposal(t.Context(), fill); err != nil || filled.GetMissing() != nil {
		t.Fatal(filled, err)
	}
	added, err := mcphubv1.NewConfigServiceClient(conn).AddServer(t.Context(), &mcphubv1.AddServerRequest{
		Server: p.GetServer(), ProposalId: p.GetProposalId(), Entry: entryJSON(filled.GetEntryJson())})
	if err != nil || !added.GetWrite().GetNeedsConsent() {
		t.Fatal(added, err)
	}
	text, err := os.ReadFile(config)
	for _, part := range []string{`"weather": {`, `"npx"`, `"weather@1.2.0"`, `"UNIT": "c"`, `"KEY": "k3y"`} {
		if err != nil || !strings.Contains(string(text), part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
	for _, id := range []string{"none", ""} {
		_, err = find.FillProposal(t.Context(), &mcphubv1.FillProposalRequest{ProposalId: id})
		if status.Code(err) != codes.NotFound && status.Code(err) != codes.InvalidArgument {
			t.Error(err)
		}
	}
	_, err = find.SearchRegistry(t.Context(), &mcphubv1.SearchRegistryRequest{})
	if status.Code(err) != codes.FailedPrecondition {
		t.Error(err)
	}
}

// The end of a gRPC call ends its request to the registry, and so does a window that gives up its order.
func TestSearchGivenUp(t *testing.T) {
	conn, _, _ := finding(t)
	r := fakeregistry.Open(t)
	arrived, over := make(chan struct{}), make(chan struct{})
	r.Instead(func(_ http.ResponseWriter, q *http.Request) {
		arrived <- struct{}{}
		<-q.Context().Done()
		over <- struct{}{}
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	result := make(chan error, 1)
	search := &mcphubv1.SearchRegistryRequest{RegistryUrl: r.URL, Query: "x"}
	go func() {
		_, err := mcphubv1.NewRegistryServiceClient(conn).SearchRegistry(ctx, search)
		result <- err
	}()
	<-arrived
	cancel(fmt.Errorf("enough"))
	<-over
	if err := <-result; status.Code(err) != codes.Canceled {
		t.Error(err)
	}
	w := openRaw(t, conn, &mcphubv1.Hello{WindowId: "w"})
	w.send(callOf("1", search))
	<-arrived
	giveUp := &mcphubv1.AttachRequest_GiveUp{GiveUp: &mcphubv1.GiveUp{MessageId: "1"}}
	w.send(&mcphubv1.AttachRequest{MessageId: "2", Message: giveUp})
	<-over
	got := w.replies(2)
	if slices.Sort(got); !slices.Equal(got, []string{"1 0 CANCELLED", "2 0 "}) {
		t.Error(got)
	}
	w.send(&mcphubv1.AttachRequest{MessageId: "3", Message: giveUp}) // the order is over already: no effect
	if got := w.replies(1); got[0] != "3 0 " {
		t.Error(got)
	}
}

// A bundle is read, and unpacked when the entry is added; an add that is refused leaves nothing of it.
func TestBundleService(t *testing.T) {
	conn, config, state := finding(t)
	find, configs := mcphubv1.NewRegistryServiceClient(conn), mcphubv1.NewConfigServiceClient(conn)
	content := bundleBytes(t)
	at := filepath.Join(t.TempDir(), "notes.mcpb")
	if err := os.WriteFile(at, content, 0o600); err != nil {
		t.Fatal(err)
	}
	path := func(file string) *mcphubv1.ReadBundleRequest {
		return &mcphubv1.ReadBundleRequest{From: &mcphubv1.ReadBundleRequest_Path{Path: file}}
	}
	read, err := find.ReadBundle(t.Context(), path(at))
	if err != nil || read.GetAuthor() != "Somebody" ||
		!strings.HasPrefix(read.GetFolder(), filepath.Join(state, "bundles")) {
		t.Fatal(read, err)
	}
	p := read.GetProposal()
	filled, err := find.FillProposal(t.Context(), &mcphubv1.FillProposalRequest{ProposalId: p.GetProposalId()})
	if err != nil || filled.GetForm().GetEnvironment() != nil || filled.GetMissing() != nil {
		t.Fatal(filled, err) // a secret that is not required is left out
	}
	add := &mcphubv1.AddServerRequest{Server: "notes", ProposalId: p.GetProposalId(), Entry: entryJSON("{")}
	if _, err := configs.AddServer(t.Context(), add); err == nil {
		t.Error("a text that is none was added")
	}
	if left, _ := os.ReadDir(filepath.Join(state, "bundles")); len(left) != 0 {
		t.Error(left)
	}
	add.Entry = entryJSON(filled.GetEntryJson())
	if _, err := configs.AddServer(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(read.GetFolder(), "index.js")); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(config); err != nil || !strings.Contains(string(text), "notes") {
		t.Error(string(text), err)
	}
	_, err = find.ReadBundle(t.Context(), path(config))
	if status.Code(err) != codes.InvalidArgument {
		t.Error(err)
	}
}

// A bundle of a registry is downloaded only by ReadBundle, and taken only if its hash is right.
func TestRegistryBundle(t *testing.T) {
	conn, _, state := finding(t)
	find := mcphubv1.NewRegistryServiceClient(conn)
	content := bundleBytes(t)
	sum := sha256.Sum256(content)
	r := fakeregistry.Open(t)
	for name, hash := range map[string]string{"good": hex.EncodeToString(sum[:]), "bad": strings.Repeat("0", 64)} {
		r.Add(fakeregistry.Entry{Server: fmt.Sprintf(`{"name": "io.example/%s", "version": "1", "packages":
			[{"registryType": "mcpb", "identifier": %q, "fileSha256": %q}]}`, name, r.Serve("/mcp.mcpb", content), hash)})
	}
	bundles := func() int {
		all, _ := os.ReadDir(filepath.Join(state, "bundles"))
		return len(all)
	}
	for _, name := range []string{"good", "bad"} {
		got, err := find.GetRegistryServer(t.Context(), &mcphubv1.GetRegistryServerRequest{RegistryUrl: r.URL,
			Name: "io.example/" + name})
		if err != nil || len(got.GetProposals()) != 1 || !got.GetProposals()[0].GetNeedsDownload() {
			t.Fatal(got, err)
		}
		id := got.GetProposals()[0].GetProposalId()
		_, err = find.FillProposal(t.Context(), &mcphubv1.FillProposalRequest{ProposalId: id})
		if status.Code(err) != codes.FailedPrecondition {
			t.Error(err)
		}
		before := bundles()
		read, err := find.ReadBundle(t.Context(),
			&mcphubv1.ReadBundleRequest{From: &mcphubv1.ReadBundleRequest_ProposalId{ProposalId: id}})
		if name == "bad" {
			if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "SHA-256") || bundles() != before {
				t.Error(read, err, bundles())
			}
			continue
		}
		if err != nil || read.GetProposal().GetForm().GetCommand() != "node" || bundles() != 1 {
			t.Error(read, err, bundles())
		}
	}
}
