package plan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"benchplan/plan"

	"gopkg.in/yaml.v3"
)

const password = "hunter2-and-more"

// showAll prints a value in every way that a log or an error could.
func showAll(v any) string {
	var b strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p"} {
		fmt.Fprintf(&b, verb+"\n", v)
	}
	j, err := json.Marshal(v)
	fmt.Fprintln(&b, string(j), err)
	return b.String()
}

func leaks(s string) bool {
	return strings.Contains(s, password) || strings.Contains(s, fmt.Sprintf("%x", password)) || strings.Contains(s, fmt.Sprintf("%X", password))
}

func TestTextGivesNothingAway(t *testing.T) {
	secret := plan.SecretText(password)
	type holder struct {
		Exported plan.Text
		inner    plan.Text
		pointer  *plan.Text
		list     []plan.Text
		table    map[string]plan.Text
		any      any
	}
	for _, v := range []any{secret, &secret, holder{secret, secret, &secret, []plan.Text{secret}, map[string]plan.Text{"a": secret}, secret}, []any{secret}, map[string]any{"a": secret}} {
		if s := showAll(v); leaks(s) {
			t.Errorf("%T gives the secret away:\n%s", v, s)
		}
	}
	if y, err := yaml.Marshal(secret); err != nil || leaks(string(y)) {
		t.Errorf("YAML: %s, %v", y, err)
	}
	if secret.Reveal() != password || secret.String() != plan.Mask || !secret.Secret() {
		t.Error("a secret is not what it was")
	}
	if err := fmt.Errorf("cannot log in: %w", errors.New("password "+password)); secret.Hide(err.Error()) != "cannot log in: password "+plan.Mask {
		t.Error("Hide:", secret.Hide(err.Error()))
	}
	if secret != plan.SecretText(password) || secret == plan.SecretText("another") {
		t.Error("texts with the same value are equal, others are not")
	}
	var zero plan.Text
	if zero.Reveal() != "" || zero.Secret() || zero != plan.PlainText("") {
		t.Error("the zero value is not the empty text")
	}
}

const secretPlan = `
vars:
  token: ${{ secrets.TOKEN }}
  url: http://root:${{ secrets.TOKEN }}@host/
  upper: ${{ upper(secrets.TOKEN) }}
  account: { user: root, password: "${{ vars.token }}" }
target: { address: "db:3306", password: "${{ vars.token }}" }
tables: { schema: sysbench }
steps:
  - matrix:
      disk:
        - { id: ssd, password: "${{ secrets.TOKEN }}" }
        - { id: hdd, password: other }
    steps:
      - http:
          get: ${{ vars.url }}
          headers: { X-Token: "${{ vars.token }}", X-User: "${{ vars.account.user }}" }
          json: { account: "${{ vars.account }}", disk: "${{ matrix.disk }}", parts: "${{ split(vars.token, '-') }}", length: "${{ len(vars.token) }}",
                  built: "${{ {user: 'root', password: secrets.TOKEN} }}", text: "account ${{ vars.account }}", same: "${{ vars.token == 'a' }}" }
        assert: [ 'json.token == vars.token', 'status == 200', 'json.list contains vars.token' ]
      - shell: { command: "login", env: { PW: "${{ matrix.disk.password }}", MIXED: "pw=${{ vars.upper }};" } }
      - if: vars.token != ""
        run: { workload: cpu, duration: 1s }
`

func TestSecretsAreMaskedWhereTheyStand(t *testing.T) {
	p := read(t, secretPlan, plan.Options{Environment: environment("TOKEN", password)})
	var all strings.Builder
	p.Walk(func(v plan.Visit) {
		all.WriteString(showAll(v.Spec))
		all.WriteString(v.Scope.Identity())
		for _, layer := range []func() (any, error){
			func() (any, error) { return v.Scope.Target() }, func() (any, error) { return v.Scope.Tables() },
		} {
			l, err := layer()
			all.WriteString(showAll(l) + showAll(err))
		}
		all.WriteString(showAll(v.Scope) + showAll(*v.Scope) + showAll(v.Step))
		all.WriteString(showAll(plan.Settings(v.Spec)))
	})
	all.WriteString(showAll(p) + showAll(*p))
	if s := all.String(); leaks(s) || strings.Contains(s, strings.ToUpper(password)) {
		i := max(strings.Index(s, password), strings.Index(s, strings.ToUpper(password)))
		t.Errorf("a secret shows: …%s", s[max(0, i-200):min(len(s), i+50)])
	}
	first := specs[httpSpec](p)[0]
	if got := first.Get.String(); got != "http://root:***@host/" {
		t.Errorf("only the secret part of a text is masked: %s", got)
	}
	if got := first.Get.Reveal(); got != "http://root:"+password+"@host/" {
		t.Errorf("the URL that is sent is wrong: %s", got)
	}
	if h := first.Headers["X-User"]; h.Secret() || h.String() != "root" {
		t.Errorf("what stands beside a secret is none: %s", h)
	}
	body, _ := json.Marshal(first.JSON)
	for _, want := range []string{`"user":"root"`, `"id":"ssd"`, `"password":"***"`, `"parts":["***","***","***"]`, `"length":"***"`, `"same":"***"`} {
		if !strings.Contains(string(body), want) {
			t.Errorf("the body %s lacks %s", body, want)
		}
	}
	sent, _ := json.Marshal(plan.Reveal(first.JSON))
	for _, want := range []string{`"parts":["hunter2","and","more"]`, `"length":"16"`, `account {\"password\":\"` + password} {
		if !strings.Contains(string(sent), want) {
			t.Errorf("what is sent, %s, lacks %s", sent, want)
		}
	}
}

