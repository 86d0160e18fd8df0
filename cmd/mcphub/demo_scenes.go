package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// scene is one step of the demo. play plays it, and fails if anything that it shows is not so.
type scene struct {
	title, about string
	play         func(ctx context.Context, s *stage) error
}

// scenes are the steps between the start of the hub and its end, in order.
var scenes = []scene{
	{"What the servers offer", "The same demo server twice: as it negotiates, and held to the older protocol.",
		sceneServers},
	{"A tool call, with your approval", "The config says ask for echo, so a card opens in both windows.", sceneApprove},
	{"A call that you do not allow", "Nothing is sent to the server.", sceneDeny},
	{"You change your mind", "A call that would take a minute. The server is to hear why it ends.", sceneCancel},
	{"The server changes its mind",
		"It asks you something and then withdraws the question. The card must go, in every window.", sceneWithdraw},
	{"Two windows, one answer", "The first answer takes the question; a late one changes nothing.", sceneTwoWindows},
	{"The server borrows your model", "Sampling: the hub relays, you stay in between.", sceneSampling},
	{"A server that does not listen", "It works on and answers late. You do not wait for it, and nobody is harmed.",
		sceneStubborn},
	{"Cancels that hit nothing, and clocks", "What is unknown or over is an outcome, not an error.", sceneNothing},
	{"The server crashes in the middle", "The call fails with a clear error; the next one gets a new process.",
		sceneCrash},
	{"Servers behind URLs",
		"Two more demo servers, over Streamable HTTP. The hub knows where they are; it started neither.", sceneWeb},
	{"You change your mind, over HTTP",
		"Each era has its own way to say stop. Each server is to hear it in the way that it knows.", sceneWebCancel},
	{"A server behind a URL changes its mind",
		"A question that comes over HTTP ends over HTTP, too. The card must go, in every window.", sceneWebWithdraw},
	{"A folder brings a server",
		"Its config is somebody else's text. Nothing of it runs before you have seen it, and its secret stays one.",
		sceneConsent},
	{"You edit a config file while a call runs",
		"The hub watches its files. A timeout changes in place; an argument restarts that server alone.", sceneEdit},
	{"A crashed server comes back by itself", "Nobody calls it. The hub starts it again.", sceneComeback},
}

func sceneStart(ctx context.Context, s *stage) error {
	var from peer.Peer
	info, err := s.client.Hub.GetInfo(ctx, &mcphubv1.GetInfoRequest{}, grpc.Peer(&from))
	if err != nil {
		return asFailure(err)
	}
	if int(info.GetProcessId()) != s.client.PID() {
		return fmt.Errorf("process %d was spawned, but process %d answers", s.client.PID(), info.GetProcessId())
	}
	s.seen(s.client.PID(), "mcphub")
	s.page.says(itself, "mcphub %s runs as a plugin of its own, process %d", info.GetVersion(), info.GetProcessId())
	secured, ok := from.AuthInfo.(credentials.TLSInfo)
	if !ok || len(secured.State.PeerCertificates) == 0 {
		return errors.New("the connection to the hub is not secured by TLS")
	}
	s.page.says(itself, "gRPC over a private %s socket, mutual TLS with keys made for this run", from.Addr.Network())
	s.page.says(itself, "speaks MCP %s", strings.Join(info.GetProtocolRevisions(), ", "))

	config, err := s.demoConfig(ctx)
	if err != nil {
		return err
	}
	if err := s.reload(ctx, &mcphubv1.ConfigSource{Scope: "host", Path: "the demo's config", Json: config}); err != nil {
		return err
	}
	s.page.says(you, "an editor with two windows: the %s and the %s", s.left.title, s.right.title)
	s.page.ok("the hub is up")
	return nil
}

