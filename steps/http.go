package steps

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"benchplan/plan"
	"benchplan/steps/target"
)

// maxBody is the most of an answer that is read.
const maxBody = 16 << 20

// httpSpec is one request. One of the methods names the URL.
type httpSpec struct {
	Get    plan.Text `key:"get" doc:"URL to GET"`
	Put    plan.Text `key:"put" doc:"URL to PUT to"`
	Post   plan.Text `key:"post" doc:"URL to POST to"`
	Patch  plan.Text `key:"patch" doc:"URL to PATCH"`
	Delete plan.Text `key:"delete" doc:"URL to DELETE"`

	JSON    any                  `key:"json" doc:"body, sent as JSON"`
	Body    *plan.Text           `key:"body" doc:"body, sent as it is"`
	Headers map[string]plan.Text `key:"headers" doc:"headers of the request"`
	Auth    *httpAuth            `key:"auth" doc:"who asks: {basic: {user: …, password: …}} or {bearer: TOKEN}"`
	TLS     *plan.TLS            `key:"tls" doc:"whom an https server's certificate is held against, as of a target"`
	Status  []int                `key:"status" doc:"status or statuses that are right; left out: any 2xx" single:"true"`
	Timeout plan.Duration        `key:"timeout" default:"30s" min:"1ms" doc:"how long one request may take, answer included"`
}

type httpAuth struct {
	Basic  *basicAuth `key:"basic" doc:"user and password"`
	Bearer plan.Text  `key:"bearer" doc:"a token"`
}

type basicAuth struct {
	User     plan.Text `key:"user" doc:"account"`
	Password plan.Text `key:"password" doc:"its password, as a rule ${{ secrets.NAME }}"`
}

func httpKind() Kind {
	k := define("sends one HTTP request and holds the answer against status and assert", doHTTP)
	k.Yields = []string{"status", "json", "body", "headers"}
	return checked(k, checkHTTP)
}

func checkHTTP(spec *httpSpec, _ plan.Place) []plan.Problem {
	var found []plan.Problem
	methods := spec.methods()
	switch {
	case len(methods) == 0:
		found = append(found, problem("", "http needs one of get, put, post, patch, delete with a URL"))
	case len(methods) > 1:
		found = append(found, problem(methods[1], "http sends one request; this one has "+strings.Join(methods, " and ")))
	default:
		_, to := spec.request()
		if u, err := url.Parse(to.Reveal()); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			found = append(found, problem(methods[0], fmt.Sprintf("%q is not a URL such as http://host:8080/path", to)))
		}
	}
	if spec.JSON != nil && spec.Body != nil {
		found = append(found, problem("body", "http has either json or body"))
	}
	if a := spec.Auth; a != nil && (a.Basic != nil) == (a.Bearer.Reveal() != "") {
		found = append(found, problem("auth", "auth has either basic or bearer"))
	}
	for _, s := range spec.Status {
		if s < 100 || s > 599 {
			found = append(found, problem("status", fmt.Sprintf("%d is no HTTP status", s)))
		}
	}
	return found
}

// methods lists the methods that the spec names, in lower case.
func (h *httpSpec) methods() []string {
	var out []string
	for _, m := range []struct {
		name string
		url  plan.Text
	}{{"get", h.Get}, {"put", h.Put}, {"post", h.Post}, {"patch", h.Patch}, {"delete", h.Delete}} {
		if m.url.Reveal() != "" {
			out = append(out, m.name)
		}
	}
	return out
}

// request gives the method in capitals and the URL.
func (h *httpSpec) request() (method string, to plan.Text) {
	for _, m := range h.methods() {
		return strings.ToUpper(m), map[string]plan.Text{"get": h.Get, "put": h.Put, "post": h.Post, "patch": h.Patch, "delete": h.Delete}[m]
	}
	return "", plan.Text{}
}

// answer is what came back.
type answer struct {
	status  int
	headers map[string]any
	body    []byte
}

