package main

import (
	"context"
	"fmt"
	"time"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// changeOfMind is the reason of the cancels. Every cancelled server has to receive it once, except over modern HTTP,
// where the closed stream is the cancel.
const changeOfMind = "I changed my mind"

func sceneCancel(ctx context.Context, s *stage) error {
	if err := s.cancelSleep(ctx, demoServer); err != nil {
		return err
	}
	if err := s.noted(ctx, demoServer, "cancel_received", ""); err != nil {
		return err
	}
	if err := s.heardOnce(demoServer, changeOfMind); err != nil {
		return err
	}
	s.page.says(server, "heard one notifications/cancelled: %s", changeOfMind)
	s.page.ok("the server knows why, and no result is shown")
	return nil
}

// cancelSleep makes a call that would take a minute, cancels it in the left window once it runs, and checks what its
// caller and both windows get.
func (s *stage) cancelSleep(ctx context.Context, serverName string) error {
	left, right := s.marks()
	run := s.call(context.WithoutCancel(ctx), &mcphubv1.CallToolRequest{Server: serverName,
		Tool: "sleep", ArgumentsJson: `{"seconds":60,"steps":600}`})
	id := run.request.GetRequestId()
	on := ""
	if serverName != demoServer {
		on = " on " + serverName
	}
	s.page.says(you, `call sleep {"seconds":60,"steps":600}%s`, on)
	p, err := s.left.progress(ctx, left, id)
	if err != nil {
		return err
	}
	s.page.says(server, "progress %s", progressText(p))
	s.page.says(you, "Cancel, in the %s: %s", s.left.title, changeOfMind)
	pressed := time.Now()
	outcome, err := s.left.cancel(ctx, id, changeOfMind)
	if err != nil {
		return err
	}
	if outcome != mcphubv1.CancelOutcome_CANCEL_OUTCOME_CANCELLING {
		return fmt.Errorf("the outcome of the cancel was %v", outcome)
	}
	f, err := run.fails(ctx, "CANCELLED", "CANCELLED")
	if err != nil {
		return err
	}
	if f.meta["origin"] != "user" || f.meta["cancel_reason"] != changeOfMind {
		return fmt.Errorf("the caller was told origin %q, reason %q", f.meta["origin"], f.meta["cancel_reason"])
	}
	s.page.says(itself, "the call is free again %s after the click", shortDuration(run.endTime.Sub(pressed)))
	for _, at := range []struct {
		scr  *screen
		mark int
	}{{s.left, left}, {s.right, right}} {
		e, err := at.scr.cancelled(ctx, at.mark, func(c *mcphubv1.McpRequestCancelled) bool { return c.GetRequestId() == id })
		if err != nil {
			return err
		}
		delivery, err := at.scr.delivery(ctx, at.mark, id)
		if err != nil {
			return err
		}
		if origin := e.GetCancellation().GetOrigin(); origin != mcphubv1.Origin_ORIGIN_USER ||
			delivery != mcphubv1.CancelDelivery_CANCEL_DELIVERY_DELIVERED {
			return fmt.Errorf("the %s was told origin %v, delivery %v", at.scr.title, origin, delivery)
		}
	}
	s.page.says(itself, "mcpRequestCancelled in both windows, by user: %s", changeOfMind)
	return nil
}
