package ipc

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/sources"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

type configService struct {
	mcphubv1.UnimplementedConfigServiceServer
	*services
}

// configFiles is the part of the hub that writes config files.
type configFiles interface {
	AddServer(ctx context.Context, to sources.Target, f edit.Form, set edit.Settings) (sources.Written, error)
	UpdateServer(ctx context.Context, to sources.Target, u edit.Update) (sources.Written, error)
	RemoveServer(ctx context.Context, to sources.Target) (sources.Written, error)
	Undo(ctx context.Context, id string, by config.Writer) (sources.Written, error)
	ConfigFiles(ctx context.Context) []sources.File
	ServerEntry(ctx context.Context, to sources.Target) (edit.Found, sources.File, error)
	ReadText(text, dialect string) ([]edit.Found, []event.ConfigProblem)
	Shown(p config.Problem) event.ConfigProblem
}

func (s *configService) AddServer(ctx context.Context,
	r *mcphubv1.AddServerRequest) (*mcphubv1.AddServerResponse, error) {
	undo, err := s.unpackFor(ctx, r)
	if err != nil {
		return nil, err
	}
	to := configTarget(ctx, r.GetServer(), r.GetConfigFile(), r.GetWrittenBy())
	to.Preview = r.GetPreview()
	w, err := s.domain.Config().AddServer(ctx, to, edit.Form{Entry: serverForm(r.GetForm()), JSON: r.GetEntryJson(),
		Dialect: r.GetEntryDialect(), Changed: serverForm(r.GetChangedForm()), Inputs: list(r.GetInputs(), entryInput)},
		serverSettings(r.GetSettings()))
	if err != nil && w.File == "" {
		undo()
	}
	return &mcphubv1.AddServerResponse{Write: s.convert.write(w), Server: s.now(w)}, err
}

func (s *configService) UpdateServer(ctx context.Context,
	r *mcphubv1.UpdateServerRequest) (*mcphubv1.UpdateServerResponse, error) {
	to := configTarget(ctx, r.GetServer(), r.GetConfigFile(), r.GetWrittenBy())
	to.Preview = r.GetPreview()
	w, err := s.domain.Config().UpdateServer(ctx, to, edit.Update{Entry: serverForm(r.GetForm()), Patch: r.GetPatchJson(),
		Settings: serverSettings(r.GetSettings()), Inputs: list(r.GetInputs(), entryInput)})
	return &mcphubv1.UpdateServerResponse{Write: s.convert.write(w), Server: s.now(w)}, err
}

func (s *configService) RemoveServer(ctx context.Context,
	r *mcphubv1.RemoveServerRequest) (*mcphubv1.RemoveServerResponse, error) {
	to := configTarget(ctx, r.GetServer(), r.GetConfigFile(), "")
	to.Preview = r.GetPreview()
	w, err := s.domain.Config().RemoveServer(ctx, to)
	return &mcphubv1.RemoveServerResponse{Write: s.convert.write(w), Server: s.now(w)}, err
}

func (s *configService) UndoConfigWrite(ctx context.Context,
	r *mcphubv1.UndoConfigWriteRequest) (*mcphubv1.UndoConfigWriteResponse, error) {
	w, err := s.domain.Config().Undo(ctx, r.GetUndoId(), configWriter(ctx, r.GetWrittenBy()))
	return &mcphubv1.UndoConfigWriteResponse{Write: s.convert.write(w), Server: s.now(w)}, err
}

// now returns the server of the entry that a write has changed, or else the server with its name. It returns nil if
// there is none, or if the write failed.
func (c *services) now(w sources.Written) (m *mcphubv1.Server) {
	if w.File == "" {
		return nil
	}
	servers, _ := c.domain.Servers()
	for _, s := range servers {
		switch {
		case s.ConfigName == w.Server && s.ConfigFile == w.File:
			return c.convert.server(s)
		case s.Name == w.Server:
			m = c.convert.server(s)
		}
	}
	return m
}

func configTarget(ctx context.Context, server, file, by string) sources.Target {
	return sources.Target{Server: server, File: file, By: configWriter(ctx, by)}
}

// configWriter returns the name of who writes. A window that does not say its name is named by its id.
func configWriter(ctx context.Context, by string) config.Writer {
	w := config.Writer{Name: "a host"}
	if of := windowOf(ctx); of != nil {
		w.Window = of.ID()
		w.Name = "the window " + w.Window
	}
	w.Name = bounds.Printable(cmp.Or(by, w.Name))
	return w
}

