package steps

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
)

// TestCertificatesThatAreRefused: a server whose certificate is over, not yet valid, another one's or signed by nobody known is not spoken to, by
// HTTP and by MySQL alike, and the error says which of these it is.
func TestCertificatesThatAreRefused(t *testing.T) {
	certificates := newAuthority(t)
	ca := certificates.file("ca.pem")
	for name, c := range map[string]struct{ want, remedy string }{
		"expired": {"certificate has expired or is not yet valid", "the server's certificate holds from … to … renew it there"},
		"early":   {"certificate has expired or is not yet valid", "the server's certificate holds from … to … renew it there"},
		"other":   {"certificate is valid for 10.9.8.7, not 127.0.0.1", "the server's certificate is for another name"},
		"alone":   {"certificate signed by unknown authority", "the server's certificate is not trusted"},
	} {
		t.Run(name, func(t *testing.T) {
			pair, err := tls.LoadX509KeyPair(certificates.file(name+".pem"), certificates.file(name+".key"))
			if err != nil {
				t.Fatal(err)
			}
			asked := false
			web := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
			web.Config.ErrorLog = log.New(io.Discard, "", 0)
			web.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
			web.StartTLS()
			t.Cleanup(web.Close)
			env := map[string]string{"WORD": "correct-horse"}
			trial{env: env, plan: "steps:\n  - http: { get: \"" + web.URL + "/\", tls: { ca: " + ca + " }, auth: { bearer: \"${{ secrets.WORD }}\" } }\n"}.carryOut(t).
				fails(t, "p.yaml:2:5: http: GET https://127.0.0.1: … "+c.want)
			if asked {
				t.Error("the request was sent")
			}
			server := servertest.Start(t, localserver.Config{TCP: true, Options: map[string]string{"ssl_ca": ca, "ssl_cert": certificates.file(name + ".pem"), "ssl_key": certificates.file(name + ".key")}})
			trial{env: env, plan: fmt.Sprintf("target: { address: \"%s\", user: root, password: \"${{ secrets.WORD }}\", tls: { ca: %s } }\nsteps:\n  - sql: SELECT 1\n", server.Address(), ca)}.carryOut(t).
				fails(t, "p.yaml:3:5: sql: target 127.0.0.1: … "+c.want+" … "+c.remedy)
		})
	}
}
