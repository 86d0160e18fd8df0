package ipc

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// A host adds, changes and removes a server of a file, and takes that back; each answer says what the server has
// become.
func TestConfigService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "cline_mcp_settings.json")
		_, conn := realHub(t, fakeserver.New())
		ctx, configs := t.Context(), mcphubv1.NewConfigServiceClient(conn)
		_, err := mcphubv1.NewMcpServerServiceClient(conn).ReloadConfig(ctx, &mcphubv1.ReloadConfigRequest{
			Sources: []*mcphubv1.ConfigSource{{Scope: "user", Path: file}}, WatchedByHost: true})
		if err != nil {
			t.Fatal(err)
		}
		wantFile := func(want string) {
			t.Helper()
			if text, err := os.ReadFile(file); err != nil || string(text) != want {
				t.Errorf("the file has %s (%v), want %s", text, err, want)
			}
		}
		added, err := configs.AddServer(ctx, &mcphubv1.AddServerRequest{Server: "s", WrittenBy: "an extension",
			Entry: entryJSON(`"other": {"type": "stdio", "command": "x", "env": {"A": "${env:A}"}, "tools": ["*"]}`)})
		if err != nil {
			t.Fatal(err)
		}
		if w, s := added.GetWrite(), added.GetServer(); w.GetConfigFile() != file || w.GetConfigLine() != 3 ||
			w.GetConfigDialect() != "cline" || !w.GetNeedsConsent() || !w.GetCanUndo() ||
			s.GetLaunchConsent() != mcphubv1.LaunchConsent_LAUNCH_CONSENT_NEEDED || s.GetConfigLine() != 3 {
			t.Errorf("added: %v", added)
		}
		const first = "{\n  \"mcpServers\": {\n    \"s\": {\n      \"command\": \"x\",\n      \"env\": {\n" +
			"        \"A\": \"${env:A}\"\n      }"
		wantFile(first + "\n    }\n  }\n}\n")
		allow := map[string]mcphubv1.ApprovalPolicy{"t": mcphubv1.ApprovalPolicy_APPROVAL_POLICY_ALLOW}
		clocks := &mcphubv1.ServerTimeouts{Total: durationpb.New(90 * time.Second), Connect: durationpb.New(0)}
		updated, err := configs.UpdateServer(ctx, &mcphubv1.UpdateServerRequest{Server: "s",
			Settings: &mcphubv1.ServerSettings{Enabled: new(false), Approvals: allow, Timeouts: clocks}})
		if err != nil || updated.GetServer().GetState() != mcphubv1.ServerState_SERVER_STATE_DISABLED {
			t.Fatalf("%v %v", updated, err)
		}
		wantFile(first + ",\n      \"disabled\": true,\n      \"autoApprove\": [\"t\"],\n      \"timeouts\": {\n" +
			"        \"connect\": \"0s\"\n      },\n      \"timeout\": 90\n    }\n  }\n}\n")
		removed, err := configs.RemoveServer(ctx, &mcphubv1.RemoveServerRequest{Server: "s"})
		if err != nil || removed.GetServer() != nil || removed.GetWrite().GetConfigLine() != 0 {
			t.Errorf("%v %v", removed, err)
		}
		wantFile("{\n  \"mcpServers\": {}\n}\n")
		undone, err := configs.UndoConfigWrite(ctx, &mcphubv1.UndoConfigWriteRequest{})
		if err != nil || undone.GetServer().GetState() != mcphubv1.ServerState_SERVER_STATE_DISABLED ||
			!undone.GetWrite().GetNeedsConsent() {
			t.Errorf("%v %v", undone, err)
		}
		_, err = configs.AddServer(ctx, &mcphubv1.AddServerRequest{Server: "s", Entry: entryJSON(`{"command": "y"}`)})
		if status.Code(err) != codes.AlreadyExists {
			t.Error(err)
		}
		_, err = configs.UpdateServer(ctx, &mcphubv1.UpdateServerRequest{Server: "s", PatchJson: `{"args": {"K": "s3cret"}}`})
		info, _ := status.Convert(err).Details()[0].(*errdetails.ErrorInfo)
		if info.GetReason() != "CONFIG_INVALID" || info.GetMetadata()["key"] != "args" || info.GetMetadata()["file"] != file {
			t.Errorf("%v %v", err, info)
		}
	})
}