func serverForm(f *mcphubv1.ServerForm) *edit.Entry {
	if f == nil {
		return nil
	}
	e := &edit.Entry{Command: f.GetCommand(), Args: f.GetArgs(), Dir: f.GetDirectory(), URL: f.GetUrl(),
		Header: f.GetHeaders()}
	switch f.GetTransport() {
	case mcphubv1.ServerTransport_SERVER_TRANSPORT_HTTP:
		e.Transport = config.TransportHTTP
	case mcphubv1.ServerTransport_SERVER_TRANSPORT_SSE:
		e.Transport = config.TransportSSE
	}
	if len(f.GetEnvironment())+len(f.GetUnsetEnvironment()) > 0 {
		e.Env = map[string]*string{}
	}
	for _, name := range f.GetUnsetEnvironment() {
		e.Env[name] = nil
	}
	for name, value := range f.GetEnvironment() {
		e.Env[name] = &value
	}
	return e
}

// policiesWritten maps the policies to those of configs. Any other policy becomes "", which removes it from an entry.
var policiesWritten = map[mcphubv1.ApprovalPolicy]config.Policy{
	mcphubv1.ApprovalPolicy_APPROVAL_POLICY_ALLOW: config.Allow,
	mcphubv1.ApprovalPolicy_APPROVAL_POLICY_ASK:   config.Ask,
	mcphubv1.ApprovalPolicy_APPROVAL_POLICY_DENY:  config.Deny,
}

func serverSettings(s *mcphubv1.ServerSettings) (set edit.Settings) {
	if s == nil {
		return set
	}
	set.Enabled = s.Enabled
	for tool, p := range s.GetApprovals() {
		if set.Approvals == nil {
			set.Approvals = map[string]config.Policy{}
		}
		set.Approvals[tool] = policiesWritten[p]
	}
	t := s.GetTimeouts()
	set.Timeouts = map[string]*time.Duration{}
	for _, clock := range t.GetToDefault() {
		set.Timeouts[clock] = nil
	}
	for clock, d := range map[string]*durationpb.Duration{"connect": t.GetConnect(), "idle": t.GetIdle(),
		"total": t.GetTotal(), "human": t.GetHuman()} {
		if d != nil {
			set.Timeouts[clock] = new(d.AsDuration())
		}
	}
	return set
}

func (c converter) write(w sources.Written) *mcphubv1.ConfigWrite {
	return &mcphubv1.ConfigWrite{Server: c.text(w.Server), ConfigFile: c.text(w.File), ConfigLine: int32(w.Line),
		ConfigDialect: w.Dialect, NeedsConsent: w.MustAsk, Problems: list(w.Problems, c.problem),
		LeftOut: c.texts(w.LeftOut), CanUndo: w.CanUndo, UndoId: w.UndoID,
		LinesBefore: c.text(bounds.Cut(w.LinesBefore, maxLines)), LinesAfter: c.text(bounds.Cut(w.LinesAfter, maxLines))}
}

// maxLines limits the part of a file that a preview shows, in bytes.
const maxLines = 64 << 10

func (s *configService) ListConfigFiles(ctx context.Context,
	_ *mcphubv1.ListConfigFilesRequest) (*mcphubv1.ListConfigFilesResponse, error) {
	return &mcphubv1.ListConfigFilesResponse{Files: list(s.domain.Config().ConfigFiles(ctx), s.convert.configFile)}, nil
}

func (s *configService) ReadConfigText(_ context.Context,
	r *mcphubv1.ReadConfigTextRequest) (*mcphubv1.ReadConfigTextResponse, error) {
	found, problems := s.domain.Config().ReadText(r.GetText(), r.GetDialect())
	return &mcphubv1.ReadConfigTextResponse{Entries: list(found, s.entry),
		Problems: list(problems, s.convert.problem)}, nil
}

func (s *configService) GetServerEntry(ctx context.Context,
	r *mcphubv1.GetServerEntryRequest) (*mcphubv1.GetServerEntryResponse, error) {
	to := configTarget(ctx, r.GetServer(), r.GetConfigFile(), "")
	found, file, err := s.domain.Config().ServerEntry(ctx, to)
	if err != nil {
		return nil, err
	}
	return &mcphubv1.GetServerEntryResponse{Entry: s.entry(found), File: s.convert.configFile(file)}, nil
}

