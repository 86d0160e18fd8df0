package main

import (
	"testing"

	"github.com/mcphub-go/mcphub/internal/conformance/scenario"
)

func TestConfig(t *testing.T) {
	const prefix, suffix = `{"mcpServers":{"peer":{"approvals":{"*":"allow"}`, `,"type":"http","url":"http://x/mcp"}}}`
	tests := []struct {
		scenario scenario.Scenario
		want     string
	}{
		{scenario.Scenario{Name: "tools_call"}, ``},
		{scenario.Scenario{Name: "auth/basic-cimd"}, `,"oauth":{"clientMetadataUrl":"` + scenario.ClientMetadataURL + `"}`},
		{
			scenario.Scenario{Name: "auth/pre-registration", Context: scenario.Context{ClientID: "id", ClientSecret: "secret"}},
			`,"oauth":{"clientId":"id","clientSecret":"secret"}`,
		},
		{
			scenario.Scenario{Name: "auth/client-credentials-jwt", Context: scenario.Context{ClientID: "id",
				PrivateKeyPEM: "key", SigningAlgorithm: "ES256"}},
			`,"oauth":{"clientId":"id","grant":"client_credentials","privateKeyPem":"key","signingAlgorithm":"ES256"}`,
		},
		{
			scenario.Scenario{Name: "auth/wif-jwt-bearer", Context: scenario.Context{ClientID: "id", WorkloadToken: "jwt"}},
			`,"oauth":{"clientId":"id","grant":"workload_identity","workloadToken":"jwt"}`,
		},
		{
			scenario.Scenario{Name: "auth/enterprise-managed-authorization", Context: scenario.Context{
				ClientID: "id", ClientSecret: "secret", IDPClientID: "idp", IDPIDToken: "token", IDPIssuer: "http://i",
				IDPTokenEndpoint: "http://i/token",
			}},
			`,"oauth":{"clientId":"id","clientSecret":"secret","grant":"enterprise","idp":{"clientId":"idp","idToken":"token","issuer":"http://i","tokenEndpoint":"http://i/token"}}`,
		},
	}
	for _, tt := range tests {
		tt.scenario.URL = "http://x/mcp"
		got, err := config(tt.scenario)
		if want := prefix + tt.want + suffix; err != nil || got != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", tt.scenario.Name, got, err, want)
		}
	}
}
