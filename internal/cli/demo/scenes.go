package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/events"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// scene is one step of the demo. play plays it, and ends with a stepFailure if anything that it shows is not so.
type scene struct {
	title, about string
	play         func(ctx context.Context, s *stage)
}

// scenes are the steps of the demo, in order.
var scenes = []scene{
	{"You change your mind", "A call that would take a minute. The server is to hear why it ends.", sceneCancel},
	{"The server changes its mind",
		"It asks you something and then withdraws the question. The card must go, in every window.", sceneWithdraw},
	{"A tool call, with your approval", "The config says ask for echo and crash, so a card opens in both windows.",
		sceneApprove},
	{"Late answers, unknown requests, and clocks",
		"A server that does not listen harms nobody. What is unknown or over is an outcome, not an error.", sceneLate},
	{"The same over HTTP, in both eras", "Each era has its own way to say stop, and each server is to hear it in its own.",
		sceneWeb},
	{"Two windows, one answer", "The first answer takes the question; a late one changes nothing.", sceneTwoWindows},
	{"The server crashes in the middle", "The call fails with a clear error; the next one gets a new process.",
		sceneCrash},
	{"Everything ends", "Drain first, then the door closes. No process may be left.", sceneEnd},
}

// changeOfMind is the reason of the cancels. Every cancelled server has to receive it once, except over modern HTTP,
// where the closed stream is the cancel.
const changeOfMind = "I changed my mind"

// starts shows the hub that was spawned, and gives it its servers.
func (s *stage) starts(ctx context.Context) {
	var from peer.Peer
	info := got(s.client.Hub.GetInfo(ctx, &mcphubv1.GetInfoRequest{}, grpc.Peer(&from)))
	failIf(int(info.GetProcessId()) != s.client.PID(),
		"process %d was spawned, but process %d answers", s.client.PID(), info.GetProcessId())
	s.seen(s.client.PID(), "mcphub")
	s.page.says(itself, "mcphub %s runs as a plugin of its own, process %d", info.GetVersion(), info.GetProcessId())
	secured, ok := from.AuthInfo.(credentials.TLSInfo)
	if !ok || len(secured.State.PeerCertificates) == 0 {
		must(errors.New("the connection to the hub is not secured by TLS"))
	}
	s.page.says(itself, "gRPC over a private %s socket, mutual TLS with keys made for this run", from.Addr.Network())
	s.configure(ctx)
	s.startServers(ctx, demoServer, legacyServer)
}

// startServers starts servers, and checks that those held to the legacy era speak it.
func (s *stage) startServers(ctx context.Context, names ...string) {
	for _, name := range names {
		r := got(s.client.Servers.StartServer(ctx, &mcphubv1.StartServerRequest{Server: name}))
		srv := r.GetServer()
		s.seen(int(srv.GetProcessId()), name)
		failIf(strings.HasSuffix(name, legacySuffix) != (srv.GetEra() == mcphubv1.Era_ERA_LEGACY),
			"%s speaks the wrong era, %v", name, srv.GetEra())
		s.page.says(server, "%s: MCP %s (%s), %s", name, srv.GetProtocolRevision(), console.Word(srv.GetEra(), "ERA_"),
			events.Whereabouts(srv))
	}
}

func sceneCancel(ctx context.Context, s *stage) {
	s.cancelSleep(ctx, demoServer)
	s.hears(ctx, demoServer)
	s.page.ok("the server knows why, and no result is shown")
}