func TestAssertionsDoNotShowSecrets(t *testing.T) {
	p := read(t, secretPlan, plan.Options{Environment: environment("TOKEN", password)})
	err := errors.New("no step asserts")
	p.Walk(func(v plan.Visit) {
		if v.Step.Kind == "http" {
			err = v.Scope.Assert(map[string]any{"status": 200, "json": map[string]any{"token": "x" + password, "list": []any{password}}})
		}
	})
	if err == nil || leaks(err.Error()) || !strings.Contains(err.Error(), "vars.token = ***") {
		t.Errorf("the assertion says %v", err)
	}
}

func TestSecretsThatAreNotSet(t *testing.T) {
	p := read(t, secretPlan)
	if err := p.MissingSecrets(); err == nil || !strings.Contains(err.Error(), "plan.yaml:3:14: the secret TOKEN is not set") {
		t.Errorf("missing secrets: %v", err)
	}
	if len(p.Secrets) != 1 || p.Secrets[0].Name != "TOKEN" {
		t.Errorf("secrets: %v", p.Secrets)
	}
	if h := specs[httpSpec](p)[0]; !h.Headers["X-Token"].Secret() || h.Get.String() != plan.Mask {
		t.Errorf("show masks secrets that are not set: %+v", h)
	}
	rehearsed := read(t, secretPlan, plan.Options{Rehearse: true})
	if err := rehearsed.MissingSecrets(); err != nil {
		t.Errorf("a rehearsal needs no secrets: %v", err)
	}
	set := read(t, secretPlan, plan.Options{Environment: environment("TOKEN", password)})
	if err := set.MissingSecrets(); err != nil || !slices.Equal(set.SecretValues(), []string{password}) {
		t.Errorf("%v, %v", err, set.SecretValues())
	}
}

// Whether a secret may stand somewhere does not depend on whether it is set: validate says what run would.
func TestSecretsWhereTheyCannotStand(t *testing.T) {
	const text = `
vars: { pw: "${{ secrets.PW }}", all: { a: 1, pw: "${{ secrets.PW }}" } }
tables: { schema: sysbench, options: "${{ vars.pw }}" }
steps:
  - name: ${{ vars.pw }}
    labels: { l: "x${{ vars.pw }}" }
    run: { workload: cpu, duration: 1s, threads: "${{ len(vars.pw) }}" }
  - matrix: { a: [ { id: "${{ vars.pw }}" } ] }
    repeat: ${{ len(vars.pw) }}
    cleanup:
  - server: { set: { a: "${{ vars.all.pw }}", b: "${{ vars.all.a }}" } }
`
	unset := mistakes(t, text)
	set := mistakes(t, text, plan.Options{Environment: environment("PW", password)})
	if len(unset) != 7 || len(set) != 7 {
		t.Errorf("seven places are wrong:\nunset: %s\nset: %s", strings.Join(unset, "\n"), strings.Join(set, "\n"))
	}
	for i := range min(len(set), len(unset)) {
		if before, _, _ := strings.Cut(set[i], " "); !strings.HasPrefix(unset[i], before+" ") {
			t.Errorf("unset: %s, set: %s", unset[i], set[i])
		}
		if leaks(set[i]) {
			t.Error(set[i])
		}
	}
}

func TestErrorsDoNotShowSecrets(t *testing.T) {
	for _, expression := range []string{
		"int(secrets.PW)", "fromJSON(secrets.PW)", "secrets.PW[100]", "secrets.PW + 1", "{(secrets.PW): 1}", "toPairs({(secrets.PW): 1})", "map([secrets.PW], {(#): 1})",
		"date(secrets.PW)", "duration(secrets.PW)", "'a' matches secrets.PW + '('", "fromBase64(secrets.PW)", "groupBy([secrets.PW], #)", "fromPairs([[secrets.PW, 1]])",
		"let x = secrets.PW; fromPairs([[lower(x), 1]])",
	} {
		p, err := plan.Read(source("steps:\n  - http: { get: 'http://a/', json: \"${{ "+expression+" }}\" }"), words(), plan.Options{Environment: environment("PW", password)})
		shown := fmt.Sprint(err)
		if err == nil {
			shown = showAll(specs[httpSpec](p)[0].JSON)
		}
		if leaks(shown) {
			t.Errorf("%s: %s", expression, shown)
		}
	}
}
