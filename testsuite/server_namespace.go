package testsuite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	sdkclient "go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/redrivehq/redrive/job"
)

const (
	prepareLimit    = time.Minute
	prepareInterval = 50 * time.Millisecond
)

// reuseServer makes a namespace of its own in the server at opts.Reuse: nothing that was there is read or changed, and
// two runs against one server do not meet.
func reuseServer(ctx context.Context, opts ServerOptions) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	name := "redrive-test-" + strings.ToLower(rand.Text()[:12])
	n, err := connect(ctx, opts.Reuse, name)
	if err != nil {
		return nil, err
	}
	source := fmt.Sprintf("Temporal at %s, namespace %s", opts.Reuse, name)
	if err := n.register(ctx, max(opts.Retention, 24*time.Hour)); err != nil {
		n.client.Close()
		return nil, fmt.Errorf("register namespace in %s: %w", source, err)
	}
	done := make(chan struct{})
	s := &Server{
		Address: opts.Reuse, Namespace: name, Version: n.version(ctx), Source: source,
		done: done, close: n.deleteOnce(done),
	}
	if err := n.complete(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare %s: %w", source, err), s.Close())
	}
	return s, nil
}

// namespace is one namespace, seen through a client.
type namespace struct {
	name   string
	client sdkclient.Client
}

// connect waits until a server answers at address.
func connect(ctx context.Context, address, name string) (*namespace, error) {
	n := &namespace{name: name}
	err := poll(ctx, "Temporal at "+address, func() (err error) {
		n.client, err = sdkclient.DialContext(ctx, sdkclient.Options{
			HostPort: address, Namespace: name,
			Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
		})
		return err
	})
	return n, err
}

func (n *namespace) register(ctx context.Context, retention time.Duration) error {
	_, err := n.client.WorkflowService().RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: n.name, Description: "made by a redrive test", WorkflowExecutionRetentionPeriod: durationpb.New(retention),
	})
	return err
}

// complete registers the missing search attributes, refuses those of another type, and returns when each is searchable.
func (n *namespace) complete(ctx context.Context) error {
	if err := poll(ctx, "namespace "+n.name, func() error {
		_, err := n.client.WorkflowService().DescribeNamespace(ctx,
			&workflowservice.DescribeNamespaceRequest{Namespace: n.name})
		return err
	}); err != nil {
		return err
	}
	missing, err := n.missing(ctx)
	if err != nil {
		return err
	}
	if err := n.add(ctx, missing); err != nil {
		return fmt.Errorf("register search attributes: %w", err)
	}
	return poll(ctx, "search attributes", func() error { return n.searchable(ctx) })
}

// missing polls only for the list itself: a wrong type does not heal.
func (n *namespace) missing(ctx context.Context) (map[string]enumspb.IndexedValueType, error) {
	var have *operatorservice.ListSearchAttributesResponse
	if err := poll(ctx, "search attributes", func() (err error) {
		have, err = n.client.OperatorService().ListSearchAttributes(ctx,
			&operatorservice.ListSearchAttributesRequest{Namespace: n.name})
		return err
	}); err != nil {
		return nil, err
	}
	missing := map[string]enumspb.IndexedValueType{}
	for _, a := range job.SearchAttributes() {
		want, err := enumspb.IndexedValueTypeFromString(a.Type)
		if err != nil {
			return nil, err
		}
		got, ok := have.GetCustomAttributes()[a.Name]
		if !ok {
			missing[a.Name] = want
		} else if got != want {
			return nil, fmt.Errorf("search attribute %s is registered as %s, want %s", a.Name, got, want)
		}
	}
	return missing, nil
}

// add is idempotent: another process may add the same ones where they belong to the whole cluster.
func (n *namespace) add(ctx context.Context, missing map[string]enumspb.IndexedValueType) error {
	if len(missing) == 0 {
		return nil
	}
	_, err := n.client.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: n.name, SearchAttributes: missing,
	})
	if exists := (*serviceerror.AlreadyExists)(nil); errors.As(err, &exists) {
		return nil
	}
	return err
}

func (n *namespace) searchable(ctx context.Context) error {
	for _, a := range job.SearchAttributes() {
		if _, err := n.client.WorkflowService().CountWorkflowExecutions(ctx,
			&workflowservice.CountWorkflowExecutionsRequest{Namespace: n.name, Query: a.Name + " IS NOT NULL"}); err != nil {
			return err
		}
	}
	return nil
}

func (n *namespace) version(ctx context.Context) string {
	info, err := n.client.WorkflowService().GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
	if err != nil {
		return ""
	}
	return info.GetServerVersion()
}

// deleteOnce returns the Close of a reused server. Deleting is asynchronous there; the name is never used again.
func (n *namespace) deleteOnce(done chan<- struct{}) func() error {
	return sync.OnceValue(func() error {
		defer close(done)
		defer n.client.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_, err := n.client.OperatorService().DeleteNamespace(ctx, &operatorservice.DeleteNamespaceRequest{Namespace: n.name})
		return err
	})
}

// answersHTTP waits until each URL answers at all; empty ones are left out.
func answersHTTP(ctx context.Context, urls ...string) error {
	for _, address := range urls {
		if address == "" {
			continue
		}
		if err := poll(ctx, address, func() error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
			if err != nil {
				return err
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, resp.Body)
			return errors.Join(err, resp.Body.Close())
		}); err != nil {
			return err
		}
	}
	return nil
}

// poll repeats ask until it succeeds; its last error says why it never did.
func poll(ctx context.Context, what string, ask func() error) error {
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, errors.Join(ctx.Err(), err))
		case <-time.After(prepareInterval):
		}
	}
}