// cancelSleep makes a call that would take a minute, cancels it in the left window once it runs, and checks what its
// caller and both windows get.
func (s *stage) cancelSleep(ctx context.Context, serverName string) {
	run := s.call(ctx, serverName, "sleep", `{"seconds":60,"steps":600}`)
	id := run.request.GetRequestId()
	s.page.says(you, `call sleep {"seconds":60,"steps":600} on %s`, serverName)
	p := s.left.progress(ctx, id)
	s.page.says(server, "progress %s", console.ProgressText(p))
	s.page.says(you, "Cancel, in the %s: %s", s.left.title, changeOfMind)
	pressed := time.Now()
	outcome := s.left.cancel(ctx, id, changeOfMind)
	failIf(outcome != mcphubv1.CancelOutcome_CANCEL_OUTCOME_CANCELLING, "the outcome of the cancel was %v", outcome)
	f := run.fails(ctx, "CANCELLED", "CANCELLED")
	failIf(f.Meta["origin"] != "user" || f.Meta["cancel_reason"] != changeOfMind,
		"the caller was told origin %q, reason %q", f.Meta["origin"], f.Meta["cancel_reason"])
	s.page.says(itself, "the call is free again %s after the click", console.Duration(run.endTime.Sub(pressed)))
	for _, scr := range s.screens() {
		e := scr.cancelled(ctx, id)
		delivery := scr.delivery(ctx, id)
		origin := e.GetCancellation().GetOrigin()
		failIf(origin != mcphubv1.Origin_ORIGIN_USER || delivery != mcphubv1.CancelDelivery_CANCEL_DELIVERY_DELIVERED,
			"the %s was told origin %v, delivery %v", scr.title, origin, delivery)
	}
	s.page.says(itself, "mcpRequestCancelled in both windows, by user: %s", changeOfMind)
}

// hears waits until a server has received the cancel of cancelSleep.
func (s *stage) hears(ctx context.Context, serverName string) {
	s.noted(ctx, serverName, "cancel_received", "")
	s.heardOnce(serverName, changeOfMind)
	s.page.says(server, "heard one notifications/cancelled: %s", changeOfMind)
}

func sceneWithdraw(ctx context.Context, s *stage) {
	s.withdrawal(ctx, legacyServer)
	s.page.ok("no answer was sent for it, and the call went on to its own result")
}

// withdrawal makes a server ask a question and withdraw it.
func (s *stage) withdrawal(ctx context.Context, serverName string) {
	const reason = "I found it out myself"
	run := s.call(ctx, serverName, "ask_then_withdraw",
		fmt.Sprintf(`{"after_ms":300,"reason":%q}`, reason))
	s.page.says(you, "call ask_then_withdraw on %s", serverName)
	card := s.card(ctx, serverName)
	s.page.says(server, "asks: %s", card.GetElicitationForm().GetMessage())
	s.page.says(itself, "a card with a form stands in both windows; you take your time")
	end := s.closed(ctx, card.GetPromptId())
	failIf(end.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_WITHDRAWN || end.GetReason() != reason,
		"the card closed with %v (%s), not as withdrawn", end.GetCause(), end.GetReason())
	for _, scr := range s.screens() {
		e := scr.cancelled(ctx, card.GetRequestId())
		failIf(e.GetCancellation().GetOrigin() != mcphubv1.Origin_ORIGIN_SERVER ||
			e.GetDirection() != mcphubv1.RequestDirection_REQUEST_DIRECTION_INCOMING,
			"the %s was told origin %v, direction %v", scr.title, e.GetCancellation().GetOrigin(), e.GetDirection())
	}
	s.page.says(server, "withdraws it: %s", end.GetReason())
	s.page.says(itself, "both cards are gone: mcpRequestCancelled, by server")
	text := run.text(ctx)
	s.page.says(server, "%s", text)
	c := got(s.server(ctx, serverName)).GetCounters()
	failIf(c.GetUnknownCancels() > 0 || c.GetMalformedCancels() > 0,
		"the withdrawal was not understood: %v", c)
}

