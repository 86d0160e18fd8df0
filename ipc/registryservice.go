package ipc

import (
	"context"
	"errors"
	"sync"

	"github.com/mcphub-go/mcphub/hub/catalog"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/proposal"
	"github.com/mcphub-go/mcphub/hub/registry"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

type registryService struct {
	mcphubv1.UnimplementedRegistryServiceServer
	*services
}

// serverCatalog is the part of the hub that finds servers.
type serverCatalog interface {
	Search(ctx context.Context, base string, q registry.Query) (registry.Page, error)
	Server(ctx context.Context, base, name, version string) (registry.Server, []catalog.Offer, error)
	ReadBundle(ctx context.Context, file string) (catalog.Offer, error)
	FetchBundle(ctx context.Context, id string) (catalog.Offer, error)
	Fill(id string, values map[string][]string) (proposal.Entry, error)
	Unpack(ctx context.Context, id string) (undo func(), err error)
}

func (s *registryService) SearchRegistry(ctx context.Context,
	r *mcphubv1.SearchRegistryRequest) (*mcphubv1.SearchRegistryResponse, error) {
	resp, err := s.searchRegistry(ctx, r)
	return reply(ctx, s.services, resp, err)
}

func (s *registryService) GetRegistryServer(ctx context.Context,
	r *mcphubv1.GetRegistryServerRequest) (*mcphubv1.GetRegistryServerResponse, error) {
	resp, err := s.registryServer(ctx, r)
	return reply(ctx, s.services, resp, err)
}

func (s *registryService) ReadBundle(ctx context.Context,
	r *mcphubv1.ReadBundleRequest) (*mcphubv1.ReadBundleResponse, error) {
	resp, err := s.readBundle(ctx, r)
	return reply(ctx, s.services, resp, err)
}

func (s *registryService) FillProposal(ctx context.Context,
	r *mcphubv1.FillProposalRequest) (*mcphubv1.FillProposalResponse, error) {
	resp, err := s.fillProposal(r)
	return reply(ctx, s.services, resp, err)
}

// The operations that a host calls and that a window orders by its stream.

func (c *services) searchRegistry(ctx context.Context,
	r *mcphubv1.SearchRegistryRequest) (*mcphubv1.SearchRegistryResponse, error) {
	if c.domain.Draining() {
		return nil, event.ErrDraining()
	}
	page, err := c.domain.Catalog().Search(ctx, r.GetRegistryUrl(),
		registry.Query{Text: r.GetQuery(), Cursor: r.GetCursor(), Size: int(r.GetPageSize())})
	if err != nil {
		return nil, err
	}
	return &mcphubv1.SearchRegistryResponse{Servers: list(page.Servers, c.convert.registryServer),
		NextCursor: c.convert.text(page.Next), LeftOut: int32(page.LeftOut)}, nil
}

func (c *services) registryServer(ctx context.Context,
	r *mcphubv1.GetRegistryServerRequest) (*mcphubv1.GetRegistryServerResponse, error) {
	if c.domain.Draining() {
		return nil, event.ErrDraining()
	}
	s, offers, err := c.domain.Catalog().Server(ctx, r.GetRegistryUrl(), r.GetName(), r.GetVersion())
	if err != nil {
		return nil, err
	}
	return &mcphubv1.GetRegistryServerResponse{Server: c.convert.registryServer(s),
		Proposals: list(offers, c.convert.offer)}, nil
}

func (c *services) readBundle(ctx context.Context,
	r *mcphubv1.ReadBundleRequest) (*mcphubv1.ReadBundleResponse, error) {
	if c.domain.Draining() {
		return nil, event.ErrDraining()
	}
	var o catalog.Offer
	var err error
	if id := r.GetProposalId(); id != "" {
		o, err = c.domain.Catalog().FetchBundle(ctx, id)
	} else {
		o, err = c.domain.Catalog().ReadBundle(ctx, r.GetPath())
	}
	if err != nil {
		return nil, err
	}
	b := o.Bundle
	return &mcphubv1.ReadBundleResponse{Proposal: c.convert.offer(o), Title: c.convert.text(b.Title),
		Description: c.convert.text(b.Description), Version: c.convert.text(b.Version),
		Author: c.convert.text(b.Author), Sha256: b.SHA256, BundleBytes: b.Bytes, UnpackedBytes: b.Unpacked,
		Folder: c.convert.text(b.Folder), Tools: c.convert.texts(b.Tools)}, nil
}

func (c *services) fillProposal(r *mcphubv1.FillProposalRequest) (*mcphubv1.FillProposalResponse, error) {
	values := make(map[string][]string, len(r.GetValues()))
	for id, v := range r.GetValues() {
		values[id] = v.GetValues()
	}
	e, err := c.domain.Catalog().Fill(r.GetProposalId(), values)
	if err != nil {
		return nil, err
	}
	return &mcphubv1.FillProposalResponse{Form: c.convert.filled(e), EntryJson: c.convert.text(e.JSON()),
		Missing: e.Missing}, nil
}

// unpackFor unpacks the bundle that an entry refers to. undo removes what was unpacked.
func (c *services) unpackFor(ctx context.Context, r *mcphubv1.AddServerRequest) (undo func(), err error) {
	if r.GetProposalId() == "" || r.GetPreview() {
		return func() {}, nil
	}
	return c.domain.Catalog().Unpack(ctx, r.GetProposalId())
}

var statuses = map[registry.Status]mcphubv1.RegistryStatus{
	registry.Active:     mcphubv1.RegistryStatus_REGISTRY_STATUS_ACTIVE,
	registry.Deprecated: mcphubv1.RegistryStatus_REGISTRY_STATUS_DEPRECATED,
	registry.Deleted:    mcphubv1.RegistryStatus_REGISTRY_STATUS_DELETED,
}

func (c converter) registryServer(s registry.Server) *mcphubv1.RegistryServer {
	out := &mcphubv1.RegistryServer{Name: c.text(s.Name), Publisher: c.text(s.Publisher()), Title: c.text(s.Title),
		Description: c.text(s.Description), Version: c.text(s.Version), Status: statuses[s.Status],
		StatusMessage: c.text(s.StatusMessage), WebsiteUrl: c.text(s.Website), RepositoryUrl: c.text(s.Repository),
		Kinds: c.texts(s.Kinds)}
	if !s.Published.IsZero() {
		out.PublishTime = timestamp(s.Published)
	}
	return out
}

func (c converter) offer(o catalog.Offer) *mcphubv1.ServerProposal {
	p := o.Proposal
	out := &mcphubv1.ServerProposal{ProposalId: o.ID, Server: c.text(p.Server), Kind: c.text(p.Kind),
		Subject: c.text(p.Subject), Inputs: list(p.Inputs, c.proposalInput), Unusable: c.text(p.Unusable),
		Warnings: c.texts(p.Warnings), NeedsDownload: p.Download != nil}
	if p.Usable() {
		out.Form = c.filled(p.Outline())
	}
	return out
}

func (c converter) filled(e proposal.Entry) *mcphubv1.ServerForm {
	f := &mcphubv1.ServerForm{Command: c.text(e.Command), Args: c.texts(e.Args), Directory: c.text(e.Dir),
		Url: c.text(e.URL), Environment: c.named(e.Env), Headers: c.named(e.Headers)}
	switch {
	case e.URL == "":
	case e.Transport == "sse":
		f.Transport = mcphubv1.ServerTransport_SERVER_TRANSPORT_SSE
	case e.Transport == "http":
		f.Transport = mcphubv1.ServerTransport_SERVER_TRANSPORT_HTTP
	}
	return f
}

func (c converter) named(values map[string]string) map[string]string {
	if len(values) == 0 {
		return nil
	}
	out := make(map[string]string, len(values))
	for name, value := range values {
		out[c.text(name)] = c.text(value)
	}
	return out
}

var inputTypes = map[proposal.Type]mcphubv1.ProposalInputType{
	proposal.TypeNumber:    mcphubv1.ProposalInputType_PROPOSAL_INPUT_TYPE_NUMBER,
	proposal.TypeBoolean:   mcphubv1.ProposalInputType_PROPOSAL_INPUT_TYPE_BOOLEAN,
	proposal.TypeFile:      mcphubv1.ProposalInputType_PROPOSAL_INPUT_TYPE_FILE,
	proposal.TypeDirectory: mcphubv1.ProposalInputType_PROPOSAL_INPUT_TYPE_DIRECTORY,
}

func (c converter) proposalInput(in proposal.Input) *mcphubv1.ProposalInput {
	return &mcphubv1.ProposalInput{Id: in.ID, Title: c.text(in.Title), Description: c.text(in.Description),
		Required: in.Required, Secret: in.Secret, Type: inputTypes[in.Type], Choices: c.texts(in.Choices),
		Defaults: c.texts(in.Defaults), Multiple: in.Multiple, Placeholder: c.text(in.Placeholder), Minimum: in.Min,
		Maximum: in.Max}
}

var errOfRelays = errors.New("choose_bundle: is for the host between a page and the hub; send read_bundle")

var errGivenUp = errors.New("the window gave it up")

// givable holds the pending requests of one window that it can give up, by the ids of their messages.
type givable struct {
	mu      sync.Mutex // guards cancels
	cancels map[string]context.CancelCauseFunc
}

func (g *givable) giveUp(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cancel := g.cancels[id]; cancel != nil {
		cancel(errGivenUp)
	}
}

// hold registers a message as one that can be given up, until release is called. given ends when the window gives it
// up.
func (g *givable) hold(id string) (given context.Context, release func()) {
	given, cancel := context.WithCancelCause(context.Background())
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cancels == nil {
		g.cancels = map[string]context.CancelCauseFunc{}
	}
	if _, used := g.cancels[id]; id == "" || used {
		return given, func() { cancel(nil) }
	}
	g.cancels[id] = cancel
	return given, func() {
		cancel(nil)
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.cancels, id)
	}
}

