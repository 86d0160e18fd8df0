package signin

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// tooSoon is the time after a sign-in in which a refused token does not lead to a new prompt: a new token would be
// refused, too.
const tooSoon = 10 * time.Second

// flow gets a token by the grant of the configuration. It runs in the goroutine of f.
func (s *SignIn) flow(ctx context.Context, f *flight) error {
	seen := &witness{next: s.guard}
	client := s.guard.Client(seen)
	p, err := discover(ctx, client, seen, f.c, s.url, s.o.Config.DPoP)
	if err != nil {
		return s.failure(ctx, err)
	}
	old := s.current()
	if old != nil && old.Issuer != p.server.Issuer {
		// The server has changed its authorization server. Nothing of the old one is sent to the new one (SEP-2352).
		s.log.Info("the server names another authorization server than before", "issuer", bounds.Printable(p.server.Issuer))
		old = nil
	}
	if !f.explicit && s.borrow(ctx, f, p) {
		return nil
	}
	if !f.stepUp && !f.explicit && old != nil && old.AccessToken != "" && covers(old.Scopes, f.c.scopes) &&
		p.binding.takes(old) {
		done, err := s.renew(ctx, old)
		if done || err != nil {
			return err
		}
		if now := s.current(); now != nil && now.Issuer == p.server.Issuer {
			old = now
		}
	}

	if p.binding != unbound {
		if p.key, err = newProofKey(); err != nil {
			return s.failure(ctx, err)
		}
		seen.next = s.proving(s.guard, p.server.TokenEndpoint, p.key)
	}
	var e *Entry
	scopes := union(f.c.scopes, s.o.Config.Scopes)
	if len(scopes) == 0 {
		scopes = p.scopes
	}
	if old != nil {
		scopes = union(old.Scopes, scopes) // SEP-2350: rights that were granted before are kept
	}
	if s.o.Config.Grant == GrantPerson {
		e, err = s.askPerson(ctx, f, &person{plan: p, old: old, scopes: scopes, client: client, seen: seen})
	} else {
		e, err = s.askServer(ctx, p, scopes, client)
	}
	if err != nil && p.guessed && cannotRegister(err) {
		return &Error{Server: s.o.Server, Text: noSignIn}
	}
	if err != nil {
		return s.failure(ctx, err, append(seen.sent, old.secrets()...)...)
	}
	if s.adopt(f, old, e) {
		s.mu.Lock()
		s.fresh, s.freshAt, s.renewed, s.declined = e, time.Now(), nil, nil
		s.mu.Unlock()
		s.log.Info("signed in", "issuer", bounds.Printable(e.Issuer))
		_ = s.persist(s.life) // persist has logged the error
	}
	return nil
}

// borrow uses a token that another hub of this user has got meanwhile, so that two windows do not ask for the same
// thing.
func (s *SignIn) borrow(ctx context.Context, f *flight, p *plan) bool {
	kept, err := s.o.Store.Load(ctx, s.key)
	if err != nil || !kept.usable(time.Now()) || kept.Issuer != p.server.Issuer || !covers(kept.Scopes, f.c.scopes) ||
		!p.binding.takes(kept) || !s.ours(kept) {
		return false
	}
	if known := s.current(); known != nil && !kept.Saved.After(known.Saved) {
		return false // it is the token that was refused, or an older one
	}
	if !s.adopt(f, nil, kept) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored = kept
	return true
}

// renew tries to replace a token that the server refuses before it expires, without a person. done reports whether
// there is another token now.
func (s *SignIn) renew(ctx context.Context, old *Entry) (done bool, err error) {
	s.mu.Lock()
	if s.fresh == old && time.Since(s.freshAt) < tooSoon && s.o.Config.Grant == GrantPerson {
		s.mu.Unlock()
		return false,
			&RefusedError{s.o.Server,
				"it does not take the token that its authorization server has just given; the two may not fit together"}
	}
	if old.RefreshToken == "" || s.renewed == old || s.entry != old {
		s.mu.Unlock()
		return false, nil
	}
	f := s.joinRefresh(old)
	s.mu.Unlock()
	if err := s.wait(ctx, f); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.entry; now != old && now.usable(time.Now()) {
		s.renewed = now
		return true, nil
	}
	return false, nil
}