// yields gives the names that an assert can read. A body that is not JSON has json nil.
func (a *answer) yields() map[string]any {
	out := map[string]any{"status": a.status, "body": string(a.body), "headers": a.headers, "json": nil}
	var parsed any
	if json.Unmarshal(a.body, &parsed) == nil {
		out["json"] = parsed
	}
	return out
}

func doHTTP(ctx context.Context, c *Call, spec *httpSpec) (map[string]any, error) {
	method, to := spec.request()
	a, err := c.send(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, shownURL(to), hide(err, to))
	}
	yields := a.yields()
	c.Log.Info("http", "request", method+" "+shownURL(to), "status", a.status, "answer", excerpt(a.body))
	if right := spec.Status; len(right) > 0 && !slices.Contains(right, a.status) || len(right) == 0 && (a.status < 200 || a.status > 299) {
		return yields, fmt.Errorf("%s %s: status %d %s%s", method, shownURL(to), a.status, http.StatusText(a.status), answerText(a.body))
	}
	return yields, nil
}

// send sends the request, or lets a rehearsal's stand-in answer it.
func (c *Call) send(ctx context.Context, spec *httpSpec) (*answer, error) {
	method, to := spec.request()
	if c.run.stand != nil {
		return c.run.stand.answer(c, method, to.Reveal(), spec.JSON)
	}
	body, isJSON, err := spec.body()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, spec.Timeout.D())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, to.Reveal(), body)
	if err != nil {
		return nil, err
	}
	if isJSON {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range spec.Headers {
		request.Header.Set(name, value.Reveal())
		if strings.EqualFold(name, "Host") {
			request.Host = value.Reveal()
		}
	}
	if a := spec.Auth; a != nil && a.Basic != nil {
		request.SetBasicAuth(a.Basic.User.Reveal(), a.Basic.Password.Reveal())
	} else if a != nil {
		request.Header.Set("Authorization", "Bearer "+a.Bearer.Reveal())
	}
	client, err := spec.client()
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return nil, adviseHTTP(ctx, err, spec.Timeout)
	}
	defer response.Body.Close()
	return readAnswer(ctx, response, spec.Timeout)
}

func readAnswer(ctx context.Context, response *http.Response, timeout plan.Duration) (*answer, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("the answer (status %d) broke off after %d bytes: %w", response.StatusCode, len(body), adviseHTTP(ctx, err, timeout))
	}
	if len(body) > maxBody {
		return nil, fmt.Errorf("the answer (status %d) is longer than %d MiB", response.StatusCode, maxBody>>20)
	}
	headers := map[string]any{}
	for name := range response.Header {
		headers[name] = response.Header.Get(name)
	}
	return &answer{response.StatusCode, headers, body}, nil
}

func (h *httpSpec) body() (r io.Reader, isJSON bool, err error) {
	switch {
	case h.JSON != nil:
		b, err := json.Marshal(plan.Reveal(h.JSON))
		return bytes.NewReader(b), true, err
	case h.Body != nil:
		return strings.NewReader(h.Body.Reveal()), false, nil
	}
	return http.NoBody, false, nil
}

// client follows redirects on the same host only: what is sent is meant for the server that the plan names.
func (h *httpSpec) client() (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	if t := h.TLS; t != nil {
		transport.TLSClientConfig = &tls.Config{ServerName: t.ServerName, InsecureSkipVerify: t.SkipVerify, MinVersion: tls.VersionTLS12}
		if t.CA != "" {
			pool, err := target.Pool(t.CA)
			if err != nil {
				return nil, fmt.Errorf("tls: %w", err)
			}
			transport.TLSClientConfig.RootCAs = pool
		}
		if t.Cert != "" || t.Key != "" {
			pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
			if err != nil {
				return nil, fmt.Errorf("tls: client certificate: %w", err)
			}
			transport.TLSClientConfig.Certificates = []tls.Certificate{pair}
		}
	}
	return &http.Client{Transport: transport, CheckRedirect: sameHost}, nil
}

