//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/plugin/handshake"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// desktop is the environment of a hub under a graphical editor: the peer is in the PATH of the login shell only, and
// that shell waits while there is a file "hold" in the home.
func (e *estate) desktop() (env []string) {
	e.t.Helper()
	home := e.file("home")
	tools := filepath.Join(home, "tools")
	if err := os.MkdirAll(tools, 0o700); err != nil {
		e.t.Fatal(err)
	}
	if err := os.Symlink(e.peer, filepath.Join(tools, "e2e-peer")); err != nil {
		e.t.Fatal(err)
	}
	shell := filepath.Join(home, "shell")
	if err := os.WriteFile(shell, []byte(`#!/bin/sh
echo asked >> "$HOME/asked"
while [ -e "$HOME/hold" ]; do sleep 0.02; done
export PATH="$HOME/tools:$PATH" NPM_HOME_TOKEN=from-the-shell
while [ "$1" != -c ]; do shift; done
eval "$2"
`), 0o700); err != nil {
		e.t.Fatal(err)
	}
	return []string{"HOME=" + home, "SHELL=" + shell, "PATH=/usr/bin:/bin"}
}

// Finding D13: the program of a workspace's server is found in the PATH of the login shell. The launch prompt says so,
// and opens once, whether the shell answers before the config is read or after the call has come; the consent holds for
// later hubs, whose shell may be quicker or slower.
func TestLaunchPromptWaitsForTheLoginShell(t *testing.T) {
	t.Parallel()
	for name, more := range map[string][]string{
		"when it is needed":    nil,
		"host says desktop":    {handshake.EnvDesktop + "=1"},
		"references are known": {handshake.EnvDesktop + "=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEstate(t)
			env := append(e.desktop(), more...)
			hold := filepath.Join(e.file("home"), "hold")
			variables := object{"GORACE": atOnce["GORACE"]}
			if name == "references are known" {
				variables["TOKEN"] = "${env:NPM_HOME_TOKEN}"
			}
			source := e.ofWorkspace(e.write(".vscode/mcp.json", jsonText(t, object{"servers": object{"teller": object{
				"type": "stdio", "command": "e2e-peer", "args": []string{"teller"}, "env": variables, "approvals": allowAll,
			}}})))
			for hub, late := range []bool{true, false, true} {
				if late {
					if err := os.WriteFile(hold, nil, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				d, _ := e.hubWith(env, source)
				w := d.window("side bar")
				c := d.call("teller", "environment", `{"name":"TOKEN"}`)
				if late && opened(w, launchPrompt) != 0 {
					t.Error("asked before the shell has answered")
				}
				_ = os.Remove(hold)
				if hub == 0 {
					q := w.WaitPrompt(launchPrompt)
					l := q.GetServerLaunch()
					if !strings.HasSuffix(l.GetResolvedCommand(), "/tools/e2e-peer") ||
						!strings.HasPrefix(l.GetResolvedFrom(), "the PATH of your login shell (") {
						t.Errorf("%v", l)
					}
					takes(t, w.AcceptFor(q.GetPromptId(), forGood))
				}
				want := ""
				if name == "references are known" {
					want = "from-the-shell"
				}
				if got := c.text(); got != want {
					t.Errorf("TOKEN is %q", got)
				}
				if n := opened(w, launchPrompt); (n == 1) != (hub == 0) || n > 1 || d.server("teller").GetLaunchConsent() !=
					mcphubv1.LaunchConsent_LAUNCH_CONSENT_GIVEN {
					t.Errorf("%d questions, %v", n, d.server("teller").GetLaunchConsent())
				}
				d.shut()
			}
		})
	}
}
