package steps

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchplan/plan"
)

// echo answers with what it was asked, as JSON.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	user, password, _ := r.BasicAuth()
	w.Header().Set("X-Reply-To", "a, b")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"method": r.Method, "path": r.URL.Path, "query": r.URL.RawQuery, "host": r.Host, "body": string(body), "type": r.Header.Get("Content-Type"),
		"auth": r.Header.Get("Authorization"), "user": user, "password": password, "trace": r.Header.Get("X-Trace"),
	})
}

func TestHTTPSendsAndReads(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	t.Cleanup(server.Close)
	for name, step := range map[string]string{
		"get":         `{ http: { get: "${{ vars.u }}/a?b=c" }, assert: [ json.method == "GET", json.path == "/a", json.query == "b=c", status == 200 ] }`,
		"put json":    `{ http: { put: "${{ vars.u }}/", json: { a: 1, b: [x, true], c: 007 } }, assert: [ json.method == "PUT", json.type == "application/json", 'json.body == "{\"a\":1,\"b\":[\"x\",true],\"c\":7}"' ] }`,
		"post body":   `{ http: { post: "${{ vars.u }}/", body: "a & b", headers: { Content-Type: text/plain } }, assert: [ json.method == "POST", json.body == "a & b", json.type == "text/plain" ] }`,
		"empty body":  `{ http: { post: "${{ vars.u }}/", body: "" }, assert: json.body == "" }`,
		"patch":       `{ http: { patch: "${{ vars.u }}/", json: {} }, assert: [ json.method == "PATCH", 'json.body == "{}"' ] }`,
		"delete":      `{ http: { delete: "${{ vars.u }}/x" }, assert: [ json.method == "DELETE", json.path == "/x" ] }`,
		"headers":     `{ http: { get: "${{ vars.u }}/", headers: { x-trace: t1, host: other.example } }, assert: [ json.trace == "t1", json.host == "other.example", 'headers["X-Reply-To"] == "a, b"', 'headers["x-reply-to"] == "a, b"' ] }`,
		"basic":       `{ http: { get: "${{ vars.u }}/", auth: { basic: { user: me, password: "${{ secrets.PASS }}" } } }, assert: [ json.user == "me", json.password == secrets.PASS ] }`,
		"bearer":      `{ http: { get: "${{ vars.u }}/", auth: { bearer: "${{ secrets.PASS }}" } }, assert: 'json.auth == "Bearer " + secrets.PASS' }`,
		"path, space": `{ http: { get: "${{ vars.u }}/a b/ü" }, assert: json.path == "/a b/ü" }`,
		"user in URL": `{ http: { get: "${{ replace(vars.u, '//', '//me:word@') }}/" }, assert: [ json.user == "me", json.password == "word" ] }`,
	} {
		t.Run(name, func(t *testing.T) {
			o := trial{env: map[string]string{"PASS": "p:@/ß?word"}, plan: "vars: { u: \"" + server.URL + "\" }\nsteps:\n  - " + step + "\n"}.carryOut(t).done(t)
			o.noneHolds(t, "p:@/ß?word")
			if strings.Contains(o.log, "me:word") {
				t.Error("the password of a URL is in the log")
			}
		})
	}
}

