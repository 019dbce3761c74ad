package worker

import (
	"context"
	"sort"

	"go.temporal.io/api/workflowservice/v1"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/job"
)

// warnRetention says which policies rely on keys being known for longer than the namespace keeps closed runs: after
// that, the same key starts a second job. It is a warning, since only an administrator can change the namespace.
func (w *Worker) warnRetention(ctx context.Context) {
	response, err := w.client.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: w.client.namespace})
	if err != nil {
		w.options.Logger.Warn("namespace retention unknown", zap.String("namespace", w.client.namespace), zap.Error(err))
		return
	}
	retention := response.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration()
	types := make([]job.Type, 0, len(w.policies.ByType))
	for t := range w.policies.ByType {
		types = append(types, t)
	}
	warn := func(policy string, p job.Policy) {
		if p.KeyTTL > retention {
			w.options.Logger.Warn("namespace forgets keys before key_ttl: a key started again after the retention runs again",
				zap.String("namespace", w.client.namespace), zap.String("policy", policy),
				zap.Duration("retention", retention), zap.Duration("key_ttl", p.KeyTTL))
		}
	}
	warn("default", w.policies.Default.WithDefaults())
	sort.Slice(types, func(i, j int) bool { return types[i] < types[j] })
	for _, t := range types {
		warn(string(t), w.policies.For(t))
	}
}
