package ipc

import (
	"context"

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
	resp, err := s.startServer(ctx, r)
	return reply(ctx, s.services, resp, err)
}

func (s *serverService) StopServer(ctx context.Context,
	r *mcphubv1.StopServerRequest) (*mcphubv1.StopServerResponse, error) {
	resp, err := s.stopServer(ctx, s.domain, r)
	return reply(ctx, s.services, resp, err)
}

func (s *serverService) RestartServer(ctx context.Context,
	r *mcphubv1.RestartServerRequest) (*mcphubv1.RestartServerResponse, error) {
	resp, err := s.restartServer(ctx, s.domain, r)
	return reply(ctx, s.services, resp, err)
}

func (s *serverService) SetServerEnabled(ctx context.Context,
	r *mcphubv1.SetServerEnabledRequest) (*mcphubv1.SetServerEnabledResponse, error) {
	resp, err := s.setServerEnabled(ctx, s.domain, r)
	return reply(ctx, s.services, resp, err)
}

func (s *serverService) MuteServer(ctx context.Context,
	r *mcphubv1.MuteServerRequest) (*mcphubv1.MuteServerResponse, error) {
	resp, err := s.muteServer(r)
	return reply(ctx, s.services, resp, err)
}

func (s *serverService) ReloadConfig(ctx context.Context,
	r *mcphubv1.ReloadConfigRequest) (*mcphubv1.ReloadConfigResponse, error) {
	s.domain.WatchConfig(!r.GetWatchedByHost())
	servers, problems, stopped, err := s.domain.LoadConfig(ctx, configSources(r.GetSources()))
	if err != nil {
		return nil, s.loggedStatus(ctx, err)
	}
	return &mcphubv1.ReloadConfigResponse{
		Servers: list(servers, s.convert.server), Problems: list(problems, s.convert.problem),
		Stopped: s.convert.texts(stopped),
	}, nil
}

func (s *serverService) ListTools(ctx context.Context,
	r *mcphubv1.ListToolsRequest) (*mcphubv1.ListToolsResponse, error) {
	resp, err := s.listTools(ctx, r)
	return reply(ctx, s.services, resp, err)
}

func (s *serverService) SetLogLevel(ctx context.Context,
	r *mcphubv1.SetLogLevelRequest) (*mcphubv1.SetLogLevelResponse, error) {
	if err := s.domain.SetLogLevel(ctx, r.GetServer(), r.GetLevel()); err != nil {
		return nil, s.loggedStatus(ctx, err)
	}
	return &mcphubv1.SetLogLevelResponse{}, nil
}

func (s *serverService) ListRemembered(_ context.Context,
	r *mcphubv1.ListRememberedRequest) (*mcphubv1.ListRememberedResponse, error) {
	return &mcphubv1.ListRememberedResponse{Remembered: list(s.domain.Remembered(r.GetServer()), s.convert.remembered)},
		nil
}

func (s *serverService) Forget(_ context.Context, r *mcphubv1.ForgetRequest) (*mcphubv1.ForgetResponse, error) {
	return &mcphubv1.ForgetResponse{Forgotten: int32(s.domain.Forget(r.GetRememberedIds()))}, nil
}