func TestHTTPAnswers(t *testing.T) {
	mux := http.NewServeMux()
	say := func(path string, do func(w http.ResponseWriter, r *http.Request)) { mux.HandleFunc(path, do) }
	say("/empty", func(http.ResponseWriter, *http.Request) {})
	say("/text", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "it is fine") })
	say("/two", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{} {}") })
	say("/big", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"n": 9007199254740993, "u": 18446744073709551615, "f": 1.5, "e": 1e3, "list": [9007199254740993]}`)
	})
	say("/gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, `{"zipped": true}`)
		_ = z.Close()
	})
	say("/huge", func(w http.ResponseWriter, _ *http.Request) {
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for range 17 {
			_, _ = w.Write(chunk)
		}
	})
	say("/slow", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "begin")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	say("/broken", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "short")
	})
	say("/404", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such thing", http.StatusNotFound) })
	say("/here", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/text", http.StatusFound) })
	say("/there", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://other.invalid/text", http.StatusFound)
	})
	say("/circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/circle", http.StatusFound) })
	say("/again", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/method", http.StatusTemporaryRedirect)
	})
	say("/method", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprint(w, r.Method, string(body))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	for name, c := range map[string]struct {
		step string
		errs []string
	}{
		"an empty answer":              {`{ http: { put: "${{ vars.u }}/empty" }, assert: [ body == "", json == nil, status == 200 ] }`, nil},
		"no JSON":                      {`{ http: { get: "${{ vars.u }}/text" }, assert: [ body contains "fine", json == nil ] }`, nil},
		"two JSON values":              {`{ http: { get: "${{ vars.u }}/two" }, assert: json == nil }`, nil},
		"digits are kept":              {`{ http: { get: "${{ vars.u }}/big" }, assert: [ json.n == 9007199254740993, json.n != 9007199254740992, 'json.list[0] == 9007199254740993', json.f == 1.5, json.e == 1000 ] }`, nil},
		"gzip":                         {`{ http: { get: "${{ vars.u }}/gzip" }, assert: json.zipped }`, nil},
		"huge":                         {`{ http: { get: "${{ vars.u }}/huge" } }`, []string{"http: GET … the answer (status 200) is longer than 16 MiB"}},
		"slow":                         {`{ http: { get: "${{ vars.u }}/slow", timeout: 100ms } }`, []string{"http: GET … /slow: no whole answer within the timeout of 100ms"}},
		"broken off":                   {`{ http: { get: "${{ vars.u }}/broken" } }`, []string{"http: GET … broke off after 5 bytes"}},
		"another status":               {`{ http: { get: "${{ vars.u }}/404" } }`, []string{"http: GET … /404: status 404 Not Found: no such thing"}},
		"that was wanted":              {`{ http: { get: "${{ vars.u }}/404", status: 404 }, assert: status == 404 }`, nil},
		"one of those wanted":          {`{ http: { get: "${{ vars.u }}/404", status: [ 200, 404 ] } }`, nil},
		"none of those wanted":         {`{ http: { get: "${{ vars.u }}/text", status: [ 201, 404 ] } }`, []string{"http: GET … status 200 OK: it is fine"}},
		"a redirect":                   {`{ http: { get: "${{ vars.u }}/here" }, assert: body contains "fine" }`, nil},
		"a redirect that is wanted":    {`{ http: { get: "${{ vars.u }}/here", status: 302 }, assert: 'headers.location == "/text"' }`, nil},
		"to another host":              {`{ http: { get: "${{ vars.u }}/there" } }`, []string{"http: GET … redirects to another host, other.invalid, which is not followed"}},
		"in a circle":                  {`{ http: { get: "${{ vars.u }}/circle" } }`, []string{"http: GET … in a circle"}},
		"of a PUT, which is not a GET": {`{ http: { put: "${{ vars.u }}/here", json: {} } }`, []string{"http: PUT … /here: status 302 Found, which sends elsewhere (/text)"}},
		"that keeps the method":        {`{ http: { put: "${{ vars.u }}/again", body: x }, assert: body == "PUTx" }`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := carryOut(t, "vars: { u: \""+server.URL+"\" }\nsteps:\n  - "+c.step+"\n")
			for i := range c.errs {
				c.errs[i] = "p.yaml:3:7: " + c.errs[i]
			}
			o.fails(t, c.errs...)
		})
	}
}

// TestHTTPSpecs: mistakes that are found before anything is touched.
func TestHTTPSpecs(t *testing.T) {
	for text, want := range map[string]string{
		`http: { json: {} }`:                            "http needs one of get, put",
		`http: { get: "http://a/", put: "http://a/" }`:  "http sends one request; this one has get and put",
		`http: { get: "a/b" }`:                          "is not a URL such as",
		`http: { get: "ftp://a/b" }`:                    "is not a URL such as",
		`http: { put: "http://a/", json: {}, body: x }`: "either json or body",
		`http: { get: "http://a/", auth: {} }`:          "either basic or bearer",
		`http: { get: "http://a/", status: 42 }`:        "42 is no HTTP status",
		`http: { get: "http://u:${{ secrets.P }}@a/" }`: "auth: {basic:",
		`http: { get: "http://a/", timeout: 5 }`:        "without a unit",
		`http: { get: "http://a/", auth: { basic: { user: u, password: "${{ secrets.P }}" }, bearer: "${{ secrets.P }}" } }`: "either basic or bearer",
		"{ http: { get: \"http://a/\" }, assert: jsn.a == 1 }":                                                               "jsn",
	} {
		lookup := func(string) (string, bool) { return "a/b@c", true }
		_, err := plan.Read(plan.Source{Name: "p.yaml", Text: []byte("steps:\n  - " + text + "\n")}, Vocabulary(), plan.Options{Environment: lookup})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "a/b@c") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestHTTPSecretsStayHidden: what an error of a library or a server quotes of the request, short secrets too.
func TestHTTPSecretsStayHidden(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, strings.Repeat("-", 495)+r.URL.Query().Get("token"))
	}))
	t.Cleanup(server.Close)
	env := map[string]string{"SHORT": "q7Z", "LONG": "correct-horse"}
	o := trial{env: env, plan: `
steps:
  - { continue_on_error: true, http: { get: "` + server.URL + `/?token=${{ secrets.LONG }}" } }
  - { continue_on_error: true, http: { get: "http://127.0.0.1:1/${{ secrets.SHORT }}" } }
  - { continue_on_error: true, http: { get: "` + server.URL + `/", headers: { X-Key: "${{ secrets.SHORT }}\n" } } }
`}.carryOut(t)
	if len(o.errs) != 3 {
		t.Errorf("errors %q", o.errs)
	}
	for _, secret := range []string{"q7Z", "correct-horse", "corre"} {
		o.noneHolds(t, secret)
	}
}

func TestHTTPS(t *testing.T) {
	certificates := newAuthority(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "nobody"
		if len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		fmt.Fprint(w, name)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	pool := x509.NewCertPool()
	pool.AddCert(certificates.authority)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificates.server}, ClientCAs: pool, ClientAuth: tls.VerifyClientCertIfGiven}
	server.StartTLS()
	t.Cleanup(server.Close)
	get := "http: { get: \"" + server.URL + "/\""
	for name, c := range map[string]struct {
		step string
		errs []string
	}{
		"an authority of one's own": {get + ", tls: { ca: " + certificates.file("ca.pem") + " } }", nil},
		"a client certificate":      {get + ", tls: { ca: " + certificates.file("ca.pem") + ", cert: " + certificates.file("client.pem") + ", key: " + certificates.file("client.key") + " } }\n    assert: body == 'bench'", nil},
		"not verified":              {get + ", tls: { skip_verify: true } }\n    assert: body == 'nobody'", nil},
		"preferred":                 {get + ", tls: preferred }", nil},
		"an unknown authority":      {get + " }", []string{"p.yaml:2:5: http: GET … name its authority by tls: {ca: FILE}"}},
		"another name":              {get + ", tls: { ca: " + certificates.file("ca.pem") + ", server_name: other.example } }", []string{"p.yaml:2:5: http: GET … other.example"}},
		"no such file":              {get + ", tls: { ca: missing.pem } }", []string{"p.yaml:2:5: http: GET … tls: ca: … missing.pem"}},
		"a key is missing":          {get + ", tls: { cert: " + certificates.file("client.pem") + " } }", []string{"p.yaml:2:5: http: GET … client certificate"}},
	} {
		t.Run(name, func(t *testing.T) { carryOut(t, "steps:\n  - "+c.step+"\n").fails(t, c.errs...) })
	}
}

// authority is a certificate authority, a server's certificate for 127.0.0.1 and a client's, in files.
type authority struct {
	folder    string
	authority *x509.Certificate
	key       *ecdsa.PrivateKey
	server    tls.Certificate
}

func (a *authority) file(name string) string { return filepath.Join(a.folder, name) }

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{folder: t.TempDir()}
	caKey, ca, _ := a.issue(t, "ca", nil, nil)
	a.authority, a.key = ca, caKey
	a.issue(t, "client", ca, caKey)
	_, _, a.server = a.issue(t, "server", ca, caKey)
	a.issue(t, "expired", ca, caKey)
	a.issue(t, "early", ca, caKey)
	a.issue(t, "other", ca, caKey)
	a.issue(t, "alone", nil, nil)
	return a
}

// issue makes a certificate, self-signed where there is no authority yet, and writes it and its key.
func (a *authority) issue(t *testing.T, name string, by *x509.Certificate, byKey *ecdsa.PrivateKey) (*ecdsa.PrivateKey, *x509.Certificate, tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "bench"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: by == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, IPAddresses: []net.IP{{127, 0, 0, 1}},
	}
	switch name {
	case "expired":
		template.NotBefore, template.NotAfter = time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour)
	case "early":
		template.NotBefore, template.NotAfter = time.Now().Add(24*time.Hour), time.Now().Add(48*time.Hour)
	case "other":
		template.IPAddresses, template.DNSNames = []net.IP{{10, 9, 8, 7}}, []string{"other.example"}
	}
	if by == nil {
		by, byKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by, &key.PublicKey, byKey)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM, keyPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	for file, content := range map[string][]byte{name + ".pem": certPEM, name + ".key": keyPEM} {
		if err := os.WriteFile(a.file(file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	return key, certificate, pair
}

func TestSecretsInTexts(t *testing.T) {
	if got := secretsIn(plan.PlainText("abc")); got != nil {
		t.Errorf("%q", got)
	}
	if diff := cmp.Diff([]string{"abc"}, secretsIn(plan.SecretText("abc"))); diff != "" {
		t.Error(diff)
	}
}