// A window's order to write a config is answered with what was written, and the launch prompt names the window as the
// writer.
func TestWindowWritesConfig(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "mcp.json")
		_, conn := realHub(t, fakeserver.New())
		_, err := mcphubv1.NewMcpServerServiceClient(conn).ReloadConfig(t.Context(), &mcphubv1.ReloadConfigRequest{
			Sources: []*mcphubv1.ConfigSource{{Scope: "user", Path: file}}, WatchedByHost: true})
		if err != nil {
			t.Fatal(err)
		}
		w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t, ID: "w"})
		add := &mcphubv1.AddServerRequest{Server: "s", Entry: &mcphubv1.AddServerRequest_Form{
			Form: &mcphubv1.ServerForm{Command: "s", Args: []string{"1"}, Environment: map[string]string{"A": "1"}}}}
		reply := w.Ask(callOf("", add))
		if reply.GetError() != nil || responseOf[*mcphubv1.AddServerResponse](reply).GetWrite().GetConfigFile() != file {
			t.Fatal(reply)
		}
		call(t, conn, &mcphubv1.CallToolRequest{Tool: "t", Preapproved: true})
		synctest.Wait()
		prompts := w.Prompts()
		if len(prompts) != 1 || prompts[0].GetServerLaunch().GetWrittenBy().GetWindowId() != "w" ||
			prompts[0].GetServerLaunch().GetWrittenBy().GetName() != "the window w" {
			t.Errorf("%v", prompts)
		}
		undo := callOf("", &mcphubv1.UndoConfigWriteRequest{})
		if reply := w.Ask(undo); reply.GetError() != nil {
			t.Error(reply)
		}
		synctest.Wait()
		if prompts := w.Prompts(); len(prompts) != 0 {
			t.Errorf("%v", prompts)
		}
	})
}

// Of two entries with one name each is changed and removed by its address; the answer shows that entry's server.
func TestConfigServiceByScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder, dir := t.TempDir(), t.TempDir()
		mine, theirs := filepath.Join(dir, "mcp.json"), filepath.Join(folder, "mcp.json")
		for file, command := range map[string]string{mine: "m", theirs: "t"} {
			text := `{"servers": {"s": {"command": "` + command + `"}}}`
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, conn := realHub(t, fakeserver.New())
		ctx, configs := t.Context(), mcphubv1.NewConfigServiceClient(conn)
		servers := mcphubv1.NewMcpServerServiceClient(conn)
		r, err := servers.ReloadConfig(ctx, &mcphubv1.ReloadConfigRequest{WatchedByHost: true,
			Sources: []*mcphubv1.ConfigSource{{Scope: "user", Path: mine},
				{Scope: "workspace", Path: theirs, Folder: folder}}})
		if err != nil || len(r.GetServers()) != 2 || r.GetServers()[1].GetName() != "s@workspace" ||
			r.GetServers()[1].GetConfigName() != "s" || r.GetServers()[1].GetPlace() != 2 {
			t.Fatalf("%v, %v", r, err)
		}
		_, err = configs.UpdateServer(ctx, &mcphubv1.UpdateServerRequest{Server: "s", PatchJson: `{"args": ["x"]}`})
		if status.Code(err) != codes.InvalidArgument {
			t.Errorf("without saying which: %v", err)
		}
		for address, want := range map[string]struct{ file, name, scope string }{
			"s@user": {mine, "s", "user"}, "s@workspace": {theirs, "s@workspace", "workspace"}} {
			u, err := configs.UpdateServer(ctx, &mcphubv1.UpdateServerRequest{Server: address,
				Settings: &mcphubv1.ServerSettings{Enabled: new(false)}})
			if err != nil {
				t.Fatal(err)
			}
			if s, w := u.GetServer(), u.GetWrite(); w.GetConfigFile() != want.file || w.GetServer() != "s" ||
				s.GetName() != want.name || s.GetConfigScope() != want.scope ||
				s.GetState() != mcphubv1.ServerState_SERVER_STATE_DISABLED {
				t.Errorf("%s: %v", address, u)
			}
		}
		gone, err := configs.RemoveServer(ctx, &mcphubv1.RemoveServerRequest{Server: "s@user"})
		if err != nil || gone.GetWrite().GetConfigFile() != mine || gone.GetServer().GetName() != "s" ||
			gone.GetServer().GetConfigScope() != "workspace" {
			t.Errorf("%v, %v", gone, err)
		}
		if _, err = configs.RemoveServer(ctx, &mcphubv1.RemoveServerRequest{Server: "s@user"}); status.Code(err) !=
			codes.NotFound {
			t.Errorf("%v", err)
		}
	})
}

// responseOf returns the response of a reply, nil if it has none of that type.
func responseOf[R proto.Message](r *mcphubv1.Reply) (response R) {
	if r.GetResponse() != nil {
		m, err := r.GetResponse().UnmarshalNew()
		if err != nil {
			panic(err)
		}
		response, _ = m.(R)
	}
	return response
}
