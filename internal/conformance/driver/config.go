package main

import (
	"encoding/json"
	"strings"

	"github.com/mcphub-go/mcphub/internal/conformance/scenario"
)

// server is the only entry of the config, as a user would write it.
type server struct {
	Type      string            `json:"type"`
	URL       string            `json:"url"`
	Approvals map[string]string `json:"approvals"`
	OAuth     *oauth            `json:"oauth,omitempty"`
}

type oauth struct {
	ClientID          string    `json:"clientId,omitempty"`
	ClientSecret      string    `json:"clientSecret,omitempty"`
	ClientMetadataURL string    `json:"clientMetadataUrl,omitempty"`
	Grant             string    `json:"grant,omitempty"`
	PrivateKeyPEM     string    `json:"privateKeyPem,omitempty"`
	SigningAlgorithm  string    `json:"signingAlgorithm,omitempty"`
	IDP               *provider `json:"idp,omitempty"`
	WorkloadToken     string    `json:"workloadToken,omitempty"`
}

type provider struct {
	Issuer        string `json:"issuer"`
	TokenEndpoint string `json:"tokenEndpoint"`
	ClientID      string `json:"clientId"`
	IDToken       string `json:"idToken"`
}

// config returns the config for the hub, with what a user of the server would know: its address, and for sign-in the
// values that the scenario provides.
func config(s scenario.Scenario) (string, error) {
	entry := server{Type: "http", URL: s.URL, Approvals: map[string]string{"*": "allow"}}
	if strings.HasPrefix(s.Name, "auth/") {
		c := s.Context
		entry.OAuth = &oauth{
			ClientID: c.ClientID, ClientSecret: c.ClientSecret, Grant: s.Grant(),
			PrivateKeyPEM: c.PrivateKeyPEM, SigningAlgorithm: c.SigningAlgorithm, WorkloadToken: c.WorkloadToken,
		}
		if c.ClientID == "" {
			entry.OAuth.ClientMetadataURL = scenario.ClientMetadataURL
		}
		if c.IDPIssuer != "" {
			entry.OAuth.IDP = &provider{Issuer: c.IDPIssuer, TokenEndpoint: c.IDPTokenEndpoint, ClientID: c.IDPClientID,
				IDToken: c.IDPIDToken}
		}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]server{peer: entry}})
	return string(text), err
}
