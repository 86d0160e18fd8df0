package signin

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/mcphub-go/mcphub/hub/config"
)

// The values of config.OAuth.Grant.
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

// The values of config.OAuth.DPoP, which says whether tokens are bound to a key of the hub (RFC 9449; draft extension
// io.modelcontextprotocol/auth/dpop, SEP-1932).
const (
	// DPoPAuto binds them if the server asks for it and the authorization server supports it. It is the default.
	DPoPAuto = ""
	// DPoPRequire accepts no other tokens.
	DPoPRequire = "require"
	// DPoPOff never binds them.
	DPoPOff = "off"
)

// secretsOf returns the values that must not appear in any text.
func secretsOf(c *config.OAuth) []string {
	return []string{c.ClientSecret, c.PrivateKeyPEM, c.IDP.IDToken, c.WorkloadToken}
}

// check refuses settings that do not go together. The config has refused what is wrong with each of them, as far as it
// knew the values then.
func check(c *config.OAuth) error {
	need := func(missing bool, what string) error {
		if missing {
			return fmt.Errorf("the grant %q needs %s", c.Grant, what)
		}
		return nil
	}
	switch c.Grant {
	case GrantPerson:
		if c.ClientMetadataURL != "" {
			u, err := url.Parse(c.ClientMetadataURL)
			if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path == "" || u.Path == "/" {
				return errors.New("the client metadata URL must be https and have a path")
			}
		}
	case GrantClientCredentials:
		if c.PrivateKeyPEM != "" {
			if _, err := newSigner(c.PrivateKeyPEM, c.SigningAlgorithm); err != nil {
				return err
			}
		}
		return errors.Join(need(c.ClientID == "", "a client id"),
			need((c.ClientSecret == "") == (c.PrivateKeyPEM == ""), "either a client secret or a private key"))
	case GrantEnterprise:
		return errors.Join(need(c.ClientID == "", "a client id"),
			need(c.IDP.Issuer == "" && c.IDP.TokenEndpoint == "", "an identity provider"),
			need(c.IDP.ClientID == "", "a client id at the identity provider"), need(c.IDP.IDToken == "", "an ID token"))
	case GrantWorkload:
		return need((c.WorkloadToken == "") == (c.WorkloadTokenFile == ""), "either a workload token or a file with one")
	}
	return nil
}
