package integration_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/admin"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
	"github.com/redrivehq/redrive/testsuite"
	"github.com/redrivehq/redrive/testsuite/services"
	"github.com/redrivehq/redrive/vault"
)

const codecToken = "the-operators-token"

// pageText is what a person reads; the UI shows summaries and details in frames.
const pageText = `[document, ...[...document.querySelectorAll("iframe")].map(f => f.contentDocument)].
	map(d => d?.body?.innerText ?? "").join("\n")`

// browser returns a page of a fresh browser. It is Debian's Chromium, or whatever is called like it.
func browser(t *testing.T) context.Context {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		const how = "needs Chromium: apt-get install chromium"
		if os.Getenv("CI") == "true" {
			t.Fatal(how + "; CI=true allows no skip")
		}
		t.Skip(how)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1600, 3000))
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	tab, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(tab, chromedp.Navigate("about:blank"))) // starts it
	return tab
}

// webUI is a Temporal with its Web UI, whose codec endpoint is an admin API's.
type webUI struct {
	*stack
	url, codec string
}

func newWebUI(t *testing.T) webUI {
	t.Helper()
	services.Needed(t, "the embedded Temporal and its Web UI")
	mux := http.NewServeMux()
	api := httptest.NewServer(mux)
	t.Cleanup(api.Close)
	server, err := testsuite.StartServer(t.Context(), testsuite.ServerOptions{UICodecEndpoint: api.URL + "/codec"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	s := newStackOn(t, server.Address, openSQLite)
	handler, err := admin.New(admin.Options{
		Store: lettersOnly{s}, Jobs: s.starter, Requests: s.replay, Temporal: func(context.Context) error { return nil },
		Listen: "0.0.0.0:0", Token: codecToken, Codec: vault.NewCodec(s.keys), CodecOrigins: []string{server.UIAddress}, Audit: s.store,
		Policies: s.policies,
	})
	require.NoError(t, err)
	mux.Handle("/", handler)
	return webUI{s, server.UIAddress, api.URL}
}

// lettersOnly is as much of a store as the codec endpoint needs.
type lettersOnly struct{ *stack }

func (l lettersOnly) Ping(ctx context.Context) error { return l.store.Ping(ctx) }

func (l lettersOnly) DeadLetter(ctx context.Context, id job.DeadLetterID) (job.DeadLetter, error) {
	return l.store.DeadLetter(ctx, id)
}

func (lettersOnly) DeadLetters(context.Context, admin.Query) (admin.Page, error) {
	return admin.Page{}, nil
}

// signIn gives the browser the codec endpoint's cookie, as an operator gets it.
func (w webUI) signIn(t *testing.T, tab context.Context) {
	t.Helper()
	require.NoError(t, chromedp.Do(tab,
		chromedp.Navigate(w.codec+"/codec/session"),
		chromedp.SendKeys("input[name=token]", codecToken),
		chromedp.Submit("form"),
	))
	text := func() string {
		text, err := chromedp.Run(tab, chromedp.Evaluate[string](pageText))
		if err != nil {
			return "" // between two pages
		}
		return text
	}
	require.Eventually(t, func() bool { return strings.Contains(text(), "Signed in") }, patience, 100*time.Millisecond)
	require.NotContains(t, text(), codecToken)
}

// include makes the UI send the cookie along: it keeps its settings in the browser.
func (w webUI) include(t *testing.T, tab context.Context) {
	t.Helper()
	require.NoError(t, chromedp.Do(tab, chromedp.Navigate(w.url)))
	for name, value := range map[string]string{
		"endpoint": `"` + w.codec + `/codec"`, "includeCredentials": "true", "overrideRemoteCodecConfiguration": "true",
	} {
		_, err := chromedp.Run(tab, chromedp.Evaluate[string](`localStorage.setItem("`+name+"\", `"+value+"`), \"\""))
		require.NoError(t, err)
	}
}

// shows opens a workflow's page and returns its text once that holds all of what.
func (w webUI) shows(t *testing.T, tab context.Context, workflowID, runID, view string, what ...string) string {
	t.Helper()
	address := w.url + "/namespaces/" + w.namespace + "/workflows/" + url.PathEscape(workflowID) + "/" + runID + "/" + view
	require.NoError(t, chromedp.Do(tab, chromedp.Navigate(address)))
	var text string
	complete := func() bool {
		var err error
		if text, err = chromedp.Run(tab, chromedp.Evaluate[string](pageText)); err != nil {
			return false
		}
		for _, part := range what {
			if !strings.Contains(text, part) {
				return false
			}
		}
		return true
	}
	if !assert.Eventually(t, complete, patience, 100*time.Millisecond) {
		t.Fatalf("%s does not show %q; it shows:\n%s", address, what, text)
	}
	return text
}

// The operator's view of the fleet: Temporal's own Web UI, with what redrive decodes for it. With the token it shows what
// the policy lets through, of a job that runs and of one that is parked; without it, ciphertext.
func TestPrivacyWebUI(t *testing.T) {
	t.Parallel()
	type login struct {
		Text     string `json:"text"`
		Password string `json:"password"`
	}
	w := newWebUI(t)
	running := make(chan struct{}, 1)
	w.work("v1", handlers(t, "login.check", func(ctx context.Context, l login) (any, error) {
		if l.Text != "wait-for-me" {
			return broken(ctx, note{l.Text})
		}
		running <- struct{}{}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}))
	wait := w.enqueue("login.check", "running", login{"wait-for-me", canary})
	letter := w.parked(w.enqueue("login.check", "dead", login{"bad", canary}).ID)
	<-running
	replay, err := w.client.DescribeWorkflow(t.Context(), letter.ReplayWorkflowID(), "")
	require.NoError(t, err)
	replayRun := replay.WorkflowExecution.RunID

	t.Run("WithoutAToken", func(t *testing.T) {
		tab := browser(t)
		for _, id := range []starter.Enqueued{wait, {WorkflowID: letter.JobWorkflowID(), RunID: letter.RunID}} {
			text := w.shows(t, tab, id.WorkflowID, id.RunID, "history", job.MetadataBinding)
			hides(t, id.WorkflowID, text)
			require.NotContains(t, text, "wait-for-me")
			require.NotContains(t, text, "[redacted")
		}
	})
	t.Run("WithTheToken", func(t *testing.T) {
		tab := browser(t)
		w.signIn(t, tab)
		w.include(t, tab)
		text := w.shows(t, tab, wait.WorkflowID, wait.RunID, "history", "wait-for-me", "[redacted:password]")
		hides(t, "the running job's page", text)
		require.NotContains(t, text, job.MetadataBinding)
		text = w.shows(t, tab, letter.JobWorkflowID(), letter.RunID, "history", `"bad"`, "[redacted:password]")
		hides(t, "the dead job's page", text)
		text = w.shows(t, tab, letter.ReplayWorkflowID(), replayRun, "user-metadata", string(letter.ID), "text is bad", "[redacted:password]")
		hides(t, "the parked dead letter's page", text)
	})
}
