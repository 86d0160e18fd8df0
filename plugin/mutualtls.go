package plugin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"math/big"
	"time"
)

// certificateTime is how long the certificate of a hub is good: longer than any process lives.
const certificateTime = 30 * 365 * 24 * time.Hour

// mutualTLS is TLS in which the host shows the certificate that it gave (AutoMTLS), and the hub one of its own, made
// for this process. shown is the hub's, as the handshake line has it.
func mutualTLS(hostPEM string) (config *tls.Config, shown string, err error) {
	hosts := x509.NewCertPool()
	if !hosts.AppendCertsFromPEM([]byte(hostPEM)) {
		return nil, "", errors.New("the host's certificate is none") // startProblem has looked
	}
	own, err := newCertificate(time.Now())
	if err != nil {
		return nil, "", err
	}
	return &tls.Config{
		Certificates: []tls.Certificate{own},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    hosts,
		RootCAs:      hosts,
		ServerName:   localhost,
		MinVersion:   tls.VersionTLS12,
	}, base64.RawStdEncoding.EncodeToString(own.Certificate[0]), nil
}

const localhost = "localhost"

// newCertificate makes a certificate that is its own authority, as hosts verify it. Its curve is the one that go-plugin
// has always taken and that hosts in other languages have been told of: P-521.
func newCertificate(now time.Time) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return tls.Certificate{}, err
	}
	form := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: localhost, Organization: []string{"McpHub"}},
		DNSNames:              []string{localhost},
		NotBefore:             now.Add(-time.Minute), // the clocks of a machine and its container differ a little
		NotAfter:              now.Add(certificateTime),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
