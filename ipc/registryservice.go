package ipc

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/catalog"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/proposal"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

type registryService struct {
	mcphubv1.UnimplementedRegistryServiceServer
	*services
}

// serverCatalog is the part of the hub that finds servers.
type serverCatalog interface {
	Search(ctx context.Context, base string, q catalog.Query) (catalog.Page, error)
	Server(ctx context.Context, base, name, version string) (catalog.Server, []catalog.Offer, error)
	ReadBundle(ctx context.Context, file string) (catalog.Offer, error)
	FetchBundle(ctx context.Context, id string) (catalog.Offer, error)
	Fill(id string, values map[string][]string) (proposal.Entry, error)
	Unpack(ctx context.Context, id string) (undo func(), err error)
}

func (s *registryService) SearchRegistry(ctx context.Context,
	r *mcphubv1.SearchRegistryRequest) (*mcphubv1.SearchRegistryResponse, error) {
	if s.domain.Draining() {
		return nil, event.ErrDraining()
	}
	page, err := s.domain.Catalog().Search(ctx, r.GetRegistryUrl(),
		catalog.Query{Text: r.GetQuery(), Cursor: r.GetCursor(), Size: int(r.GetPageSize())})
	if err != nil {
		return nil, err
	}
	return &mcphubv1.SearchRegistryResponse{Servers: list(page.Servers, s.convert.registryServer),
		NextCursor: s.convert.text(page.Next), LeftOut: int32(page.LeftOut)}, nil
}

func (s *registryService) GetRegistryServer(ctx context.Context,
	r *mcphubv1.GetRegistryServerRequest) (*mcphubv1.GetRegistryServerResponse, error) {
	if s.domain.Draining() {
		return nil, event.ErrDraining()
	}
	server, offers, err := s.domain.Catalog().Server(ctx, r.GetRegistryUrl(), r.GetName(), r.GetVersion())
	if err != nil {
		return nil, err
	}
	return &mcphubv1.GetRegistryServerResponse{Server: s.convert.registryServer(server),
		Proposals: list(offers, s.convert.offer)}, nil
}

func (s *registryService) ReadBundle(ctx context.Context,
	r *mcphubv1.ReadBundleRequest) (*mcphubv1.ReadBundleResponse, error) {
	if s.domain.Draining() {
		return nil, event.ErrDraining()
	}
	var o catalog.Offer
	var err error
	if id := r.GetProposalId(); id != "" {
		o, err = s.domain.Catalog().FetchBundle(ctx, id)
	} else {
		o, err = s.domain.Catalog().ReadBundle(ctx, r.GetPath())
	}
	if err != nil {
		return nil, err
	}
	b := o.Bundle
	return &mcphubv1.ReadBundleResponse{Proposal: s.convert.offer(o), Title: s.convert.text(b.Title),
		Description: s.convert.text(b.Description), Version: s.convert.text(b.Version),
		Author: s.convert.text(b.Author), Sha256: b.SHA256, BundleBytes: b.Bytes, UnpackedBytes: b.Unpacked,
		Folder: s.convert.text(b.Folder), Tools: s.convert.texts(b.Tools)}, nil
}

func (s *registryService) FillProposal(_ context.Context,
	r *mcphubv1.FillProposalRequest) (*mcphubv1.FillProposalResponse, error) {
	values := make(map[string][]string, len(r.GetValues()))
	for id, v := range r.GetValues() {
		values[id] = v.GetValues()
	}
	e, err := s.domain.Catalog().Fill(r.GetProposalId(), values)
	if err != nil {
		return nil, err
	}
	return &mcphubv1.FillProposalResponse{Form: s.convert.filled(e), EntryJson: s.convert.text(e.JSON()),
		Missing: e.Missing}, nil
}

// unpackFor unpacks the bundle that an entry refers to. undo removes what was unpacked.
func (c *services) unpackFor(ctx context.Context, r *mcphubv1.AddServerRequest) (undo func(), err error) {
	if r.GetProposalId() == "" || r.GetPreview() {
		return func() {}, nil
	}
	return c.domain.Catalog().Unpack(ctx, r.GetProposalId())
}

var statuses = map[catalog.Status]mcphubv1.RegistryStatus{
	catalog.Active:     mcphubv1.RegistryStatus_REGISTRY_STATUS_ACTIVE,
	catalog.Deprecated: mcphubv1.RegistryStatus_REGISTRY_STATUS_DEPRECATED,
	catalog.Deleted:    mcphubv1.RegistryStatus_REGISTRY_STATUS_DELETED,
}

// RegistryServer returns a server of a registry in the words of the contract, for who searches without a hub.
func RegistryServer(s catalog.Server) *mcphubv1.RegistryServer { return converter{}.registryServer(s) }

// ServerProposal is RegistryServer for a way to have a server.
func ServerProposal(o catalog.Offer) *mcphubv1.ServerProposal { return converter{}.offer(o) }

func (c converter) registryServer(s catalog.Server) *mcphubv1.RegistryServer {
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
