package signin

import (
	"errors"
	"fmt"
	"net/url"
)

// The values of Config.Grant.
const (
	// GrantPerson is the authorization code grant with PKCE: a person signs in. It is the default.
	GrantPerson = ""
	// GrantClientCredentials signs in as the client itself, by its secret or its private key
	// (extension io.modelcontextprotocol/oauth-client-credentials).
	GrantClientCredentials = "client_credentials"
	// GrantEnterprise exchanges the identity provider's ID token for an access token (extension
	// io.modelcontextprotocol/enterprise-managed-authorization).
	GrantEnterprise = "enterprise"
	// GrantWorkload presents a workload's own JWT (RFC 7523; draft extension for workload identity, SEP-1933).
	GrantWorkload = "workload_identity"
)

// The values of Config.DPoP, which says whether tokens are bound to a key of the hub (RFC 9449; draft extension
// io.modelcontextprotocol/auth/dpop, SEP-1932).
const (
	// DPoPAuto binds them if the server asks for it and the authorization server supports it. It is the default.
	DPoPAuto = ""
	// DPoPRequire accepts no other tokens.
	DPoPRequire = "require"
	// DPoPOff never binds them.
	DPoPOff = "off"
)

// Config has the settings for the sign-in from a server's configuration entry. The zero value is right for a server
// whose authorization server lets clients register.
type Config struct {
	// Grant is one of the Grant constants.
	Grant string
	// ClientID and ClientSecret belong to a client that was registered by hand. They take precedence over every other kind
	// of registration.
	ClientID     string
	ClientSecret string
	// Issuer is the only authorization server for which ClientID is used; "" accepts the one in the server's metadata.
	Issuer string
	// ClientMetadataURL is the https address of a client ID metadata document. It is used if the authorization server
	// supports such documents.
	ClientMetadataURL string
	// Scopes are requested instead of those that the server's metadata lists. The scopes of a challenge are requested in
	// addition.
	Scopes []string
	// RedirectPort is the port of the redirect listener, for clients that were registered with it; 0 means any free port.
	RedirectPort int

	// PrivateKeyPEM signs the assertion of client_credentials instead of a secret. SigningAlgorithm is ES256, ES384, RS256
	// or EdDSA, or "" for the one that fits the key.
	PrivateKeyPEM    string
	SigningAlgorithm string

	// IDP* are for GrantEnterprise. If IDPTokenEndpoint is "", it is read from the metadata of IDPIssuer.
	IDPIssuer        string
	IDPTokenEndpoint string
	IDPClientID      string
	IDPClientSecret  string
	IDPIDToken       string

	// WorkloadToken is the JWT of GrantWorkload. WorkloadTokenFile is the path of a file that has it instead, and is read
	// for each exchange, because platforms replace the token before it expires.
	WorkloadToken     string
	WorkloadTokenFile string

	// DPoP is one of the DPoP constants.
	DPoP string
}

// secrets returns the values that must not appear in any text.
func (c *Config) secrets() []string {
	return []string{c.ClientSecret, c.PrivateKeyPEM, c.IDPClientSecret, c.IDPIDToken, c.WorkloadToken}
}

func (c *Config) check() error {
	need := func(missing bool, what string) error {
		if missing {
			return fmt.Errorf("the grant %q needs %s", c.Grant, what)
		}
		return nil
	}
	if c.RedirectPort < 0 || c.RedirectPort > 65535 {
		return fmt.Errorf("redirect port %d: from 0 to 65535", c.RedirectPort)
	}
	if c.DPoP != DPoPAuto && c.DPoP != DPoPRequire && c.DPoP != DPoPOff {
		return fmt.Errorf("unknown choice of DPoP %q", c.DPoP)
	}
	switch c.Grant {
	case GrantPerson:
		if c.ClientMetadataURL != "" {
			u, err := url.Parse(c.ClientMetadataURL)
			if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path == "" || u.Path == "/" {
				return errors.New("the client metadata URL must be https and have a path")
			}
		}
		return nil
	case GrantClientCredentials:
		if c.PrivateKeyPEM != "" {
			if _, err := newSigner(c.PrivateKeyPEM, c.SigningAlgorithm); err != nil {
				return err
			}
		}
		return errors.Join(need(c.ClientID == "", "a client id"),
			need((c.ClientSecret == "") == (c.PrivateKeyPEM == ""), "either a client secret or a private key"))
	case GrantEnterprise:
		return errors.Join(need(c.ClientID == "", "a client id"), need(c.IDPIssuer == "" && c.IDPTokenEndpoint == "",
			"an identity provider"),
			need(c.IDPClientID == "", "a client id at the identity provider"), need(c.IDPIDToken == "", "an ID token"))
	case GrantWorkload:
		return need((c.WorkloadToken == "") == (c.WorkloadTokenFile == ""), "either a workload token or a file with one")
	}
	return fmt.Errorf("unknown grant %q", c.Grant)
}
