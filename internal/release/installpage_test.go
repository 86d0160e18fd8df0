package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// spoken is a page that has no browser: it speaks the messages of the page with the example of a host.
type spoken struct {
	t       *testing.T
	address string // of the host
	came    *bufio.Scanner
}

// get returns a file that the host serves, and the headers of the answer.
func (s *spoken) get(name string) (string, http.Header) {
	s.t.Helper()
	res, err := http.Get(s.address + name)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s, %v", name, res.Status, err)
	}
	return string(text), res.Header
}

func (s *spoken) say(message string) {
	s.t.Helper()
	res, err := http.Post(s.address+"messages?one", "application/json", strings.NewReader(message))
	if err != nil {
		s.t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s", message, res.Status)
	}
}

// hear returns the next message of a kind, read into what is wanted of it.
func (s *spoken) hear(kind string, wanted any) {
	s.t.Helper()
	for s.came.Scan() {
		line, isMessage := bytes.CutPrefix(s.came.Bytes(), []byte("data: "))
		if !isMessage {
			continue
		}
		var message map[string]json.RawMessage
		if err := json.Unmarshal(line, &message); err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		if text, ok := message[kind]; ok {
			if err := json.Unmarshal(text, wanted); err != nil {
				s.t.Fatalf("%s: %v", text, err)
			}
			return
		}
	}
	s.t.Fatalf("the host has closed the connection without %s: %v", kind, s.came.Err())
}

// prompt is what this page needs of a question.
type prompt struct {
	Prompt struct {
		PromptID     string
		ServerLaunch *struct{ LaunchHash string }
		ToolApproval *struct{ Tool string }
	}
}

// After npm install in an empty folder, without install scripts, the example of a host with the page in it serves the
// page, whole and with its policy. The page is welcomed, its answers reach the hub, and so does its cancel of a call.
func TestPageFromTarballs(t *testing.T) {
	dir := installed(t, "../../editors/page/examples/pagehost.ts", scope+"/host", scope+"/page")
	cmd := exec.CommandContext(t.Context(), "node", "host.mjs", "mcp.json")
	cmd.Dir, cmd.Stderr, cmd.Env = dir, os.Stderr, append(os.Environ(), "MCPHUB_STATE_DIR=")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the host has ended with %v", err)
		}
	}()
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s := &spoken{t: t, address: strings.TrimSpace(address)}

	if around, _ := s.get(""); !strings.Contains(around, "./frame.js") {
		t.Errorf("around the page is %s", around)
	}
	s.get("frame.js")
	html, _ := s.get("page.html")
	if !regexp.MustCompile(`Content-Security-Policy" content="default-src &#39;none&#39;; script-src &#39;nonce-`).
		MatchString(html) {
		t.Errorf("the page has another policy: %s", html)
	}
	named := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(html, -1)
	if len(named) < 2 {
		t.Errorf("the page names %q", named)
	}
	for _, name := range named {
		if _, headers := s.get(name[1]); headers.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s cannot be loaded by a frame without an origin: %v", name[1], headers)
		}
	}

	events, err := http.Get(s.address + "messages?one")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	s.came = bufio.NewScanner(events.Body)
	s.came.Buffer(nil, 1<<20)
	s.say(`{"hello":{"promptKinds":["PROMPT_KIND_TOOL_APPROVAL","PROMPT_KIND_SERVER_LAUNCH"]}}`)
	var welcome struct{ HubID string }
	if s.hear("welcome", &welcome); welcome.HubID == "" {
		t.Error("the welcome names no hub")
	}
	s.say(`{"messageId":"1","call":{"method":"/mcphub.v1.McpHubService/CallTool","request":{` +
		`"@type":"type.googleapis.com/mcphub.v1.CallToolRequest","requestId":"r-1","server":"demo","tool":"sleep",` +
		`"argumentsJson":"{\"seconds\":600,\"steps\":1}"}}}`)
	var launch, approval prompt
	if s.hear("promptOpened", &launch); launch.Prompt.ServerLaunch == nil {
		t.Fatalf("the first question is %+v", launch)
	}
	s.say(`{"messageId":"2","answerPrompt":{"promptId":"` + launch.Prompt.PromptID + `","accept":{"launchHash":"` +
		launch.Prompt.ServerLaunch.LaunchHash + `"}}}`)
	if s.hear("promptOpened", &approval); approval.Prompt.ToolApproval == nil {
		t.Fatalf("the second question is %+v", approval)
	}
	s.say(`{"messageId":"3","answerPrompt":{"promptId":"` + approval.Prompt.PromptID +
		`","accept":{"scope":"APPROVAL_SCOPE_ONCE"}}}`)
	var progress struct{ State string }
	for progress.State != "REQUEST_STATE_RUNNING" {
		s.hear("mcpRequestProgressed", &progress)
	}
	s.say(`{"messageId":"4","cancelMcpRequest":{"requestId":"r-1","reason":"seen enough"}}`)
	var cancelled struct {
		RequestID      string
		ServerNotified bool
	}
	if s.hear("mcpRequestCancelled", &cancelled); cancelled.RequestID != "r-1" || !cancelled.ServerNotified {
		t.Errorf("what became of the call: %+v", cancelled)
	}
	var reply struct {
		MessageID string
		Error     struct{ Code string }
	}
	for reply.MessageID != "1" {
		s.hear("reply", &reply)
	}
	if reply.Error.Code != "CANCELLED" {
		t.Errorf("the call is answered with %+v", reply)
	}
	record, err := os.ReadFile(filepath.Join(dir, "record"))
	if err != nil || !strings.Contains(string(record), "seen enough") {
		t.Errorf("the server was told %s, %v", record, err)
	}
}
