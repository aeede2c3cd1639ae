package steps

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// raw answers each request with bytes, which need not be HTTP.
func raw(t *testing.T, answer func(c net.Conn)) (address string) {
	return fakeServer(t, func(c net.Conn) {
		buffer := make([]byte, 64<<10)
		if _, err := c.Read(buffer); err == nil {
			answer(c)
		}
	})
}

// TestHTTPServersThatMisbehave: whatever answers, the step ends in bounded time, with little memory, and an error that has its place.
func TestHTTPServersThatMisbehave(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 100 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	const ok = "HTTP/1.1 200 OK\r\n"
	for name, c := range map[string]struct {
		answer func(c net.Conn)
		want   string
	}{
		"an endless body": {func(c net.Conn) { _, _ = io.WriteString(c, ok+"\r\n"); forEver(c, make([]byte, 64<<10)) }, "is longer than 16 MiB"},
		"an endless list": {func(c net.Conn) {
			_, _ = io.WriteString(c, ok+"Transfer-Encoding: chunked\r\n\r\n")
			forEver(c, bytes.Repeat([]byte("4\r\n[[[[\r\n"), 10_000))
		}, "is longer than 16 MiB"},
		"a slow drip":  {func(c net.Conn) { drip(c, ok+"\r\n") }, "no whole answer within the timeout of 500ms"},
		"slow headers": {func(c net.Conn) { drip(c, ok+"X-A: ") }, "no whole answer within the timeout of 500ms"},
		"a gzip bomb": {func(c net.Conn) {
			fmt.Fprintf(c, ok+"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", bomb.Len(), bomb.Bytes())
		}, "is longer than 16 MiB"},
		"what is no gzip": {func(c net.Conn) {
			_, _ = io.WriteString(c, ok+"Content-Encoding: gzip\r\nContent-Length: 16\r\n\r\nabcdefghijklmnop")
		}, "gzip: invalid header"},
		"a huge header":             {func(c net.Conn) { _, _ = io.WriteString(c, ok+"X-A: "); forEver(c, bytes.Repeat([]byte("x"), 4096)) }, "server response headers exceeded"},
		"countless headers":         {func(c net.Conn) { _, _ = io.WriteString(c, ok); forEver(c, []byte("X-A: b\r\n")) }, "server response headers exceeded"},
		"countless interim answers": {func(c net.Conn) { forEver(c, []byte("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n")) }, "server response headers exceeded"},
		"no HTTP":                   {func(c net.Conn) { _, _ = io.WriteString(c, "\x1b[31mhello\r\n\r\n") }, "malformed HTTP"},
		"a length that is a lie":    {func(c net.Conn) { _, _ = io.WriteString(c, ok+"Content-Length: 9223372036854775807\r\n\r\nx") }, "broke off after 1 bytes"},
		"two lengths":               {func(c net.Conn) { _, _ = io.WriteString(c, ok+"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy") }, "Content-Length"},
		"JSON of countless values":  {func(c net.Conn) { fmt.Fprintf(c, ok+"\r\n[%s0]", strings.Repeat("0,", 5<<20)) }, "is JSON of more than 500000 values"},
		"nothing":                   {func(net.Conn) {}, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			o := carryOut(t, "steps:\n  - http: { get: \"http://"+raw(t, c.answer)+"/\", timeout: "+map[bool]string{true: "500ms", false: "20s"}[strings.HasPrefix(name, "slow") || strings.HasPrefix(name, "a slow")]+" }\n")
			if took := time.Since(begin); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
			o.fails(t, "p.yaml:2:5: http: GET http://127.0.0.1: … "+c.want)
			if strings.Contains(o.errs[0], "\x1b") {
				t.Errorf("%q", o.errs[0])
			}
		})
	}
}

func drip(c net.Conn, text string) {
	_, _ = io.WriteString(c, text)
	for {
		if _, err := c.Write([]byte("x")); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestHTTPAnswersThatAreNoPlainText: what is no JSON, or in another alphabet, is passed on as it is and breaks nothing.
func TestHTTPAnswersThatAreNoPlainText(t *testing.T) {
	for name, c := range map[string]struct{ kind, body, assert string }{
		"JSON called text":     {"text/plain", `{"a": 1}`, "json.a == 1"},
		"text called JSON":     {"application/json", "fine", `json == nil && body == "fine"`},
		"a byte order mark":    {"application/json; charset=utf-8", "\uFEFF{\"a\": 1}", "json.a == 1"},
		"UTF-16":               {"application/json; charset=utf-16", "\xff\xfe{\x00}\x00", "json == nil && len(body) > 0"},
		"Latin-1":              {"text/plain; charset=iso-8859-1", "caf\xe9", `body startsWith "caf"`},
		"NUL":                  {"application/octet-stream", "a\x00b", `body contains "b"`},
		"half of it":           {"application/json", `{"a": `, "json == nil"},
		"ten thousand levels":  {"application/json", strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "json == nil"},
		"a thousand levels":    {"application/json", strings.Repeat("[", 1000) + strings.Repeat("]", 1000), "len(json) == 1"},
		"numbers out of range": {"application/json", `{"a": 1e999, "b": -1}`, `json.a == "1e999" && json.b == -1`},
		"a type that is none":  {";;;", `{"a": 1}`, "status == 200"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				_, _ = io.WriteString(w, c.body)
			}))
			t.Cleanup(server.Close)
			carryOut(t, "steps:\n  - http: { get: \""+server.URL+"/\" }\n    assert: '"+strings.ReplaceAll(c.assert, "'", "''")+"'\n").done(t)
		})
	}
}

// TestCredentialsDoNotTravel: what a request carries reaches the server that the plan names and no other, wherever that one sends to.
func TestCredentialsDoNotTravel(t *testing.T) {
	var mu sync.Mutex
	var asked int
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked++
	}))
	t.Cleanup(other.Close)
	overTLS := httptest.NewTLSServer(other.Config.Handler)
	t.Cleanup(overTLS.Close)
	_, port, _ := net.SplitHostPort(other.Listener.Addr().String())
	for name, to := range map[string]string{
		"another port": other.URL + "/", "another name": "http://localhost:" + port + "/", "another port by https": overTLS.URL + "/", "a user in it": "http://x:y@127.0.0.1:" + port + "/",
		"another host": "http://other.invalid/", "another scheme": "ftp://127.0.0.1/", "a file": "file:///etc/passwd", "no URL": "http://[::1/", "without a scheme": "//127.0.0.1:" + port + "/",
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", to)
				http.SetCookie(w, &http.Cookie{Name: "session", Value: "1"})
				w.WriteHeader(status)
			}))
			for _, request := range []string{
				"{ get: \"" + server.URL + "/\", auth: { basic: { user: u, password: \"${{ secrets.PASS }}\" } } }",
				"{ put: \"" + server.URL + "/\", auth: { bearer: \"${{ secrets.PASS }}\" }, json: { a: \"${{ secrets.PASS }}\" } }",
				"{ get: \"" + strings.Replace(server.URL, "//", "//me:word@", 1) + "/?t=${{ secrets.PASS }}\", headers: { Cookie: \"a=${{ secrets.PASS }}\" } }",
			} {
				o := trial{env: map[string]string{"PASS": "correct-horse"}, plan: "steps:\n  - http: " + request + "\n"}.carryOut(t)
				if len(o.errs) != 1 {
					t.Errorf("%s, %d, %s: %q", name, status, request, o.errs)
				}
				o.noneHolds(t, "correct-horse")
			}
			server.Close()
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if asked > 0 {
		t.Errorf("another server was asked %d times", asked)
	}
}
