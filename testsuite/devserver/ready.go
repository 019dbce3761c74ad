package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

const (
	readyLimit    = time.Minute
	readyInterval = 25 * time.Millisecond
)

// awaitReady returns once a client's first call of any kind works: "listening" is not enough, since the history shard,
// the namespace cache and the search attributes come later than the port.
func (s *server) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	conn, err := grpc.NewClient(s.opts.addr(s.opts.port), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("connect to the frontend: %w", err)
	}
	defer conn.Close()
	workflows, operator := workflowservice.NewWorkflowServiceClient(conn), operatorservice.NewOperatorServiceClient(conn)
	for _, namespace := range s.opts.namespaces {
		if err := poll(ctx, "namespace "+namespace, func() error { return answers(ctx, workflows, namespace) }); err != nil {
			return err
		}
		if err := s.completeSearchAttributes(ctx, operator, namespace); err != nil {
			return fmt.Errorf("search attributes of namespace %s: %w", namespace, err)
		}
	}
	if err := poll(ctx, "search attributes", func() error { return s.searchable(ctx, workflows) }); err != nil {
		return err
	}
	api := "http://" + s.opts.addr(s.opts.httpPort) + "/api/v1/namespaces/" + url.PathEscape(s.opts.namespaces[0])
	if err := poll(ctx, "HTTP API", func() error { return get(ctx, api) }); err != nil || s.ui == nil {
		return err
	}
	return poll(ctx, "Web UI", func() error { return get(ctx, "http://"+s.opts.addr(s.opts.uiPort)+"/") })
}

// answers asks each service that a workflow needs: the frontend for the namespace and the history shard for a workflow
// that cannot exist.
func answers(ctx context.Context, client workflowservice.WorkflowServiceClient, namespace string) error {
	if _, err := client.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace}); err != nil {
		return err
	}
	_, err := client.DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: "devserver-ready"},
	})
	if status.Code(err) == codes.NotFound {
		return nil
	}
	return err
}

// completeSearchAttributes registers what a database file from an earlier run lacks.
func (s *server) completeSearchAttributes(
	ctx context.Context, operator operatorservice.OperatorServiceClient, namespace string,
) error {
	have, err := operator.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return err
	}
	missing := map[string]enumspb.IndexedValueType{}
	for name, want := range s.opts.searchAttributes {
		got, ok := have.GetCustomAttributes()[name]
		if !ok {
			missing[name] = want
		} else if got != want {
			return fmt.Errorf("%s is registered as %s, want %s", name, got, want)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = operator.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	return err
}

// searchable runs a query with every search attribute: visibility knows them only then.
func (s *server) searchable(ctx context.Context, client workflowservice.WorkflowServiceClient) error {
	for _, namespace := range s.opts.namespaces {
		for name := range s.opts.searchAttributes {
			if _, err := client.CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{
				Namespace: namespace, Query: "`" + name + "` IS NOT NULL",
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

func get(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", address, resp.Status)
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
		case <-time.After(readyInterval):
		}
	}
}
