package catalog

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/proposal"
)

const (
	maxKept     = 64 // proposals: a person looks at a few
	maxUnderWay = 8  // requests to registries and reads of bundles: a person waits for one
	// How many bundles are downloaded at once, and how many are kept: each may have hundreds of megabytes.
	maxDownloading = 2
	maxDownloaded  = 4
)

// Options are the options of a Catalog.
type Options struct {
	StateDir     string            // where bundles are unpacked; "" if they cannot be
	RoundTripper http.RoundTripper // nil means connections of its own
	UserAgent    string
}

// Catalog finds servers. Its methods may be called concurrently.
type Catalog struct {
	registry  *RegistryClient
	shelf     *Shelf
	slots     chan struct{} // one for each request or read under way
	downloads chan struct{} // one for each download

	mu     sync.Mutex // guards kept and closed; never held while waiting
	kept   []Offer    // oldest first
	closed bool
}

// New returns a Catalog. The caller must close it.
func New(o Options) *Catalog {
	return &Catalog{registry: &RegistryClient{RoundTripper: o.RoundTripper, UserAgent: o.UserAgent},
		shelf: NewShelf(ShelfOptions{StateDir: o.StateDir}), slots: make(chan struct{}, maxUnderWay),
		downloads: make(chan struct{}, maxDownloading)}
}

// Offer is a proposal that the catalog keeps. It must not be changed.
type Offer struct {
	ID       string
	Proposal *proposal.Proposal
	Bundle   *Bundle // the bundle that was read; nil for other proposals
	base     string  // the registry that it came from
	from     string  // the id of the offer whose bundle was downloaded; "" if it was not downloaded
}

// enter takes a slot. If it succeeds, the caller must call leave.
func (c *Catalog) enter() error {
	select {
	case c.slots <- struct{}{}:
		return nil
	default:
		return event.Fail(event.CodeResourceExhausted, event.ReasonBoundExceeded, nil,
			"%d requests to registries are under way already; wait until one is over, or give it up", maxUnderWay)
	}
}

func (c *Catalog) leave() { <-c.slots }

// Search asks a registry for a page of servers.
func (c *Catalog) Search(ctx context.Context, base string, q Query) (Page, error) {
	if err := c.enter(); err != nil {
		return Page{}, err
	}
	defer c.leave()
	return c.registry.Search(ctx, base, q)
}

// Server asks a registry for one server, and keeps the proposals for it.
func (c *Catalog) Server(ctx context.Context, base, name, version string) (Server, []Offer, error) {
	if err := c.enter(); err != nil {
		return Server{}, nil, err
	}
	defer c.leave()
	s, proposals, err := c.registry.Server(ctx, base, name, version)
	if err != nil {
		return Server{}, nil, err
	}
	offers := make([]Offer, len(proposals))
	for i, p := range proposals {
		offers[i] = c.keep(Offer{Proposal: p, base: base})
	}
	return s, offers, nil
}

// ReadBundle reads a bundle from a file, and keeps the proposal for it.
func (c *Catalog) ReadBundle(ctx context.Context, file string) (Offer, error) {
	if err := c.enter(); err != nil {
		return Offer{}, err
	}
	defer c.leave()
	b, err := c.shelf.Read(ctx, file)
	if err != nil {
		return Offer{}, err
	}
	return c.keep(Offer{Proposal: b.Proposal, Bundle: b}), nil
}

