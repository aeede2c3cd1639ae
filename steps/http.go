package steps

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"benchplan/plan"
	"benchplan/steps/target"
)

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
	Bearer plan.Text  `key:"bearer" onlysecret:"true" doc:"a token, as ${{ secrets.NAME }}"`
}

type basicAuth struct {
	User     plan.Text `key:"user" doc:"account"`
	Password plan.Text `key:"password" onlysecret:"true" doc:"its password, as ${{ secrets.NAME }}"`
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
		if text := wrongURL(to); text != "" {
			found = append(found, problem(methods[0], text))
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

// wrongURL says what is wrong with a URL; empty for nothing. Where its masked form has a secret before an @, the true form may
// well be cut elsewhere: a password with a slash in it would be taken for a path, and the request would go to another host.
func wrongURL(to plan.Text) string {
	if shown, err := url.Parse(to.String()); err == nil && shown.User != nil && strings.Contains(shown.User.String(), url.PathEscape(plan.Mask)) {
		return "a secret in the user part of a URL is not sent as it is; say it by auth: {basic: {user: …, password: …}}"
	}
	if u, err := url.Parse(to.Reveal()); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Sprintf("%q is not a URL such as http://host:8080/path", shownURL(to))
	}
	return ""
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

func doHTTP(ctx context.Context, c *Call, spec *httpSpec) (map[string]any, error) {
	method, to := spec.request()
	what := method + " " + shownURL(to)
	a, err := c.send(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, hide(err, spec.secrets()...))
	}
	answer := excerpt(a.body, c.run.Mask)
	c.Log.Info("http", "request", what, "status", a.status, "answer", answer)
	if spec.wants(a.status) || c.unchecked {
		return a.yields(), nil
	}
	text := fmt.Sprintf("%s: status %d %s", what, a.status, http.StatusText(a.status))
	if to := a.headers["Location"]; to != nil {
		text += fmt.Sprintf(", which sends elsewhere (%s)", to)
	}
	if answer != "" {
		text += ": " + answer
	}
	return a.yields(), errors.New(text)
}

func (h *httpSpec) wants(status int) bool {
	if len(h.Status) > 0 {
		return slices.Contains(h.Status, status)
	}
	return status >= 200 && status <= 299
}

// secrets gives the texts of the request that may hold secrets.
func (h *httpSpec) secrets() []plan.Text {
	_, to := h.request()
	out := []plan.Text{to}
	for _, value := range h.Headers {
		out = append(out, value)
	}
	return out
}

// send sends the request, or lets a rehearsal's stand-in answer it.
func (c *Call) send(ctx context.Context, spec *httpSpec) (*answer, error) {
	if c.run.stand != nil {
		return c.run.stand.answer(c, spec)
	}
	limited, cancel := context.WithTimeout(ctx, spec.Timeout.D())
	defer cancel()
	request, err := spec.newRequest(limited)
	if err != nil {
		return nil, err
	}
	client, err := spec.client(planFolder(c.run.Plan))
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err == nil {
		defer response.Body.Close()
		var a *answer
		if a, err = readAnswer(response); err == nil {
			return a, nil
		}
	}
	if limited.Err() != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("no whole answer within the timeout of %s", spec.Timeout)
	}
	return nil, adviseHTTP(err)
}

func (h *httpSpec) newRequest(ctx context.Context) (*http.Request, error) {
	method, to := h.request()
	var body io.Reader = http.NoBody
	switch {
	case h.JSON != nil:
		b, err := json.Marshal(plan.Reveal(h.JSON))
		if err != nil {
			return nil, fmt.Errorf("json: %w", err)
		}
		body = bytes.NewReader(b)
	case h.Body != nil:
		body = strings.NewReader(h.Body.Reveal())
	}
	request, err := http.NewRequestWithContext(ctx, method, to.Reveal(), body)
	if err != nil {
		return nil, err
	}
	if h.JSON != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range h.Headers {
		request.Header.Set(name, value.Reveal())
		if strings.EqualFold(name, "Host") {
			request.Host = value.Reveal()
		}
	}
	if a := h.Auth; a != nil && a.Basic != nil {
		request.SetBasicAuth(a.Basic.User.Reveal(), a.Basic.Password.Reveal())
	} else if a != nil {
		request.Header.Set("Authorization", "Bearer "+a.Bearer.Reveal())
	}
	return request, nil
}

// client makes a client for this one request.
func (h *httpSpec) client(folder string) (*http.Client, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: maxHeaders}
	if h.TLS != nil {
		var err error
		if transport.TLSClientConfig, err = target.TLS(h.TLS, "", folder); err != nil {
			return nil, err
		}
	}
	return &http.Client{Transport: transport, CheckRedirect: h.redirect}, nil
}

// redirect follows on the same host only: what is sent is meant for the server that the plan names. A request that changes
// something is not followed by a GET, which would look as if it had been done.
func (h *httpSpec) redirect(request *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case request.Method != first.Method, slices.ContainsFunc(h.Status, func(s int) bool { return s/100 == 3 }):
		return http.ErrUseLastResponse
	case request.URL.Hostname() != first.URL.Hostname():
		return fmt.Errorf("the server redirects to another host, %s, which is not followed", request.URL.Host)
	case first.URL.Scheme == "https" && request.URL.Scheme != "https":
		return errors.New("the server redirects from https to http, which is not followed")
	case request.URL.Port() != first.URL.Port() && (request.URL.Scheme == first.URL.Scheme || request.URL.Port() != "" && request.URL.Port() != "443"):
		return fmt.Errorf("the server redirects to another port, %s, which is not followed", request.URL.Host)
	case len(via) >= 10:
		return errors.New("the server redirects in a circle")
	}
	return nil
}

// adviseHTTP says what to do about the errors of a request that are met often.
func adviseHTTP(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // it repeats method and URL, with what is secret in it
	}
	_, unknownHost := errors.AsType[*net.DNSError](err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case unknownHost:
		return fmt.Errorf("%w: the host name is not known", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: nothing listens there", err)
	case untrusted:
		return fmt.Errorf("%w: %s", err, target.Distrust(err))
	}
	return err
}

// shownURL writes a URL with its secrets masked, a password in it always.
func shownURL(to plan.Text) string {
	u, err := url.Parse(to.String())
	if err != nil {
		return to.String()
	}
	return strings.ReplaceAll(u.Redacted(), url.PathEscape(plan.Mask), plan.Mask)
}
