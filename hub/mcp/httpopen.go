package mcp

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/transport"
)

// HTTP returns an Opener over Streamable HTTP, for either era. It sends nothing before the start of the session.
func HTTP(o transport.HTTPOptions) Opener {
	clock := timeSignIn(&o)
	return func(ctx context.Context) (*Link, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		l := streamableLink(transport.NewStreamable(o))
		l.SignedIn = clock
		return l, nil
	}
}

// SSE returns an Opener over HTTP+SSE, the transport of 2024-11-05. The Opener returns when the server has sent the URL
// to which messages are posted.
func SSE(o transport.HTTPOptions) Opener {
	clock := timeSignIn(&o)
	return func(ctx context.Context) (*Link, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		t := transport.NewSSE(o)
		if err := t.Connect(ctx); err != nil {
			return nil, err
		}
		l := streamableLink(t)
		l.LegacyOnly, l.SignedIn = true, clock
		return l, nil
	}
}

// AnyHTTP is HTTP for an address whose transport is not known: if a server refuses initialize in the way of a server
// that only knows the older HTTP+SSE, it is tried again over that (2025-11-25 and 2026-07-28 basic/transports,
// "Backward Compatibility").
func AnyHTTP(o transport.HTTPOptions) Opener {
	clock := timeSignIn(&o) // one for both, so that the first link counts a sign-in for the second
	open, fallback := HTTP(o), SSE(o)
	return func(ctx context.Context) (*Link, error) {
		l, err := open(ctx)
		if err == nil {
			l.Fallback, l.SignedIn = fallback, clock
		}
		return l, err
	}
}

// timeSignIn wraps o.Auth in a timedAuth and returns its total. It returns nil if o.Auth is nil.
func timeSignIn(o *transport.HTTPOptions) func() time.Duration {
	if o.Auth == nil {
		return nil
	}
	a := &timedAuth{Authorizer: o.Auth}
	o.Auth = a
	return a.total
}

// timedAuth is an Authorizer that measures for how long users have been asked to sign in so far.
type timedAuth struct {
	transport.Authorizer

	mu    sync.Mutex    // guards what follows
	open  int           // requests that wait for a sign-in
	since time.Time     // when open became 1
	spent time.Duration // the total before that
}

// Authorize implements transport.Authorizer.
func (a *timedAuth) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	a.mu.Lock()
	if a.open++; a.open == 1 {
		a.since = time.Now()
	}
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.open--; a.open == 0 {
			a.spent += time.Since(a.since)
		}
	}()
	return a.Authorizer.Authorize(ctx, req, resp)
}

func (a *timedAuth) total() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open > 0 {
		return a.spent + time.Since(a.since)
	}
	return a.spent
}