// sceneApprove allows one call in one window, and denies another one in the other.
func sceneApprove(ctx context.Context, s *stage) {
	const said = `{"text":"Hello, hub!"}`
	run := s.call(ctx, demoServer, "echo", said)
	s.page.says(you, "call echo %s", said)
	card := s.card(ctx, demoServer)
	approval := card.GetToolApproval()
	failIf(approval.GetTool() != "echo" || approval.GetArgumentsJson() != said,
		"the card shows another call than the one that was made: %s %s", approval.GetTool(), approval.GetArgumentsJson())
	s.page.says(itself, "both windows: may echo run on %s with %s?", card.GetServer(), approval.GetArgumentsJson())
	s.left.answer(ctx, door.Accept(card, ""))
	s.page.says(you, "Allow once, in the %s", s.left.title)
	s.closed(ctx, card.GetPromptId())
	text := run.text(ctx)
	failIf(text != "Hello, hub!", "echo answered %q", text)
	s.firstCall = run.request.GetRequestId()
	s.page.says(server, "%s", text)

	run = s.call(ctx, demoServer, "crash", `{"code":3}`)
	s.page.says(you, `call crash {"code":3}`)
	card = s.card(ctx, demoServer)
	s.right.answer(ctx, host.Decline(card, "not today"))
	s.page.says(you, "Deny, in the %s: not today", s.right.title)
	end := s.closed(ctx, card.GetPromptId())
	failIf(end.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_DECLINED,
		"the card closed with %v, not as declined", end.GetCause())
	f := run.fails(ctx, "PERMISSION_DENIED", "DENIED_BY_USER")
	s.page.says(itself, "%s %s: %s", f.Code, f.Reason, f.Message)
	s.page.ok("both cards are gone from both windows, and the server never heard of the second call")
}

func sceneLate(ctx context.Context, s *stage) {
	s.lateAnswer(ctx)
	for _, none := range []struct {
		id, about string
		want      mcphubv1.CancelOutcome
	}{
		{"no-such-request", "a request that never was", mcphubv1.CancelOutcome_CANCEL_OUTCOME_UNKNOWN},
		{s.firstCall, "the echo of before", mcphubv1.CancelOutcome_CANCEL_OUTCOME_ALREADY_FINISHED},
	} {
		outcome := s.left.cancel(ctx, none.id, "just trying")
		failIf(outcome != none.want, "cancelling %s: %v", none.about, outcome)
		s.page.says(you, "Cancel %s: %s", none.about, console.Word(outcome, "CANCEL_OUTCOME_"))
	}
	run := s.begin(ctx, &mcphubv1.CallToolRequest{
		Server: demoServer, Tool: "sleep", ArgumentsJson: `{"seconds":60,"steps":1}`,
		Timeouts: &mcphubv1.Timeouts{Idle: durationpb.New(300 * time.Millisecond)},
	})
	s.page.says(you, `call sleep {"seconds":60,"steps":1}, at most 300ms of silence`)
	f := run.fails(ctx, "DEADLINE_EXCEEDED", "IDLE_TIMEOUT")
	failIf(f.Meta["setting"] == "" || !strings.Contains(f.Message, f.Meta["setting"]),
		"the error does not name the setting %q to change: %s", f.Meta["setting"], f.Message)
	s.page.says(itself, "%s", f.Message)
	s.page.ok("outcomes, no errors; and a timeout says which setting to change")
}

// lateAnswer cancels a call of a tool that works on and answers all the same.
func (s *stage) lateAnswer(ctx context.Context) {
	before := got(s.server(ctx, demoServer))
	run := s.call(ctx, demoServer, "stubborn", `{"ms":700}`)
	id := run.request.GetRequestId()
	s.page.says(you, `call stubborn {"ms":700}`)
	s.noted(ctx, demoServer, "started", "stubborn")
	s.page.says(you, "Cancel: enough")
	pressed := time.Now()
	s.left.cancel(ctx, id, "enough")
	_ = run.fails(ctx, "CANCELLED", "CANCELLED")
	e := s.left.cancelled(ctx, id)
	s.page.says(itself, "the call is free again %s after the click", console.Duration(run.endTime.Sub(pressed)))
	if e.GetServerMayContinue() {
		s.page.says(itself, "and tells you that the server may still work on")
	}
	must(door.Eventually(ctx, "the late answer", func() (bool, error) {
		now, err := s.server(ctx, demoServer)
		return now.GetCounters().GetLateResponses() > before.GetCounters().GetLateResponses(), err
	}))
	s.page.says(server, "works on, and answers at last; the hub counts the answer and drops it")
	s.echoes(ctx, demoServer, "still there")
}

