package target

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"

	"benchplan/plan"
)

// TLS gives the configuration of a client: whom it trusts and with what certificate it shows up. Files that are not
// absolute are sought from folder. name is the server's, where the options do not say another. The error says which file
// cannot be used.
func TLS(o *plan.TLS, name, folder string) (*tls.Config, error) {
	c := &tls.Config{ServerName: name, InsecureSkipVerify: o.SkipVerify || o.Mode == "preferred", MinVersion: tls.VersionTLS12}
	if o.ServerName != "" {
		c.ServerName = o.ServerName
	}
	if o.CA != "" {
		pem, err := os.ReadFile(within(folder, o.CA))
		if err != nil {
			return nil, fmt.Errorf("tls: ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls: ca: %s holds no certificate in PEM form", o.CA)
		}
	}
	if o.Cert != "" || o.Key != "" {
		pair, err := tls.LoadX509KeyPair(within(folder, o.Cert), within(folder, o.Key))
		if err != nil {
			return nil, fmt.Errorf("tls: client certificate (cert and key): %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func within(folder, file string) string {
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(folder, file)
}