// FetchBundle downloads the bundle of a proposal, and reads it. If the bundle was downloaded before and is still kept,
// it is not downloaded again.
func (c *Catalog) FetchBundle(ctx context.Context, id string) (Offer, error) {
	from, err := c.find(id)
	if err != nil {
		return Offer{}, err
	}
	if from.Bundle != nil {
		return from, nil
	}
	if from.Proposal.Download == nil {
		return Offer{}, event.Fail(event.CodeInvalidArgument, event.ReasonBundleInvalid, nil,
			"this proposal is no bundle; nothing is to be downloaded")
	}
	if kept, ok := c.first(func(o Offer) bool { return o.from == id }); ok {
		return kept, nil
	}
	select {
	case c.downloads <- struct{}{}:
		defer func() { <-c.downloads }()
	default:
		return Offer{}, event.Fail(event.CodeResourceExhausted, event.ReasonBoundExceeded, nil,
			"%d bundles are being downloaded already; wait until one is there, or give it up", maxDownloading)
	}
	if err := c.enter(); err != nil {
		return Offer{}, err
	}
	defer c.leave()
	b, err := c.shelf.Fetch(ctx, func(ctx context.Context, w io.Writer) error {
		return c.registry.Download(ctx, from.base, *from.Proposal.Download, w)
	})
	if err != nil {
		return Offer{}, err
	}
	return c.keep(Offer{Proposal: b.Proposal, Bundle: b, from: id}), nil
}

// Fill makes an entry from a proposal and the values of its inputs, by id.
func (c *Catalog) Fill(id string, values map[string][]string) (proposal.Entry, error) {
	o, err := c.find(id)
	if err != nil {
		return proposal.Entry{}, err
	}
	if !o.Proposal.Usable() {
		text := o.Proposal.Unusable
		if text == "" {
			text = "Its bundle must be read first."
		}
		return proposal.Entry{}, event.Fail(event.CodeFailedPrecondition, event.ReasonBundleInvalid, nil,
			"no entry can be made of it. %s", text)
	}
	e, err := o.Proposal.Fill(values)
	if wrong, ok := errors.AsType[*proposal.InputError](err); ok {
		return proposal.Entry{}, event.Fail(event.CodeInvalidArgument, event.ReasonInputInvalid, []string{"key", wrong.ID},
			"%s: %s", bounds.Printable(wrong.Title), wrong.Text)
	}
	return e, err
}

// Unpack unpacks the bundle of a proposal into its folder; undo takes that back. For a proposal without a bundle it
// does nothing.
func (c *Catalog) Unpack(ctx context.Context, id string) (undo func(), err error) {
	o, err := c.find(id)
	if err != nil {
		return nil, err
	}
	if o.Bundle == nil {
		return func() {}, nil
	}
	return c.shelf.Unpack(ctx, o.Bundle)
}

// keep adds an offer with a new id. It drops the oldest offers if there are too many, in all or with downloaded
// bundles.
func (c *Catalog) keep(o Offer) Offer {
	o.ID = rand.Text()
	var out []Offer
	c.mu.Lock()
	c.kept = append(c.kept, o)
	total, downloaded := 0, 0
	for i := len(c.kept) - 1; i >= 0; i-- {
		k := c.kept[i]
		if total++; k.from != "" {
			downloaded++
		}
		if c.closed || total > maxKept || k.from != "" && downloaded > maxDownloaded {
			out, c.kept = append(out, k), slices.Delete(c.kept, i, i+1)
		}
	}
	c.mu.Unlock()
	c.drop(out)
	return o
}

func (c *Catalog) drop(offers []Offer) {
	for _, o := range offers {
		if o.Bundle != nil {
			c.shelf.Drop(o.Bundle)
		}
	}
}

func (c *Catalog) find(id string) (Offer, error) {
	o, ok := c.first(func(o Offer) bool { return o.ID == id })
	if !ok {
		return Offer{}, event.Fail(event.CodeNotFound, event.ReasonProposalNotFound, []string{"proposal_id", id},
			"this proposal is not kept any more: search for the server or choose the bundle again")
	}
	return o, nil
}

func (c *Catalog) first(fits func(Offer) bool) (Offer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.kept, fits)
	if i < 0 {
		return Offer{}, false
	}
	return c.kept[i], true
}

// Close drops all offers.
func (c *Catalog) Close() {
	c.mu.Lock()
	out := c.kept
	c.kept, c.closed = nil, true
	c.mu.Unlock()
	c.drop(out)
}