// find begins the search for servers that the message asks for.
func (m *message) find() {
	s := m.s
	switch order := m.GetMessage().(type) {
	case *mcphubv1.AttachRequest_SearchRegistry:
		m.look(func(ctx context.Context) (*mcphubv1.Reply, error) {
			page, err := s.searchRegistry(ctx, order.SearchRegistry)
			return &mcphubv1.Reply{Response: &mcphubv1.Reply_SearchRegistry{SearchRegistry: page}}, err
		})
	case *mcphubv1.AttachRequest_GetRegistryServer:
		m.look(func(ctx context.Context) (*mcphubv1.Reply, error) {
			server, err := s.registryServer(ctx, order.GetRegistryServer)
			return &mcphubv1.Reply{Response: &mcphubv1.Reply_GetRegistryServer{GetRegistryServer: server}}, err
		})
	case *mcphubv1.AttachRequest_ReadBundle:
		m.look(func(ctx context.Context) (*mcphubv1.Reply, error) {
			b, err := s.readBundle(ctx, order.ReadBundle)
			return &mcphubv1.Reply{Response: &mcphubv1.Reply_ReadBundle{ReadBundle: b}}, err
		})
	case *mcphubv1.AttachRequest_FillProposal:
		m.look(func(context.Context) (*mcphubv1.Reply, error) {
			entry, err := s.fillProposal(order.FillProposal)
			return &mcphubv1.Reply{Response: &mcphubv1.Reply_FillProposal{FillProposal: entry}}, err
		})
	default:
		m.browse()
	}
}

// look runs an order that ends with the stream, or when the window gives it up.
func (m *message) look(order func(context.Context) (*mcphubv1.Reply, error)) {
	given, release := m.waits.hold(m.GetMessageId())
	begun := false
	m.run(func(f func(context.Context) func()) error {
		err := m.w.GoAttached(f)
		begun = err == nil
		return err
	}, func(ctx context.Context) (*mcphubv1.Reply, error) {
		defer release()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(given, func() { cancel(context.Cause(given)) })()
		return order(ctx)
	})
	if !begun {
		release()
	}
}
