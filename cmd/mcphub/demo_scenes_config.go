package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// fileServer comes from a config file that is edited during the demo.
const fileServer = "demo-file"

// reload loads the config with one more config file, or with the same file again.
func (s *stage) reload(ctx context.Context, source *mcphubv1.ConfigSource) error {
	s.sources = append(slices.DeleteFunc(s.sources, func(have *mcphubv1.ConfigSource) bool {
		return have.GetPath() == source.GetPath()
	}), source)
	r, err := s.client.Servers.ReloadConfig(ctx, &mcphubv1.ReloadConfigRequest{Sources: s.sources})
	if err != nil {
		return asFailure(err)
	}
	for _, p := range r.GetProblems() {
		return errors.New(problemLine(p))
	}
	if len(r.GetStopped()) > 0 {
		return fmt.Errorf("one more config file stopped %s", strings.Join(r.GetStopped(), ", "))
	}
	return nil
}

// configFile writes a config file below the demo's directory. It writes it atomically, as an editor does.
func (s *stage) configFile(name string, content any) (file string, err error) {
	file = filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return "", err
	}
	return file, os.Rename(file+".new", file)
}

// sceneEdit shows that the hub watches the files. A change that does not affect a launch restarts nothing. Any other
// change restarts only that server.
func sceneEdit(ctx context.Context, s *stage) error {
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	type object = map[string]any
	write := func(total string, args ...string) (string, error) {
		args = append([]string{"demo-server", "--record", s.record(fileServer)}, args...)
		return s.configFile("mcp.json", object{"mcpServers": object{fileServer: object{
			"command": executable, "args": args, "timeouts": object{"total": total}, "approvals": object{"*": "allow"},
		}}})
	}
	file, err := write("1h")
	if err == nil {
		err = s.reload(ctx, &mcphubv1.ConfigSource{Scope: "host", Path: file})
	}
	if err != nil {
		return err
	}
	left := s.left.log.mark()
	run := s.call(context.WithoutCancel(ctx), &mcphubv1.CallToolRequest{Server: fileServer,
		Tool: "sleep", ArgumentsJson: `{"seconds":60,"steps":600}`})
	if _, err := s.left.progress(ctx, left, run.request.GetRequestId()); err != nil {
		return err
	}
	before, err := s.processIDs(ctx)
	if err != nil {
		return err
	}
	s.page.says(you, `call sleep {"seconds":60,"steps":600} on %s, which comes from a file`, fileServer)

	// The hub may read one edit twice, so this looks for the reload that stopped the expected servers.
	reloaded := func(mark int, stopped ...string) error {
		_, err := waitFor(ctx, &s.left.log, mark, fmt.Sprintf("the hub's own reload, which stops %q", stopped),
			func(e *mcphubv1.AttachResponse) (bool, bool) {
				r := e.GetConfigReloaded()
				return true, r.GetChangedFile() != "" && slices.Equal(r.GetStopped(), stopped)
			})
		return err
	}
	left = s.left.log.mark()
	if _, err := write("2h"); err != nil {
		return err
	}
	s.page.says(you, "edit the file: a total timeout of 2h, not 1h")
	if err := reloaded(left); err != nil {
		return err
	}
	mark := s.left.log.mark()
	if _, err := s.left.progress(ctx, mark, run.request.GetRequestId()); err != nil {
		return fmt.Errorf("a changed timeout ended the call: %w", err)
	}
	s.page.says(itself, "read %s anew; the call goes on, and no process was touched", filepath.Base(file))

	left = s.left.log.mark()
	if _, err := write("2h", "--greet", "hello"); err != nil {
		return err
	}
	s.page.says(you, "edit the file: one more argument")
	if err := reloaded(left, fileServer); err != nil {
		return err
	}
	f, err := run.fails(ctx, "CANCELLED", "CANCELLED")
	if err != nil {
		return err
	}
	s.page.says(itself, "%s", f.Message)
	if _, err := s.comesBack(ctx, left, fileServer, before[fileServer]); err != nil {
		return err
	}
	after, err := s.processIDs(ctx)
	if err != nil {
		return err
	}
	for name, pid := range before {
		if name != fileServer && after[name] != pid {
			return fmt.Errorf("the process of %s was %d and is %d", name, pid, after[name])
		}
	}
	s.page.says(server, "process %d has taken the place of process %d", after[fileServer], before[fileServer])
	s.page.ok("the other servers have run on as they were")
	return nil
}

// sceneComeback shows that a server comes back although nobody calls it.
func sceneComeback(ctx context.Context, s *stage) error {
	before, err := s.server(ctx, fileServer)
	if err != nil {
		return err
	}
	left := s.left.log.mark()
	run := s.call(context.WithoutCancel(ctx), &mcphubv1.CallToolRequest{Server: fileServer,
		Tool: "crash", ArgumentsJson: `{"code":3}`})
	s.page.says(you, `call crash {"code":3} on %s`, fileServer)
	f, err := run.fails(ctx, "UNAVAILABLE", "SERVER_GONE")
	if err != nil {
		return err
	}
	s.page.says(itself, "%s", f.Message)
	after, err := s.comesBack(ctx, left, fileServer, int(before.GetProcessId()))
	if err != nil {
		return err
	}
	s.page.says(itself, "started it again by itself; process %d is ready", after.GetProcessId())
	if err := s.echoes(ctx, fileServer, "back by myself"); err != nil {
		return err
	}
	s.page.says(server, "back by myself")
	s.page.ok("nobody had to ask for it, and the call was not repeated")
	return nil
}

// comesBack waits until a server is ready in a new process.
func (s *stage) comesBack(ctx context.Context, mark int, name string, before int) (*mcphubv1.Server, error) {
	srv, err := waitFor(ctx, &s.left.log, mark, "the new process of "+
		name, func(e *mcphubv1.AttachResponse) (*mcphubv1.Server, bool) {
		now := e.GetServerChanged().GetServer()
		return now, now.GetName() == name && now.GetState() == mcphubv1.ServerState_SERVER_STATE_READY &&
			int(now.GetProcessId()) != before
	})
	s.seen(int(srv.GetProcessId()), name)
	return srv, err
}

// processIDs returns the process ids of all servers, by name.
func (s *stage) processIDs(ctx context.Context) (map[string]int, error) {
	r, err := s.client.Servers.ListServers(ctx, &mcphubv1.ListServersRequest{})
	if err != nil {
		return nil, asFailure(err)
	}
	ids := map[string]int{}
	for _, srv := range r.GetServers() {
		ids[srv.GetName()] = int(srv.GetProcessId())
		s.seen(int(srv.GetProcessId()), srv.GetName())
	}
	return ids, nil
}