func sceneServers(ctx context.Context, s *stage) error {
	for _, name := range []string{demoServer, legacyServer} {
		r, err := s.client.Servers.StartServer(ctx, &mcphubv1.StartServerRequest{Server: name})
		if err != nil {
			return asFailure(err)
		}
		srv := r.GetServer()
		s.seen(int(srv.GetProcessId()), name)
		s.page.says(server, "%s: %s, process %d, MCP %s (%s)", name, srv.GetTitle(), srv.GetProcessId(),
			srv.GetProtocolRevision(), word(srv.GetEra(), "ERA_"))
		if name == legacyServer && srv.GetEra() != mcphubv1.Era_ERA_LEGACY {
			return fmt.Errorf("%s was to speak the legacy era and speaks %v", name, srv.GetEra())
		}
	}
	r, err := s.client.Servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: demoServer})
	if err != nil {
		return asFailure(err)
	}
	var names []string
	asked := 0
	for _, t := range r.GetTools() {
		names = append(names, t.GetName())
		if t.GetPolicy() == mcphubv1.ApprovalPolicy_APPROVAL_POLICY_ASK {
			asked++
		}
	}
	listed := strings.Join(names, " ")
	for _, want := range []string{"echo", "sleep", "ask_name", "summarize", "ask_then_withdraw", "stubborn", "crash"} {
		if !strings.Contains(" "+listed+" ", " "+want+" ") {
			return fmt.Errorf("the tool %s is not in the list: %s", want, listed)
		}
	}
	for _, line := range wrap(listed, 90) {
		s.page.says(server, "%s", line)
	}
	s.page.ok("%d tools, %d of them run only when you allow it", len(names), asked)
	return nil
}

func sceneApprove(ctx context.Context, s *stage) error {
	left, right := s.marks()
	run := s.call(context.WithoutCancel(ctx), &mcphubv1.CallToolRequest{Server: demoServer,
		Tool: "echo", ArgumentsJson: `{"text":"Hello, hub!"}`})
	s.firstCall = run.request.GetRequestId()
	s.page.says(you, `call echo {"text":"Hello, hub!"}`)
	card, err := s.card(ctx, left, right, demoServer)
	if err != nil {
		return err
	}
	approval := card.GetToolApproval()
	if approval.GetTool() != "echo" || approval.GetArgumentsJson() != run.request.GetArgumentsJson() {
		return fmt.Errorf("the card shows another call than the one that was made: %s %s", approval.GetTool(),
			approval.GetArgumentsJson())
	}
	s.page.says(itself, "both windows: may %s run on %s with %s?", approval.GetTool(), card.GetServer(),
		approval.GetArgumentsJson())
	if err := s.left.answer(ctx, accept(card.GetPromptId(), "")); err != nil {
		return err
	}
	s.page.says(you, "Allow once, in the %s", s.left.title)
	if _, err := s.closed(ctx, left, right, card.GetPromptId()); err != nil {
		return err
	}
	text, err := run.text(ctx)
	if err != nil {
		return err
	}
	if text != "Hello, hub!" {
		return fmt.Errorf("echo answered %q", text)
	}
	s.page.says(server, "%s", text)
	s.page.ok("the card is gone from both windows; the server had the call for %s",
		short(run.response.GetTimings().GetActive()))
	return nil
}

func sceneDeny(ctx context.Context, s *stage) error {
	left, right := s.marks()
	run := s.call(context.WithoutCancel(ctx), &mcphubv1.CallToolRequest{Server: demoServer,
		Tool: "crash", ArgumentsJson: `{"code":3}`})
	s.page.says(you, `call crash {"code":3}`)
	card, err := s.card(ctx, left, right, demoServer)
	if err != nil {
		return err
	}
	hint := ""
	if card.GetToolApproval().GetDestructiveHint() {
		hint = " It may destroy things, says the server."
	}
	s.page.says(itself, "both windows: may crash run on %s?%s", card.GetServer(), hint)
	if err := s.right.answer(ctx, decline(card.GetPromptId(), "not today")); err != nil {
		return err
	}
	s.page.says(you, "Deny, in the %s: not today", s.right.title)
	end, err := s.closed(ctx, left, right, card.GetPromptId())
	if err != nil {
		return err
	}
	if end.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_DECLINED {
		return fmt.Errorf("the card closed with %v, not as declined", end.GetCause())
	}
	f, err := run.fails(ctx, "PERMISSION_DENIED", "DENIED_BY_USER")
	if err != nil {
		return err
	}
	s.page.says(itself, "%s %s: %s", f.Code, f.Reason, f.Message)
	s.page.ok("the server never heard of it")
	return nil
}
