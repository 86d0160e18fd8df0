package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The environment in which the suite starts a client.
const (
	envName    = "MCP_CONFORMANCE_SCENARIO"
	envContext = "MCP_CONFORMANCE_CONTEXT" // set only if a scenario has a context
)

// Scenario is a scenario that the suite runs.
type Scenario struct {
	Name    string
	URL     string // of the suite's server
	Context Context
}

// Context holds what a scenario tells the client in advance.
type Context struct {
	// A client that was registered by hand.
	ClientID         string `json:"client_id"`
	ClientSecret     string `json:"client_secret"`
	PrivateKeyPEM    string `json:"private_key_pem"`
	SigningAlgorithm string `json:"signing_algorithm"`
	// The identity provider of enterprise-managed authorization.
	IDPClientID      string `json:"idp_client_id"`
	IDPIDToken       string `json:"idp_id_token"`
	IDPIssuer        string `json:"idp_issuer"`
	IDPTokenEndpoint string `json:"idp_token_endpoint"`
	// The JWT of a workload. (The suite also provides two invalid ones; nothing says which of the three to send.)
	WorkloadToken string `json:"valid_jwt"`
	// Calls to make.
	ToolCalls []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

// ClientMetadataURL is the client id for which the suite's authorization server has a metadata document.
const ClientMetadataURL = "https://conformance-test.local/client-metadata.json"

// Parse reads the arguments, without the program, and the environment with which the suite starts a client.
func Parse(args []string, getenv func(string) string) (Scenario, error) {
	s := Scenario{Name: getenv(envName)}
	if len(args) != 1 || s.Name == "" {
		return s, errors.New("the suite starts this: one argument, the URL of its server, and " + envName +
			" in the environment")
	}
	s.URL = args[0]
	if text := getenv(envContext); text != "" {
		if err := json.Unmarshal([]byte(text), &s.Context); err != nil {
			return s, fmt.Errorf("%s: %w", envContext, err) // json's errors quote no values
		}
	}
	return s, nil
}

// Grant returns how the client has to get its token in the scenario: "" (a person signs in), "client_credentials",
// "enterprise" or "workload_identity".
func (s Scenario) Grant() string {
	switch s.Name {
	case "auth/client-credentials-jwt", "auth/client-credentials-basic":
		return "client_credentials"
	case "auth/enterprise-managed-authorization", "auth/cross-app-access-complete-flow":
		return "enterprise"
	case "auth/wif-jwt-bearer":
		return "workload_identity"
	}
	return ""
}
