package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// notingStore tells the redactor of the tokens that go through a store of sign-ins.
type notingStore struct {
	signin.Store
	redactor *redact.Redactor
}

// Load implements signin.Store.
func (n notingStore) Load(ctx context.Context, key signin.Key) (*signin.Entry, error) {
	e, err := n.Store.Load(ctx, key)
	n.redactor.Add(e.Secrets()...)
	return e, err
}

// Save implements signin.Store.
func (n notingStore) Save(ctx context.Context, e *signin.Entry) error {
	n.redactor.Add(e.Secrets()...)
	return n.Store.Save(ctx, e)
}

// tokenStore opens what keeps sign-ins.
func (h *Hub) tokenStore(dir string) signin.Store {
	return notingStore{signin.OpenStore(dir, h.log), h.redactor}
}
