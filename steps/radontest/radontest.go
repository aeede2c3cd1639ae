// Package radontest is a fake: the HTTP administration of radon, a MySQL-protocol sharding proxy, without the proxy. It
// answers as radon does where a plan can be caught out: a PUT answers 200 with an empty body whatever it is sent, keys and
// audit modes that radon does not know are taken in silence, allowip is cleared where it is left out, and what was
// set is read back under other names. radon itself cannot be had in tests: it needs a cluster of servers.
package radontest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Admin is a fake administration endpoint.
type Admin struct {
	URL string

	mu     sync.Mutex
	config map[string]any
	put    []map[string]any
}

// Start starts the endpoint on a free port of 127.0.0.1; it ends with the test.
func Start(t testing.TB) *Admin {
	a := &Admin{config: map[string]any{
		"max-connections": 1024.0, "max-result-size": 1073741824.0, "ddl-timeout": 36000000.0, "query-timeout": 300000.0,
		"twopc-enable": false, "allowip": []any{}, "audit-mode": "N",
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/radon/config", only(http.MethodPut, a.putConfig))
	mux.HandleFunc("/v1/debug/configz", only(http.MethodGet, a.configz))
	mux.HandleFunc("/v1/radon/ping", only(http.MethodGet, func(http.ResponseWriter, *http.Request) {}))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fail(w, http.StatusNotFound, "page not found") })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	a.URL = server.URL
	return a
}

func only(method string, do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method {
			fail(w, http.StatusMethodNotAllowed, "Method not allowed")
			return
		}
		do(w, r)
	}
}

func fail(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"Error": message})
}

// putConfig keeps the value of a key that is left out, except allowip, and ignores keys that it does not know.
func (a *Admin) putConfig(w http.ResponseWriter, r *http.Request) {
	var sent map[string]any
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	if on, there := sent["twopc-enable"]; there {
		if _, isBool := on.(bool); !isBool {
			fail(w, http.StatusInternalServerError, "json: cannot unmarshal into Go struct field radonParams.twopc-enable of type bool")
			return
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.put = append(a.put, sent)
	a.config["allowip"] = []any{}
	for key, value := range sent {
		if _, known := a.config[key]; known {
			a.config[key] = value
		}
	}
}

func (a *Admin) configz(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	proxy := map[string]any{}
	for _, key := range []string{"twopc-enable", "allowip", "max-connections", "max-result-size", "ddl-timeout", "query-timeout"} {
		proxy[key] = a.config[key]
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"proxy": proxy, "audit": map[string]any{"mode": a.config["audit-mode"]}, "router": map[string]any{}, "binlog": map[string]any{}, "log": map[string]any{"level": "INFO"},
	})
}

// Config gives the value of a key as it is now.
func (a *Admin) Config(key string) any {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.config[key]
}

// Sent lists the bodies that were PUT, in order.
func (a *Admin) Sent() []map[string]any {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.put)
}
