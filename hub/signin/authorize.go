package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/transport"
)

var _ transport.Authorizer = (*SignIn)(nil)

// maxStepUps is how often more rights are requested for one set of scopes (2025-11-25 basic/authorization "Step-Up
// Authorization Flow": implement retry limits).
const maxStepUps = 3

// Sign sets req's Authorization header if there is a token, and adds a proof for this request if the token is bound to
// a key. An expired token is refreshed first. Concurrent calls share one refresh, which goes on when ctx ends. If the
// refresh token is not valid any more, the request is sent without a token, and the 401 starts the flow.
func (s *SignIn) Sign(ctx context.Context, req *http.Request) error {
	if transport.Origin(req.URL) != transport.Origin(s.url) {
		return errors.New("a request to another address than the server's own is not signed")
	}
	if err := s.load(ctx); err != nil {
		return err
	}
	for range 2 {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return ErrClosed
		}
		e := s.entry
		if e.usable(time.Now()) {
			s.mu.Unlock()
			if e.TokenType == typeDPoP {
				return e.ProofKey.sign(req, e.AccessToken, s.nonces.of(""))
			}
			req.Header.Set("Authorization", "Bearer "+e.AccessToken)
			return nil
		}
		if e == nil || e.RefreshToken == "" {
			s.mu.Unlock()
			return nil
		}
		f := s.joinRefresh(e)
		s.mu.Unlock()
		if err := s.wait(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// Authorize gets a token after a 401, or more rights after a 403 for lack of scopes. Concurrent calls share one flow,
// which ends when none of them waits any more. The error is a [*DeclinedError], a [*RefusedError], an [*Error], or the
// cause of ctx.
func (s *SignIn) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	resp.Body.Close()
	c := challengeOf(resp)
	stepUp := resp.StatusCode == http.StatusForbidden
	if stepUp && c.code != "insufficient_scope" {
		return &RefusedError{s.o.Server, "it answers 403, and not for lack of scopes: the account may not have this right"}
	}
	if req.Header.Get("DPoP") != "" && (c.proof == errorUseNonce || c.proof == errorProof) {
		return s.proofRefused(c.proof)
	}
	if err := s.load(ctx); err != nil {
		return err
	}
	_, used, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	for {
		f, err := s.join(c, stepUp, used)
		if f == nil {
			return err
		}
		if errors.Is(err, errEnding) {
			if err := s.gone(ctx, f); err != nil {
				return err
			}
			continue
		}
		if err := s.wait(ctx, f); err != nil {
			return err
		}
		if !stepUp || f.stepUp && covers(f.c.scopes, c.scopes) {
			return nil
		}
	}
}

var errEnding = errors.New("a flow is being ended")

// join returns the flow for a refused request, and begins one if none runs. If both results are nil, the request is to
// be sent again. With errEnding, the caller has to wait until the flow has ended, and call join again.
func (s *SignIn) join(c challenge, stepUp bool, used string) (*flight, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.closed {
		return nil, ErrClosed
	}
	s.last = c
	e := s.entry
	if e.usable(now) && e.AccessToken != used && (!stepUp || covers(e.Scopes, c.scopes)) {
		return nil, nil // another call has got a token meanwhile
	}
	if f := s.flights[signing]; f != nil {
		if f.over != nil {
			return f, errEnding
		}
		f.waiters++
		return f, nil
	}
	if s.declined != nil && now.Before(s.quietUntil) {
		return nil, s.declined
	}
	if stepUp {
		set := strings.Join(slices.Sorted(slices.Values(c.scopes)), " ")
		if s.stepUps[set] == maxStepUps {
			return nil,
				&RefusedError{s.o.Server,
					fmt.Sprintf("it wants more rights (%s), which were asked for %d times already; sign in to it by hand to try again",
						bounds.Printable(set), maxStepUps)}
		}
		s.stepUps[set]++
	}
	return s.begin(&flight{kind: signing, c: c, stepUp: stepUp}, s.flow), nil
}

// hush makes sure that nobody is asked for a while after d. It is called with mu held.
func (s *SignIn) hush(d *DeclinedError) {
	s.declined, s.quietUntil = d, time.Now().Add(quiet)
}

// covers reports whether have has all of want.
func covers(have, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) })
}

// union returns the scopes of all sets without duplicates, in their order.
func union(sets ...[]string) []string {
	var all []string
	for _, set := range sets {
		for _, scope := range set {
			if !slices.Contains(all, scope) {
				all = append(all, scope)
			}
		}
	}
	return all
}
