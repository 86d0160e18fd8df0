package ipc

import (
	"cmp"
	"context"
	"slices"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

type serverService struct {
	mcphubv1.UnimplementedMcpServerServiceServer
	*services
}

func (s *serverService) ListServers(context.Context,
	*mcphubv1.ListServersRequest) (*mcphubv1.ListServersResponse, error) {
	servers, problems := s.domain.Servers()
	return &mcphubv1.ListServersResponse{Servers: list(servers, s.convert.server),
		Problems: list(problems, s.convert.problem)}, nil
}

func (s *serverService) StartServer(ctx context.Context,
	r *mcphubv1.StartServerRequest) (*mcphubv1.StartServerResponse, error) {
	start := s.domain.StartServer
	if r.GetWorkspaceEntry() {
		start = s.domain.StartWorkspaceEntry
	}
	server, err := start(ctx, r.GetServer())
	return &mcphubv1.StartServerResponse{Server: s.convert.server(server)}, err
}

func (s *serverService) GetLaunch(ctx context.Context,
	r *mcphubv1.GetLaunchRequest) (*mcphubv1.GetLaunchResponse, error) {
	q, allowed, err := s.domain.LaunchQuestion(ctx, r.GetServer())
	if q == nil || err != nil {
		return &mcphubv1.GetLaunchResponse{}, err
	}
	return &mcphubv1.GetLaunchResponse{Launch: s.convert.launch(q), Allowed: allowed}, nil
}

func (s *serverService) AllowLaunch(ctx context.Context,
	r *mcphubv1.AllowLaunchRequest) (*mcphubv1.AllowLaunchResponse, error) {
	server, err := s.domain.AllowLaunch(ctx, r.GetServer(), r.GetLaunchHash(), approvalScope(r.GetScope()))
	return &mcphubv1.AllowLaunchResponse{Server: s.convert.server(server)}, err
}

func (s *serverService) StopServer(ctx context.Context,
	r *mcphubv1.StopServerRequest) (*mcphubv1.StopServerResponse, error) {
	server, err := s.by(ctx).StopServer(ctx, r.GetServer(), r.GetReason())
	return &mcphubv1.StopServerResponse{Server: s.convert.server(server)}, err
}

func (s *serverService) RestartServer(ctx context.Context,
	r *mcphubv1.RestartServerRequest) (*mcphubv1.RestartServerResponse, error) {
	server, err := s.by(ctx).RestartServer(ctx, r.GetServer(), r.GetReason())
	return &mcphubv1.RestartServerResponse{Server: s.convert.server(server)}, err
}

func (s *serverService) SetServerEnabled(ctx context.Context,
	r *mcphubv1.SetServerEnabledRequest) (*mcphubv1.SetServerEnabledResponse, error) {
	server, err := s.by(ctx).SetServerEnabled(ctx, r.GetServer(), r.GetEnabled())
	return &mcphubv1.SetServerEnabledResponse{Server: s.convert.server(server)}, err
}

func (s *serverService) MuteServer(_ context.Context,
	r *mcphubv1.MuteServerRequest) (*mcphubv1.MuteServerResponse, error) {
	server, err := s.domain.MuteServer(r.GetServer(), r.GetMuted())
	return &mcphubv1.MuteServerResponse{Server: s.convert.server(server)}, err
}

func (s *serverService) SignIn(ctx context.Context, r *mcphubv1.SignInRequest) (*mcphubv1.SignInResponse, error) {
	server, err := s.domain.SignIn(ctx, r.GetServer())
	return &mcphubv1.SignInResponse{Server: s.convert.server(server)}, err
}

func (s *serverService) SignOut(ctx context.Context, r *mcphubv1.SignOutRequest) (*mcphubv1.SignOutResponse, error) {
	server, err := s.by(ctx).SignOut(ctx, r.GetServer())
	return &mcphubv1.SignOutResponse{Server: s.convert.server(server)}, err
}

func (s *serverService) ReloadConfig(ctx context.Context,
	r *mcphubv1.ReloadConfigRequest) (*mcphubv1.ReloadConfigResponse, error) {
	s.domain.WatchConfig(!r.GetWatchedByHost())
	if p := r.GetManagedPolicy(); p != nil {
		s.domain.SetHostPolicy(hub.HostPolicy{Name: p.GetName(), Dialect: p.GetDialect(), JSON: p.GetJson()})
	}
	servers, problems, stopped, err := s.domain.LoadConfig(ctx, configSources(r.GetSources()))
	return &mcphubv1.ReloadConfigResponse{
		Servers: list(servers, s.convert.server), Problems: list(problems, s.convert.problem),
		Stopped: s.convert.texts(stopped),
	}, err
}

func (s *serverService) ListTools(ctx context.Context,
	r *mcphubv1.ListToolsRequest) (*mcphubv1.ListToolsResponse, error) {
	ask := s.domain.Tools
	if r.GetAllowCached() {
		ask = s.domain.KnownTools
	}
	tools, troubles, err := ask(ctx, r.GetServer())
	if err != nil {
		return nil, err
	}
	resp := &mcphubv1.ListToolsResponse{Tools: list(tools, s.convert.tool)}
	for name, trouble := range troubles {
		resp.Troubles = append(resp.Troubles, s.trouble(name, trouble))
	}
	slices.SortFunc(resp.Troubles, func(a, b *mcphubv1.ServerTrouble) int {
		return cmp.Compare(a.GetServer(), b.GetServer())
	})
	return resp, nil
}

func (s *serverService) trouble(server string, e *event.Error) *mcphubv1.ServerTrouble {
	return &mcphubv1.ServerTrouble{Server: s.convert.text(server), Error: s.convert.hubError(e)}
}

func (s *serverService) SetLogLevel(ctx context.Context,
	r *mcphubv1.SetLogLevelRequest) (*mcphubv1.SetLogLevelResponse, error) {
	return &mcphubv1.SetLogLevelResponse{}, s.domain.SetLogLevel(ctx, r.GetServer(), r.GetLevel())
}

func (s *serverService) ListRemembered(_ context.Context,
	r *mcphubv1.ListRememberedRequest) (*mcphubv1.ListRememberedResponse, error) {
	return &mcphubv1.ListRememberedResponse{Remembered: list(s.domain.Remembered(r.GetServer()), s.convert.remembered)},
		nil
}

func (s *serverService) Forget(_ context.Context, r *mcphubv1.ForgetRequest) (*mcphubv1.ForgetResponse, error) {
	return &mcphubv1.ForgetResponse{Forgotten: int32(s.domain.Forget(r.GetRememberedIds()))}, nil
}

// The methods of McpServerService for resources, prompt templates and completion.

func (s *serverService) ListResources(ctx context.Context,
	r *mcphubv1.ListResourcesRequest) (*mcphubv1.ListResourcesResponse, error) {
	all, err := s.domain.Resources(ctx, r.GetServer())
	if err != nil {
		return nil, err
	}
	some, matched := hub.Select(search(ctx, r), all, hub.ResourceTexts)
	return &mcphubv1.ListResourcesResponse{Resources: list(some, s.convert.resource), Matched: int32(matched)}, nil
}

func (s *serverService) ListResourceTemplates(ctx context.Context,
	r *mcphubv1.ListResourceTemplatesRequest) (*mcphubv1.ListResourceTemplatesResponse, error) {
	all, err := s.domain.ResourceTemplates(ctx, r.GetServer())
	if err != nil {
		return nil, err
	}
	some, matched := hub.Select(search(ctx, r), all, hub.TemplateTexts)
	return &mcphubv1.ListResourceTemplatesResponse{ResourceTemplates: list(some, s.convert.resourceTemplate),
		Matched: int32(matched)}, nil
}

func (s *serverService) ListMcpPrompts(ctx context.Context,
	r *mcphubv1.ListMcpPromptsRequest) (*mcphubv1.ListMcpPromptsResponse, error) {
	all, err := s.domain.McpPrompts(ctx, r.GetServer())
	if err != nil {
		return nil, err
	}
	some, matched := hub.Select(search(ctx, r), all, hub.PromptTexts)
	return &mcphubv1.ListMcpPromptsResponse{Prompts: list(some, s.convert.mcpPrompt), Matched: int32(matched)}, nil
}

// windowEntries limits how many entries of a list a window is sent. The window learns how many more there are, and can
// search.
const windowEntries = 1000

// search returns what a request for a part of a list asks for.
func search(ctx context.Context, r interface {
	GetQuery() string
	GetLimit() int32
}) hub.Search {
	s := hub.Search{Query: r.GetQuery(), Limit: int(r.GetLimit())}
	if windowOf(ctx) != nil && (s.Limit == 0 || s.Limit > windowEntries) {
		s.Limit = windowEntries
	}
	return s
}

func (s *serverService) ReadResource(ctx context.Context,
	r *mcphubv1.ReadResourceRequest) (*mcphubv1.ReadResourceResponse, error) {
	result, err := s.domain.ReadResource(ctx, resourceRequest(ctx, r))
	if err != nil {
		return nil, err
	}
	return s.convert.readResult(result), nil
}

func (s *serverService) SubscribeResource(ctx context.Context,
	r *mcphubv1.SubscribeResourceRequest) (*mcphubv1.SubscribeResourceResponse, error) {
	return &mcphubv1.SubscribeResourceResponse{}, s.by(ctx).SubscribeResource(ctx, r.GetServer(), r.GetUri())
}

func (s *serverService) UnsubscribeResource(ctx context.Context,
	r *mcphubv1.UnsubscribeResourceRequest) (*mcphubv1.UnsubscribeResourceResponse, error) {
	return &mcphubv1.UnsubscribeResourceResponse{}, s.by(ctx).UnsubscribeResource(ctx, r.GetServer(), r.GetUri())
}

func (s *serverService) GetMcpPrompt(ctx context.Context,
	r *mcphubv1.GetMcpPromptRequest) (*mcphubv1.GetMcpPromptResponse, error) {
	result, err := s.domain.GetMcpPrompt(ctx, mcpPromptRequest(ctx, r))
	if err != nil {
		return nil, err
	}
	return s.convert.promptResult(result), nil
}

func (s *serverService) Complete(ctx context.Context, r *mcphubv1.CompleteRequest) (*mcphubv1.CompleteResponse, error) {
	result, err := s.domain.Complete(ctx, completion(r))
	if err != nil {
		return nil, err
	}
	return s.convert.completionResult(result), nil
}

func (s *serverService) ExpandUriTemplate(_ context.Context,
	r *mcphubv1.ExpandUriTemplateRequest) (*mcphubv1.ExpandUriTemplateResponse, error) {
	uri, err := hub.Expand(r.GetUriTemplate(), r.GetValues())
	return &mcphubv1.ExpandUriTemplateResponse{Uri: uri}, err
}