// sceneWeb cancels a call in both eras, and has a question withdrawn. Legacy: the hub POSTs notifications/cancelled,
// since a closed stream alone would not mean a cancel (2025-11-25 basic/transports, "Sending Messages to the Server").
// Modern: the closed stream is the cancel, and nothing is sent (2026-07-28 basic/utilities/cancellation).
func sceneWeb(ctx context.Context, s *stage) {
	s.startServers(ctx, modernWeb, legacyWeb)
	for _, name := range []string{legacyWeb, modernWeb} {
		s.cancelSleep(ctx, name)
		s.noted(ctx, name, "cancelled", "sleep")
		if name == legacyWeb {
			s.hears(ctx, name)
		} else {
			s.noted(ctx, name, "disconnected", "sleep")
			s.heardNothing(name)
			s.page.says(server, "saw the stream of the call close, and stopped; no notification came")
		}
		s.echoes(ctx, name, "still there")
	}
	s.withdrawal(ctx, legacyWeb)
	s.page.ok("both tools have stopped, the card is gone, and the next call of each server works")
}

func sceneTwoWindows(ctx context.Context, s *stage) {
	run := s.call(ctx, demoServer, "ask_name", "")
	s.page.says(you, "call ask_name")
	card := s.card(ctx, demoServer)
	s.page.says(server, "asks: %s", card.GetElicitationForm().GetMessage())
	s.left.answer(ctx, door.Accept(card, `{"name":"Ada"}`))
	s.page.says(you, "Ada, in the %s", s.left.title)
	end := s.closed(ctx, card.GetPromptId())
	failIf(end.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_ANSWERED ||
		end.GetWindowId() != s.left.window.Welcome.GetWelcome().GetWindowId(),
		"the card closed with %v by window %q", end.GetCause(), end.GetWindowId())
	s.page.says(itself, "the card in the %s is gone: answered in the %s", s.right.title, s.left.title)
	reply := s.right.say(ctx, &mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{
		AnswerPrompt: door.Accept(card, `{"name":"Bob"}`),
	}})
	s.page.says(you, "Bob, in the %s, too late", s.right.title)
	e := reply.GetError()
	failIf(e.GetCode() != "NOT_FOUND" || e.GetReason() != "PROMPT_CLOSED", "the late answer got %s %s", e.GetCode(),
		e.GetReason())
	s.page.says(itself, "%s %s", e.GetCode(), e.GetReason())
	text := run.text(ctx)
	failIf(!strings.Contains(text, "Ada") || strings.Contains(text, "Bob"),
		"the server greets another person: %q", text)
	s.page.says(server, "%s", text)
	s.page.ok("one question, one answer")
}

func sceneCrash(ctx context.Context, s *stage) {
	before := got(s.server(ctx, demoServer))
	run := s.call(ctx, demoServer, "crash", `{"code":3}`)
	card := s.card(ctx, demoServer)
	s.left.answer(ctx, door.Accept(card, ""))
	s.page.says(you, `call crash {"code":3}, and allow it this time`)
	f := run.fails(ctx, "UNAVAILABLE", "SERVER_GONE")
	s.page.says(itself, "%s", f.Message)
	s.echoes(ctx, demoServer, "back again")
	after := got(s.server(ctx, demoServer))
	failIf(after.GetProcessId() == before.GetProcessId(),
		"the crashed process %d is said to have answered", before.GetProcessId())
	s.page.says(server, "process %d is gone, process %d answers: back again", before.GetProcessId(), after.GetProcessId())
	s.page.ok("the call was not repeated behind your back")
}

// sceneEnd closes the hub and checks that everything has ended.
func sceneEnd(ctx context.Context, s *stage) {
	for _, name := range demoServers {
		got(s.server(ctx, name))
	}
	began := time.Now()
	must(s.client.Close(ctx))
	s.page.says(you, "close the editor")
	s.page.says(itself, "drained and gone after %s", console.Duration(time.Since(began)))
	must(s.stopWebs(ctx))
	ended := func() (bool, error) { return len(s.survivors()) == 0, nil }
	if err := door.Eventually(ctx, "the end of every process", ended); err != nil {
		must(fmt.Errorf("%w; left are %v", err, s.survivors()))
	}
	s.page.says(server, "%d processes were seen, none is left", len(s.processes))
	for _, name := range []string{demoServer, legacyWeb} {
		s.heardOnce(name, changeOfMind)
	}
	s.heardNothing(modernWeb)
	requests := got(s.endedOnce())
	s.page.ok("%d requests, each ended exactly once in each window", requests)
}
