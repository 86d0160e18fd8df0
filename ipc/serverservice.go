package ipc

import (
	"cmp"
	"context"
	"slices"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

type serverService struct {
	mcphubv1.UnimplementedMcpServerServiceServer
	*counter
}

func (s *serverService) ListServers(context.Context, *mcphubv1.ListServersRequest) (*mcphubv1.ListServersResponse, error) {
	servers, problems := s.domain.Servers()
	return &mcphubv1.ListServersResponse{Servers: list(servers, s.convert.server), Problems: list(problems, s.convert.problem)}, nil
}

func (s *serverService) StartServer(ctx context.Context, r *mcphubv1.StartServerRequest) (*mcphubv1.StartServerResponse, error) {
	server, err := s.domain.StartServer(ctx, r.GetServer())
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	return &mcphubv1.StartServerResponse{Server: s.convert.server(server)}, nil
}

func (s *serverService) StopServer(ctx context.Context, r *mcphubv1.StopServerRequest) (*mcphubv1.StopServerResponse, error) {
	server, err := s.domain.StopServer(ctx, r.GetServer(), r.GetReason())
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	return &mcphubv1.StopServerResponse{Server: s.convert.server(server)}, nil
}

func (s *serverService) RestartServer(ctx context.Context, r *mcphubv1.RestartServerRequest) (*mcphubv1.RestartServerResponse, error) {
	server, err := s.domain.RestartServer(ctx, r.GetServer(), r.GetReason())
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	return &mcphubv1.RestartServerResponse{Server: s.convert.server(server)}, nil
}

func (s *serverService) SetServerEnabled(ctx context.Context, r *mcphubv1.SetServerEnabledRequest) (*mcphubv1.SetServerEnabledResponse, error) {
	server, err := s.domain.SetServerEnabled(ctx, r.GetServer(), r.GetEnabled())
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	return &mcphubv1.SetServerEnabledResponse{Server: s.convert.server(server)}, nil
}

func (s *serverService) ReloadConfig(ctx context.Context, r *mcphubv1.ReloadConfigRequest) (*mcphubv1.ReloadConfigResponse, error) {
	s.domain.WatchConfig(!r.GetWatchedByHost())
	servers, problems, stopped, err := s.domain.LoadConfig(ctx, configSources(r.GetSources()))
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	return &mcphubv1.ReloadConfigResponse{
		Servers: list(servers, s.convert.server), Problems: list(problems, s.convert.problem), Stopped: s.convert.texts(stopped),
	}, nil
}

func (s *serverService) ListTools(ctx context.Context, r *mcphubv1.ListToolsRequest) (*mcphubv1.ListToolsResponse, error) {
	ask := s.domain.Tools
	if r.GetAllowCached() {
		ask = s.domain.KnownTools
	}
	tools, troubles, err := ask(ctx, r.GetServer())
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	resp := &mcphubv1.ListToolsResponse{Tools: list(tools, s.convert.tool)}
	for name, trouble := range troubles {
		resp.Troubles = append(resp.Troubles, &mcphubv1.ServerTrouble{Server: s.convert.text(name), Error: s.convert.hubError(trouble)})
	}
	slices.SortFunc(resp.Troubles, func(a, b *mcphubv1.ServerTrouble) int { return cmp.Compare(a.GetServer(), b.GetServer()) })
	return resp, nil
}

func (s *serverService) SetLogLevel(ctx context.Context, r *mcphubv1.SetLogLevelRequest) (*mcphubv1.SetLogLevelResponse, error) {
	if err := s.domain.SetLogLevel(ctx, r.GetServer(), r.GetLevel()); err != nil {
		return nil, s.failed(ctx, err)
	}
	return &mcphubv1.SetLogLevelResponse{}, nil
}

func (s *serverService) ListRemembered(_ context.Context, r *mcphubv1.ListRememberedRequest) (*mcphubv1.ListRememberedResponse, error) {
	return &mcphubv1.ListRememberedResponse{Remembered: list(s.domain.Remembered(r.GetServer()), s.convert.remembered)}, nil
}

func (s *serverService) Forget(_ context.Context, r *mcphubv1.ForgetRequest) (*mcphubv1.ForgetResponse, error) {
	return &mcphubv1.ForgetResponse{Forgotten: int32(s.domain.Forget(r.GetRememberedIds()))}, nil
}
