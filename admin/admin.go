package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"go.temporal.io/sdk/converter"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
)

// ErrInvalidOptions is wrapped by every refusal of Options.
var ErrInvalidOptions = errors.New("invalid admin options")

// Store is what the API reads. It is safe for concurrent use.
type Store interface {
	// Ping tells whether the database answers.
	Ping(ctx context.Context) error
	// DeadLetter returns one with its lineage; an unknown id wraps job.ErrNotFound.
	DeadLetter(ctx context.Context, id job.DeadLetterID) (job.DeadLetter, error)
	// DeadLetters lists, newest failure first; a limit or cursor that is not of its form wraps ErrInvalidQuery.
	DeadLetters(ctx context.Context, q Query) (Page, error)
}

// Jobs starts jobs; *starter.Client is one.
type Jobs interface {
	Start(ctx context.Context, e job.Envelope, o starter.EnqueueOptions) (starter.Enqueued, error)
}

// Requests carries operators' requests; *replay.Client is one.
type Requests interface {
	Send(ctx context.Context, id job.DeadLetterID, kind job.RequestKind, r job.Request) (requestID string, err error)
	Await(ctx context.Context, id job.DeadLetterID, kind job.RequestKind, requestID string) (job.Decision, error)
}

// Options configure the API.
type Options struct {
	Store    Store
	Jobs     Jobs
	Requests Requests
	// Temporal tells whether Temporal answers.
	Temporal func(ctx context.Context) error
	// Listen is the address the handler will be served on, host:port.
	Listen string
	// Token is the bearer token; required unless Listen is on loopback.
	Token string
	// PrivilegedToken is the bearer token of those who may see payloads as they are, and erase them. It may do all that Token
	// may, and must differ from it. Empty: nobody sees payloads, and nobody erases where Token is set.
	PrivilegedToken string
	// Codec decrypts payloads for the Temporal Web UI and CLI. Nil: there is no codec endpoint.
	Codec converter.PayloadCodec
	// CodecOrigins are the origins of pages that may use the codec endpoint, such as https://temporal.example.com.
	CodecOrigins []string
	// Policies say what of a decrypted payload is shown.
	Policies job.Policies
	// Audit keeps who saw payloads as they are. Nil: nobody may.
	Audit Audit
	// Eraser erases jobs' data. Nil: the API does not.
	Eraser Eraser
	// DecisionWait is how long a request waits for its decision. Default 8s, below the usual patience of
	// clients and proxies.
	DecisionWait time.Duration
	// Timeout bounds every request. Default 30s.
	Timeout time.Duration
	// Metrics is served at /metrics, behind the token as all else. Nil: there is no such page.
	Metrics http.Handler
	// Version of the build, for the OpenAPI document.
	Version string
	// Logger. Default: none.
	Logger *zap.Logger
}

func (o Options) withDefaults() Options {
	if o.DecisionWait == 0 {
		o.DecisionWait = 8 * time.Second
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.Store == nil || o.Jobs == nil || o.Requests == nil || o.Temporal == nil:
		return fmt.Errorf("%w: a store, jobs, requests and a look at Temporal are all needed", ErrInvalidOptions)
	case o.Token == "" && !onLoopback(o.Listen):
		return fmt.Errorf("%w: %q is reachable from other machines and needs a token", ErrInvalidOptions, o.Listen)
	case o.PrivilegedToken != "" && o.PrivilegedToken == o.Token:
		return fmt.Errorf("%w: the privileged token is the same as the token, and must be another", ErrInvalidOptions)
	}
	for _, origin := range o.CodecOrigins {
		if !isOrigin(origin) {
			return fmt.Errorf("%w: codec origin %q is not a scheme and a host in lower case, such as https://temporal.example.com", ErrInvalidOptions, origin)
		}
	}
	return nil
}

// api is the handlers' receiver.
type api struct {
	Options
	redactors redactors
}

// New returns the handler of the API. The error wraps ErrInvalidOptions.
func New(options Options) (http.Handler, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, err
	}
	redactors, err := newRedactors(options.Policies)
	if err != nil {
		return nil, err
	}
	a := &api{options, redactors}
	mux := http.NewServeMux()
	config := huma.DefaultConfig("redrive", options.Version)
	config.DocsPath, config.SchemasPath, config.CreateHooks = "", "", nil
	config.Transformers = []huma.Transformer{withoutValues}
	if options.Token != "" {
		config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
		config.Security = []map[string][]string{{"token": {}}}
	}
	routes := humago.New(mux, config)
	a.healthRoutes(routes)
	a.jobRoutes(routes)
	a.deadLetterRoutes(routes)
	a.requestRoutes(routes)
	if options.Eraser != nil {
		a.erasureRoutes(routes)
	}
	if options.Codec != nil {
		a.codecRoutes(mux)
	}
	if options.Metrics != nil {
		mux.Handle("GET /metrics", options.Metrics)
	}
	return a.guard(a.bounded(mux)), nil
}

// onLoopback tells whether address is out of reach for other machines.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLoopback(host)
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
