package ipc

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/sources"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

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
