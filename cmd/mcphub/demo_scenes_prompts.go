package main

import (
	"context"
	"fmt"
	"strings"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func sceneWithdraw(ctx context.Context, s *stage) error { return s.withdrawal(ctx, legacyServer, 300) }

// withdrawal makes a server ask a question and withdraw it after that many milliseconds.
func (s *stage) withdrawal(ctx context.Context, serverName string, after int) error {
	const reason = "I found it out myself"
	left, right := s.marks()
	run := s.call(context.WithoutCancel(ctx), &mcphubv1.CallToolRequest{
		Server: serverName, Tool: "ask_then_withdraw", ArgumentsJson: fmt.Sprintf(`{"after_ms":%d,"reason":%q}`, after,
			reason),
	})
	s.page.says(you, "call ask_then_withdraw on %s", serverName)
	card, err := s.card(ctx, left, right, serverName)
	if err != nil {
		return err
	}
	s.page.says(server, "asks: %s", card.GetElicitationForm().GetMessage())
	s.page.says(itself, "a card with a form stands in both windows; you take your time")
	end, err := s.closed(ctx, left, right, card.GetPromptId())
	if err != nil {
		return err
	}
	if end.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_WITHDRAWN || end.GetReason() != reason {
		return fmt.Errorf("the card closed with %v (%s), not as withdrawn", end.GetCause(), end.GetReason())
	}
	for _, at := range []struct {
		scr  *screen
		mark int
	}{{s.left, left}, {s.right, right}} {
		e, err := at.scr.cancelled(ctx, at.mark, func(c *mcphubv1.McpRequestCancelled) bool {
			return c.GetRequestId() == card.GetRequestId()
		})
		if err != nil {
			return err
		}
		if e.GetCancellation().GetOrigin() != mcphubv1.Origin_ORIGIN_SERVER ||
			e.GetDirection() != mcphubv1.RequestDirection_REQUEST_DIRECTION_INCOMING {
			return fmt.Errorf("the %s was told origin %v, direction %v", at.scr.title, e.GetCancellation().GetOrigin(),
				e.GetDirection())
		}
	}
	s.page.says(server, "withdraws it: %s", end.GetReason())
	s.page.says(itself, "both cards are gone: mcpRequestCancelled, by server")
	text, err := run.text(ctx)
	if err != nil {
		return err
	}
	s.page.says(server, "%s", text)
	srv, err := s.server(ctx, serverName)
	if err != nil {
		return err
	}
	if c := srv.GetCounters(); c.GetUnknownCancels() > 0 || c.GetMalformedCancels() > 0 {
		return fmt.Errorf("the withdrawal was not understood: %v", c)
	}
	s.page.ok("no answer was sent for it, and the call went on to its own result")
	return nil
}

func sceneTwoWindows(ctx context.Context, s *stage) error {
	left, right := s.marks()
	run := s.call(context.WithoutCancel(ctx), &mcphubv1.CallToolRequest{Server: demoServer, Tool: "ask_name"})
	s.page.says(you, "call ask_name")
	card, err := s.card(ctx, left, right, demoServer)
	if err != nil {
		return err
	}
	s.page.says(server, "asks: %s", card.GetElicitationForm().GetMessage())
	if err := s.left.answer(ctx, accept(card.GetPromptId(), `{"name":"Ada"}`)); err != nil {
		return err
	}
	s.page.says(you, "Ada, in the %s", s.left.title)
	end, err := s.closed(ctx, left, right, card.GetPromptId())
	if err != nil {
		return err
	}
	if end.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_ANSWERED ||
		end.GetWindowId() != s.left.window.welcome.GetWelcome().GetWindowId() {
		return fmt.Errorf("the card closed with %v by window %q", end.GetCause(), end.GetWindowId())
	}
	s.page.says(itself, "the card in the %s is gone: answered in the %s", s.right.title, s.left.title)
	reply, err := s.right.say(ctx, &mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{
		AnswerPrompt: accept(card.GetPromptId(), `{"name":"Bob"}`),
	}})
	if err != nil {
		return err
	}
	s.page.says(you, "Bob, in the %s, too late", s.right.title)
	if e := reply.GetError(); e.GetCode() != "NOT_FOUND" || e.GetReason() != "PROMPT_CLOSED" {
		return fmt.Errorf("the late answer got %s %s", e.GetCode(), e.GetReason())
	}
	s.page.says(itself, "%s %s", reply.GetError().GetCode(), reply.GetError().GetReason())
	text, err := run.text(ctx)
	if err != nil {
		return err
	}
	if !strings.Contains(text, "Ada") || strings.Contains(text, "Bob") {
		return fmt.Errorf("the server greets another person: %q", text)
	}
	s.page.says(server, "%s", text)
	s.page.ok("one question, one answer")
	return nil
}

func sceneSampling(ctx context.Context, s *stage) error {
	const summary = "A request can be stopped, from either side."
	left, right := s.marks()
	run := s.call(context.WithoutCancel(ctx), &mcphubv1.CallToolRequest{
		Server:        demoServer,
		Tool:          "summarize",
		ArgumentsJson: `{"text":"A request can be stopped, from either side, at any moment, and everyone is told the truth about it."}`,
	})
	s.page.says(you, "call summarize with a long text")
	card, err := s.card(ctx, left, right, demoServer)
	if err != nil {
		return err
	}
	if card.GetSampling() == nil {
		return fmt.Errorf("the card is no sampling but %T", card.GetQuestion())
	}
	s.page.says(server, "asks your model: Sum up in one sentence.")
	if err := s.left.answer(ctx, accept(card.GetPromptId(), completion(summary))); err != nil {
		return err
	}
	s.page.says(you, "let it, and look at the answer: %s", summary)
	if _, err := s.closed(ctx, left, right, card.GetPromptId()); err != nil {
		return err
	}
	text, err := run.text(ctx)
	if err != nil {
		return err
	}
	if !strings.Contains(text, summary) {
		return fmt.Errorf("the summary did not arrive: %q", text)
	}
	s.page.says(server, "%s", text)
	s.page.ok("the completion went through your hands")
	return nil
}