func sameHost(request *http.Request, via []*http.Request) error {
	if request.URL.Host != via[0].URL.Host {
		return fmt.Errorf("the server redirects to another host, %s, which is not followed", request.URL.Host)
	}
	if len(via) >= 10 {
		return errors.New("the server redirects in a circle")
	}
	return nil
}

// adviseHTTP says what to do about the errors of a request that are met often.
func adviseHTTP(ctx context.Context, err error, timeout plan.Duration) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // it repeats method and URL, with what is secret in it
	}
	var dns *net.DNSError
	var verify *tls.CertificateVerificationError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("no whole answer within the timeout of %s", timeout)
	case errors.As(err, &dns):
		return fmt.Errorf("%w: the host name is not known", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: nothing listens there", err)
	case errors.As(err, &verify):
		return fmt.Errorf("%w: name its authority by tls: {ca: FILE}", err)
	}
	return err
}

// shownURL writes a URL with its secrets masked, a password in it always.
func shownURL(to plan.Text) string {
	u, err := url.Parse(to.String())
	if err != nil {
		return to.String()
	}
	return strings.ReplaceAll(u.Redacted(), "%2A%2A%2A", plan.Mask)
}

// hide takes the true form of texts with secrets out of an error of a library, which quotes what it was given.
func hide(err error, texts ...plan.Text) error {
	message := err.Error()
	for _, t := range texts {
		message = t.Hide(message)
	}
	if message == err.Error() {
		return err
	}
	return errors.New(message)
}

// excerpt is as much of a text as a message or the log needs.
func excerpt(b []byte) string {
	const most = 500
	s := strings.TrimSpace(strings.ToValidUTF8(string(b[:min(len(b), most)]), "\uFFFD"))
	if len(b) > most {
		s += "…"
	}
	return s
}

func answerText(b []byte) string {
	if s := excerpt(b); s != "" {
		return ": " + s
	}
	return ""
}

// standIn answers HTTP steps in a rehearsal: a server that takes everything and gives it back. It is no server of any
// kind, so what it answers proves nothing.
type standIn struct {
	merged map[string]any            // what was sent to any path, merged
	last   map[string]map[string]any // what was last sent to a path
}

func newStandIn() *standIn {
	return &standIn{merged: map[string]any{}, last: map[string]map[string]any{}}
}

// answer works by the plan's rehearse.http, else with 200 and what was last sent to that path; asserts then count as not checked.
func (s *standIn) answer(c *Call, method, to string, body any) (*answer, error) {
	u, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	sent, isMap := plan.Reveal(body).(map[string]any)
	if isMap && method != http.MethodGet {
		maps.Copy(s.merged, sent)
		s.last[u.Path] = sent
	}
	rule, found, err := c.Scope.Answer(method, u.Path, s.merged)
	if err != nil {
		return nil, err
	}
	a := &answer{status: http.StatusOK, headers: map[string]any{}}
	if !found {
		c.unchecked = true
		if last := s.last[u.Path]; last != nil {
			a.body, err = json.Marshal(last)
		}
		return a, err
	}
	a.status = rule.Status
	for name, value := range rule.Headers {
		a.headers[http.CanonicalHeaderKey(name)] = value
	}
	a.body = []byte(rule.Body)
	if rule.JSON != nil {
		a.body, err = json.Marshal(plan.Reveal(rule.JSON))
	}
	return a, err
}

// The bounds of a rehearsal: it tries a plan, it measures nothing.
const (
	rehearsedTime    = time.Second
	rehearsedRows    = 1000
	rehearsedClients = 64
)

// rehearsedCount cuts a number of events or rows to a thousandth, at most 1,000 and at least 1 where there were any.
func rehearsedCount(n plan.Count) plan.Count {
	if n == 0 {
		return 0
	}
	return min(max(n/1000, 1), rehearsedRows)
}

func rehearsedDuration(d plan.Duration) plan.Duration {
	return min(d, plan.Duration(rehearsedTime))
}
