package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
	"google.golang.org/protobuf/types/known/durationpb"
)

// echoes makes a preapproved call of echo, to check that a server works.
func (s *stage) echoes(ctx context.Context, serverName, text string) error {
	run := s.call(context.WithoutCancel(ctx), &mcphubv1.CallToolRequest{
		Server: serverName, Tool: "echo", ArgumentsJson: fmt.Sprintf(`{"text":%q}`, text), Preapproved: true,
	})
	got, err := run.text(ctx)
	if err == nil && got != text {
		err = fmt.Errorf("echo answered %q", got)
	}
	return err
}

func sceneStubborn(ctx context.Context, s *stage) error {
	before, err := s.server(ctx, demoServer)
	if err != nil {
		return err
	}
	left := s.left.log.mark()
	run := s.call(context.WithoutCancel(ctx), &mcphubv1.CallToolRequest{Server: demoServer,
		Tool: "stubborn", ArgumentsJson: `{"ms":700}`})
	id := run.request.GetRequestId()
	s.page.says(you, `call stubborn {"ms":700}`)
	if err := s.noted(ctx, demoServer, "started", "stubborn"); err != nil {
		return err
	}
	s.page.says(server, "works")
	s.page.says(you, "Cancel: enough")
	pressed := time.Now()
	if _, err := s.left.cancel(ctx, id, "enough"); err != nil {
		return err
	}
	if _, err := run.fails(ctx, "CANCELLED", "CANCELLED"); err != nil {
		return err
	}
	e, err := s.left.cancelled(ctx, left, func(c *mcphubv1.McpRequestCancelled) bool { return c.GetRequestId() == id })
	if err != nil {
		return err
	}
	s.page.says(itself, "the call is free again %s after the click", shortDuration(run.endTime.Sub(pressed)))
	if e.GetServerMayContinue() {
		s.page.says(itself, "and tells you that the server may still work on")
	}
	if err := until(ctx, "the late answer", func() (bool, error) {
		now, err := s.server(ctx, demoServer)
		return now.GetCounters().GetLateResponses() > before.GetCounters().GetLateResponses(), err
	}); err != nil {
		return err
	}
	if err := s.noted(ctx, demoServer, "finished", "stubborn"); err != nil {
		return err
	}
	s.page.says(server, "works on, and answers at last; the hub counts the answer and drops it")
	if err := s.echoes(ctx, demoServer, "still there"); err != nil {
		return fmt.Errorf("after the late answer: %w", err)
	}
	s.page.ok("the next call on the same connection works")
	return nil
}

func sceneNothing(ctx context.Context, s *stage) error {
	outcome, err := s.left.cancel(ctx, "no-such-request", "just trying")
	if err != nil {
		return err
	}
	if outcome != mcphubv1.CancelOutcome_CANCEL_OUTCOME_UNKNOWN {
		return fmt.Errorf("cancelling what never was: %v", outcome)
	}
	s.page.says(you, "Cancel a request that never was: %s", word(outcome, "CANCEL_OUTCOME_"))
	if outcome, err = s.left.cancel(ctx, s.firstCall, "too late"); err != nil {
		return err
	}
	if outcome != mcphubv1.CancelOutcome_CANCEL_OUTCOME_ALREADY_FINISHED {
		return fmt.Errorf("cancelling what is over: %v", outcome)
	}
	s.page.says(you, "Cancel the echo of before: %s", word(outcome, "CANCEL_OUTCOME_"))
	run := s.call(context.WithoutCancel(ctx), &mcphubv1.CallToolRequest{
		Server: demoServer, Tool: "sleep", ArgumentsJson: `{"seconds":60,"steps":1}`,
		Timeouts: &mcphubv1.Timeouts{Idle: durationpb.New(300 * time.Millisecond)},
	})
	s.page.says(you, `call sleep {"seconds":60,"steps":1}, at most 300ms of silence`)
	f, err := run.fails(ctx, "DEADLINE_EXCEEDED", "IDLE_TIMEOUT")
	if err != nil {
		return err
	}
	if f.meta["setting"] == "" || !strings.Contains(f.Message, f.meta["setting"]) {
		return fmt.Errorf("the error does not name the setting %q to change: %s", f.meta["setting"], f.Message)
	}
	s.page.says(itself, "%s", f.Message)
	s.page.ok("outcomes, no errors; and a timeout says which setting to change")
	return nil
}

func sceneCrash(ctx context.Context, s *stage) error {
	before, err := s.server(ctx, demoServer)
	if err != nil {
		return err
	}
	left, right := s.marks()
	run := s.call(context.WithoutCancel(ctx), &mcphubv1.CallToolRequest{Server: demoServer,
		Tool: "crash", ArgumentsJson: `{"code":3}`})
	card, err := s.card(ctx, left, right, demoServer)
	if err != nil {
		return err
	}
	if err := s.left.answer(ctx, accept(card.GetPromptId(), "")); err != nil {
		return err
	}
	s.page.says(you, `call crash {"code":3}, and allow it this time`)
	f, err := run.fails(ctx, "UNAVAILABLE", "SERVER_GONE")
	if err != nil {
		return err
	}
	s.page.says(itself, "%s", f.Message)
	if err := s.echoes(ctx, demoServer, "back again"); err != nil {
		return fmt.Errorf("after the crash: %w", err)
	}
	after, err := s.server(ctx, demoServer)
	if err != nil {
		return err
	}
	if after.GetProcessId() == before.GetProcessId() {
		return fmt.Errorf("the crashed process %d is said to have answered", before.GetProcessId())
	}
	s.page.says(server, "process %d is gone, process %d answers: back again", before.GetProcessId(), after.GetProcessId())
	s.page.ok("the call was not repeated behind your back")
	return nil
}

// wrap breaks text into lines of at most width runes.
func wrap(words string, width int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(words) {
		if line != "" && len(line)+1+len(w) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	return append(lines, line)
}