func (c converter) configFile(f sources.File) *mcphubv1.ConfigFile {
	return &mcphubv1.ConfigFile{Path: c.text(f.Path), Scope: f.Scope, Dialect: f.Place.Dialect, Folder: c.text(f.Folder),
		Exists: f.Exists, NotWritable: c.text(f.NotWritable), Line: int32(f.Line), Servers: c.texts(f.Names),
		IsDefault: f.Default, EnvironmentReference: f.EnvReference, TakesInputs: f.TakesInputs, TakesUrls: f.TakesURLs}
}

// entry converts an entry with its values. The result is only for a client that changes the entry.
func (c *services) entry(f edit.Found) *mcphubv1.ConfigEntry {
	out := &mcphubv1.ConfigEntry{Server: c.convert.text(f.Name), Line: int32(f.Line), Dialect: f.Dialect,
		EnvironmentReference: f.EnvReference, EntryJson: c.convert.text(f.JSON),
		Problems: list(f.Problems, func(p config.Problem) *mcphubv1.ConfigProblem {
			return c.convert.problem(c.domain.Config().Shown(p))
		})}
	s := f.Server
	if s == nil {
		return out
	}
	out.Form = c.convert.form(s)
	out.Settings = settingsOf(s)
	out.Inputs = list(s.Inputs, c.convert.input)
	return out
}

func (c converter) form(s *config.Server) *mcphubv1.ServerForm {
	out := &mcphubv1.ServerForm{Command: c.text(s.Command), Args: c.texts(s.Args), Directory: c.text(s.Dir),
		Url: c.text(s.URL)}
	if s.URL != "" {
		switch s.Transport {
		case config.TransportHTTP:
			out.Transport = mcphubv1.ServerTransport_SERVER_TRANSPORT_HTTP
		case config.TransportSSE:
			out.Transport = mcphubv1.ServerTransport_SERVER_TRANSPORT_SSE
		}
	}
	for name, value := range s.Env {
		if value == nil {
			out.UnsetEnvironment = append(out.UnsetEnvironment, c.text(name))
			continue
		}
		if out.Environment == nil {
			out.Environment = map[string]string{}
		}
		out.Environment[c.text(name)] = c.text(*value)
	}
	for name, value := range s.Header {
		if out.Headers == nil {
			out.Headers = map[string]string{}
		}
		out.Headers[c.text(name)] = c.text(value)
	}
	return out
}

func settingsOf(s *config.Server) *mcphubv1.ServerSettings {
	out := &mcphubv1.ServerSettings{Enabled: new(!s.Disabled)}
	for pattern, policy := range s.Approvals {
		if out.Approvals == nil {
			out.Approvals = map[string]mcphubv1.ApprovalPolicy{}
		}
		for p, written := range policiesWritten {
			if written == policy {
				out.Approvals[pattern] = p
			}
		}
	}
	clock := func(d *time.Duration) *durationpb.Duration {
		if d == nil {
			return nil
		}
		return durationpb.New(*d)
	}
	t := s.Timeouts
	out.Timeouts = &mcphubv1.ServerTimeouts{Connect: clock(t.Connect), Idle: clock(t.Idle), Total: clock(t.Total),
		Human: clock(t.Human)}
	return out
}

func (c converter) input(in config.Input) *mcphubv1.EntryInput {
	out := &mcphubv1.EntryInput{Id: c.text(in.ID), Description: c.text(in.Description), Secret: in.Secret,
		Default: c.text(in.Default)}
	for _, o := range in.Options {
		out.Options = append(out.Options, c.text(o.Value))
	}
	return out
}

func entryInput(in *mcphubv1.EntryInput) config.Input {
	out := config.Input{ID: in.GetId(), Description: in.GetDescription(), Secret: in.GetSecret(),
		Default: in.GetDefault()}
	for _, o := range in.GetOptions() {
		out.Options = append(out.Options, config.InputOption{Value: o, Label: o})
	}
	return out
}

// errorPlace returns the place in a config file that an error is about, nil if there is none.
func (c converter) errorPlace(e *event.Error) *mcphubv1.ConfigPlace {
	if e.Meta["file"] == "" {
		return nil
	}
	line, _ := strconv.Atoi(e.Meta["line"])
	return &mcphubv1.ConfigPlace{File: c.text(e.Meta["file"]), Line: int32(line), Key: c.text(e.Meta["key"])}
}
