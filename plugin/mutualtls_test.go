package plugin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net"
	"testing"
	"time"
)

// Host and hub know each other by the certificates that they have exchanged, and nobody else gets in.
func TestMutualTLS(t *testing.T) {
	host, stranger := certificate(t), certificate(t)
	config, shown, err := mutualTLS(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: host.Certificate[0]})))
	if err != nil {
		t.Fatal(err)
	}
	der, err := base64.RawStdEncoding.DecodeString(shown)
	if err != nil {
		t.Fatal(err)
	}
	hub, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	// What hosts in other languages have been told; see docs/embedding.md.
	if key, ok := hub.PublicKey.(*ecdsa.PublicKey); !ok || key.Curve != elliptic.P521() {
		t.Errorf("the key is %T", hub.PublicKey)
	}
	hubs := x509.NewCertPool()
	hubs.AddCert(hub)
	for name, test := range map[string]struct {
		with tls.Certificate
		good bool
	}{"the host": {host, true}, "a stranger": {stranger, false}} {
		ours, theirs := net.Pipe()
		served := make(chan error, 1)
		go func() {
			conn := tls.Server(ours, config)
			err := conn.Handshake()
			if err == nil {
				_, err = conn.Write([]byte("x"))
			}
			served <- err
			_ = ours.Close()
		}()
		client := tls.Client(theirs, &tls.Config{Certificates: []tls.Certificate{test.with}, RootCAs: hubs,
			ServerName: localhost, MinVersion: tls.VersionTLS12})
		_, err := client.Read(make([]byte, 1)) // with TLS 1.3 a refusal comes here
		_ = theirs.Close()
		if serveErr := <-served; (err == nil && serveErr == nil) != test.good {
			t.Errorf("%s: %v, %v", name, err, serveErr)
		}
	}
	if _, _, err := mutualTLS("no certificate"); err == nil {
		t.Error("a host without a certificate is served")
	}
}

func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	c, err := newCertificate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return c
}
