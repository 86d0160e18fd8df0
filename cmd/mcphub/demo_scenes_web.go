package main

import (
	"context"
	"fmt"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func sceneWeb(ctx context.Context, s *stage) error {
	for _, want := range []struct {
		name string
		era  mcphubv1.Era
	}{{modernWeb, mcphubv1.Era_ERA_MODERN}, {legacyWeb, mcphubv1.Era_ERA_LEGACY}} {
		r, err := s.client.Servers.StartServer(ctx, &mcphubv1.StartServerRequest{Server: want.name})
		if err != nil {
			return asFailure(err)
		}
		srv := r.GetServer()
		if srv.GetEra() != want.era || srv.GetTransport() != mcphubv1.ServerTransport_SERVER_TRANSPORT_HTTP ||
			srv.GetProcessId() != 0 {
			return fmt.Errorf("%s speaks %v over %v, process %d", want.name, srv.GetEra(), srv.GetTransport(),
				srv.GetProcessId())
		}
		s.page.says(server, "%s: MCP %s (%s), %s", want.name, srv.GetProtocolRevision(), word(srv.GetEra(), "ERA_"),
			whereabouts(srv))
		if err := s.echoes(ctx, want.name, "Hello, web!"); err != nil {
			return err
		}
	}
	s.page.says(you, `call echo {"text":"Hello, web!"} on both`)
	s.page.says(server, "Hello, web!")
	s.page.ok("each answers in its own era, and the hub runs no process for it")
	return nil
}

// sceneWebCancel cancels a call in both eras. Legacy: the hub POSTs notifications/cancelled, since a closed stream
// alone would not mean a cancel (2025-11-25 basic/transports, "Sending Messages to the Server"). Modern: the closed
// stream is the cancel, and nothing is sent (2026-07-28 basic/utilities/cancellation).
func sceneWebCancel(ctx context.Context, s *stage) error {
	if err := s.cancelSleep(ctx, legacyWeb); err != nil {
		return err
	}
	if err := s.noted(ctx, legacyWeb, "cancel_received", ""); err != nil {
		return err
	}
	if err := s.noted(ctx, legacyWeb, "cancelled", "sleep"); err != nil {
		return err
	}
	if err := s.heardOnce(legacyWeb, changeOfMind); err != nil {
		return err
	}
	s.page.says(server, "heard one notifications/cancelled: %s", changeOfMind)
	if err := s.cancelSleep(ctx, modernWeb); err != nil {
		return err
	}
	for _, event := range []string{"disconnected", "cancelled"} {
		if err := s.noted(ctx, modernWeb, event, "sleep"); err != nil {
			return err
		}
	}
	if err := s.heardNothing(modernWeb); err != nil {
		return err
	}
	s.page.says(server, "saw the stream of the call close, and stopped; no notification came")
	for _, name := range []string{legacyWeb, modernWeb} {
		if err := s.echoes(ctx, name, "still there"); err != nil {
			return fmt.Errorf("after the cancel: %w", err)
		}
	}
	s.page.ok("both tools have stopped, and the next call of each server works")
	return nil
}

// heardNothing returns an error if a server has received a notification of a cancel.
func (s *stage) heardNothing(name string) error {
	n, err := s.heard(name, "")
	if err == nil && n != 0 {
		err = fmt.Errorf("%s heard %d notifications of a cancel, which have no meaning there", name, n)
	}
	return err
}

func sceneWebWithdraw(ctx context.Context, s *stage) error { return s.withdrawal(ctx, legacyWeb, 200) }
