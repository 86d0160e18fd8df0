package ipc

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Before anything is written, a host or a window learns which files take a server and why others do not, what servers a
// text holds, what an entry is now, and what a change of it would write.
func TestConfigEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		write := func(name, text string) string {
			t.Helper()
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}
		const text = "{\n  \"servers\": {\n    \"a\": {\"command\": \"x\", \"env\": {\"K\": \"s3cret\", \"PATH\": null}, " +
			"\"timeouts\": {\"total\": \"9s\"}},\n" +
			"    \"b\": {\"command\": 7}\n  }\n}\n"
		file := write(".vscode/mcp.json", text)
		broken := write("cline_mcp_settings.json", "{\n  \"mcpServers\": {\n")
		locked := write("locked.json", "{}")
		if err := os.Chmod(locked, 0o400); err != nil {
			t.Fatal(err)
		}
		missing := filepath.Join(dir, "later", "mcp.json")
		_, conn := realHub(t, fakeserver.New())
		ctx, configs := t.Context(), mcphubv1.NewConfigServiceClient(conn)
		loaded, err := mcphubv1.NewMcpServerServiceClient(conn).ReloadConfig(ctx, &mcphubv1.ReloadConfigRequest{
			WatchedByHost: true, Sources: []*mcphubv1.ConfigSource{
				{Scope: "host", Path: "mine", Json: "{}"}, {Scope: "user", Path: broken}, {Scope: "user", Path: locked},
				{Scope: "user", Path: missing, MayBeMissing: true},
				{Scope: "workspace", Path: file, Folder: dir}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range loaded.GetProblems() {
			if p.GetFile() == missing {
				t.Errorf("a file that may be missing is told: %v", p)
			}
		}

		files, err := configs.ListConfigFiles(ctx, &mcphubv1.ListConfigFilesRequest{})
		if err != nil || len(files.GetFiles()) != 5 {
			t.Fatal(files, err)
		}
		of := files.GetFiles()
		for i, why := range []string{"no file", "", "read-only", "", ""} {
			if i == 1 {
				if of[1].GetNotWritable() == "" || of[1].GetLine() == 0 {
					t.Errorf("%v", of[1])
				}
				continue
			}
			if got := of[i].GetNotWritable(); why == "" && got != "" || !strings.Contains(got, why) {
				if i != 2 || runtime.GOOS != "windows" && os.Geteuid() != 0 {
					t.Errorf("%d: %q, want %q", i, got, why)
				}
			}
		}
		if !of[3].GetIsDefault() || of[3].GetExists() || !of[4].GetTakesInputs() ||
			of[4].GetEnvironmentReference() != "${env:NAME}" || strings.Join(of[4].GetServers(), ",") != "a,b" {
			t.Errorf("%v %v", of[3], of[4])
		}

		read, err := configs.ReadConfigText(ctx, &mcphubv1.ReadConfigTextRequest{
			Text: "[mcp_servers.c]\ncommand = \"y\"\nargs = [\"1\"]\n"})
		if e := read.GetEntries(); err != nil || len(e) != 1 || e[0].GetServer() != "c" || e[0].GetDialect() != "codex" ||
			e[0].GetForm().GetCommand() != "y" {
			t.Errorf("%v %v", read, err)
		}
		read, err = configs.ReadConfigText(ctx, &mcphubv1.ReadConfigTextRequest{Text: "{\n\"command\": \"x\",,\n}"})
		if p := read.GetProblems(); err != nil || len(p) != 1 || p[0].GetLine() != 2 || !p[0].GetFatal() {
			t.Errorf("%v %v", read, err)
		}

		a, err := configs.GetServerEntry(ctx, &mcphubv1.GetServerEntryRequest{Server: "a"})
		if e := a.GetEntry(); err != nil || e.GetForm().GetEnvironment()["K"] != "s3cret" || e.GetLine() != 3 ||
			len(e.GetForm().GetEnvironment()) != 1 || strings.Join(e.GetForm().GetUnsetEnvironment(), ",") != "PATH" ||
			e.GetSettings().GetTimeouts().GetTotal().AsDuration().String() != "9s" || a.GetFile().GetPath() != file {
			t.Errorf("%v %v", a, err)
		}
		b, err := configs.GetServerEntry(ctx, &mcphubv1.GetServerEntryRequest{Server: "b"})
		if err != nil || b.GetEntry().GetForm() != nil || b.GetEntry().GetProblems()[0].GetKey() != "command" {
			t.Errorf("%v %v", b, err)
		}
		_, err = configs.GetServerEntry(ctx, &mcphubv1.GetServerEntryRequest{Server: "z"})
		if status.Code(err) != codes.NotFound {
			t.Error(err)
		}

		add := &mcphubv1.AddServerRequest{Server: "c", ConfigFile: file, Preview: true,
			Entry: &mcphubv1.AddServerRequest_Form{Form: &mcphubv1.ServerForm{Command: "y",
				Environment: map[string]string{"T": "${input:t}"}}},
			Inputs: []*mcphubv1.EntryInput{{Id: "t", Description: "Token", Secret: true}}}
		preview, err := configs.AddServer(ctx, add)
		if w := preview.GetWrite(); err != nil || !w.GetNeedsConsent() || w.GetCanUndo() ||
			!strings.Contains(w.GetLinesAfter(), `"T": "${input:t}"`) || !strings.Contains(w.GetLinesAfter(), `"password": true`) {
			t.Errorf("%v %v", preview, err)
		}
		removed, err := configs.RemoveServer(ctx, &mcphubv1.RemoveServerRequest{Server: "b", Preview: true})
		if w := removed.GetWrite(); err != nil || !strings.Contains(w.GetLinesBefore(), `"b": {"command": 7}`) {
			t.Errorf("%v %v", removed, err)
		}
		off, err := configs.UpdateServer(ctx, &mcphubv1.UpdateServerRequest{Server: "a", Preview: true,
			Settings: &mcphubv1.ServerSettings{Enabled: new(false)}})
		if w := off.GetWrite(); err != nil || !strings.Contains(w.GetLinesAfter(), `"disabled": true`) {
			t.Errorf("%v %v", off, err)
		}
		add.Server = "a"
		if _, err := configs.AddServer(ctx, add); status.Code(err) != codes.AlreadyExists {
			t.Error(err)
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != text {
			t.Errorf("a preview wrote: %s %v", now, err)
		}
		if _, err := configs.UndoConfigWrite(ctx, &mcphubv1.UndoConfigWriteRequest{}); err == nil {
			t.Error("a preview can be undone")
		} else if info, _ := status.Convert(err).Details()[0].(*errdetails.ErrorInfo); info.GetReason() != "NOTHING_TO_UNDO" {
			t.Error(err)
		}

		w := fakeeditor.Open(ctx, conn, fakeeditor.Options{TB: t, ID: "w"})
		reply := w.Ask(callOf("", &mcphubv1.ListConfigFilesRequest{}))
		if len(responseOf[*mcphubv1.ListConfigFilesResponse](reply).GetFiles()) != 5 {
			t.Error(reply)
		}
		reply = w.Ask(callOf("", &mcphubv1.ReadConfigTextRequest{Text: `{"command": "x"}`}))
		if len(responseOf[*mcphubv1.ReadConfigTextResponse](reply).GetEntries()) != 1 {
			t.Error(reply)
		}
		reply = w.Ask(callOf("", &mcphubv1.GetServerEntryRequest{Server: "a"}))
		if responseOf[*mcphubv1.GetServerEntryResponse](reply).GetEntry().GetForm().GetCommand() != "x" {
			t.Error(reply)
		}
		// The refusal names the file and the key, and not the value.
		wrong := &mcphubv1.UpdateServerRequest{Server: "a", PatchJson: `{"args": {"K": "s3cret"}}`}
		reply = w.Ask(callOf("", wrong))
		if e := reply.GetError(); e.GetReason() != "CONFIG_INVALID" || reply.GetErrorPlace().GetKey() != "args" ||
			reply.GetErrorPlace().GetFile() != file || strings.Contains(e.GetMessage(), "s3cret") {
			t.Error(reply)
		}
	})
}
