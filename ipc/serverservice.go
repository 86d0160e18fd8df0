package ipc

import (
	"cmp"
	"context"
	"slices"

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
